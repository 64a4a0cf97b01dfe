"""Every program that appends lines to its own files writes each line as a whole, for the owner only."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from eosctl.actions.audit import write_audit
from eosctl.errors import EosctlError
from eosctl.runbooks.journal import Journal
from eosctl.state_lines import append_line

Write = Callable[[], None]


def audit(path: Path) -> Write:
    return lambda: write_audit(path, 0, "txn abort planned", "c", {})


def journal(path: Path) -> Write:
    kept = Journal(path, lambda: 0)
    return lambda: kept.write("started", runbook="min-isr-lost")


WRITERS = pytest.mark.parametrize("writer", [audit, journal])


@WRITERS
@pytest.mark.parametrize("error", [None, OSError(28, "No space left on device")])
def test_a_full_disk_takes_no_part_of_a_line(
    writer: Callable[[Path], Write], error: OSError | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.jsonl"
    write_line = writer(path)
    write_line()
    before, write = path.read_bytes(), os.write

    def write_some(descriptor: int, data: bytes) -> int:
        written = write(descriptor, data[:7])
        if error is not None:
            raise error
        return written

    with monkeypatch.context() as full:
        full.setattr(os, "write", write_some)
        with pytest.raises(EosctlError, match="No space left"):
            write_line()
    assert path.read_bytes() == before
    write_line()
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 2


@WRITERS
def test_the_file_is_for_its_owner(writer: Callable[[Path], Write], tmp_path: Path) -> None:
    write_line = writer(tmp_path / "state" / "lines.jsonl")
    write_line()
    (tmp_path / "state" / "lines.jsonl").chmod(0o664)
    write_line()
    assert stat.S_IMODE((tmp_path / "state" / "lines.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_a_cut_line_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_bytes(b'{"time_ms": 1}\n{"time')
    append_line(path, b'{"time_ms": 3}')
    assert path.read_bytes() == b'{"time_ms": 1}\n{"time\n{"time_ms": 3}\n'


def _append_many(path: Path) -> None:
    for _ in range(50):
        append_line(path, b"x" * 9_000)


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(_append_many, [path, path]))
    assert path.read_bytes() == (b"x" * 9_000 + b"\n") * 100


@pytest.mark.parametrize("target", [Path("/dev/null"), Path("/dev/full")])
def test_a_device_records_nothing(target: Path, tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").symlink_to(target)
    with pytest.raises(OSError, match="not a regular file"):
        append_line(tmp_path / "audit.jsonl", b"x")
