"""A partition that cannot be read is named, and does not hide what the others hold."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.services import decode_input
from eosctl.storage import inputs
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.commands.conftest import eosctl

TOPICS = ("orders-0", "orders-1", "orders-2")


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    for name in TOPICS:
        (tmp_path / name).mkdir()
        batch = encode_batch([Record(0, 1_795_168_800_000, name.encode(), name.encode())])
        (tmp_path / name / f"{0:020d}.log").write_bytes(batch)
    return tmp_path


def refuse_file(folder: Path, patch: pytest.MonkeyPatch) -> None:
    real = decode_input.open_input

    def opened(path: Path) -> object:
        if path.parent == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path)

    patch.setattr(decode_input, "open_input", opened)


def refuse_folder(folder: Path, patch: pytest.MonkeyPatch) -> None:
    real = os.walk

    def walked(top: Path, onerror: Callable[[OSError], None]) -> object:
        for parent, folders, names in real(top):
            if Path(parent) == folder:
                onerror(PermissionError(errno.EACCES, os.strerror(errno.EACCES), parent))
            else:
                yield parent, folders, names

    patch.setattr(inputs.os, "walk", walked)


FORMS = (("-r",), ("--summary",), ("-o", "kafka", "-r"), ("-o", "json"), ("--outcomes",))


@pytest.mark.parametrize("refuse", [refuse_file, refuse_folder])
@pytest.mark.parametrize("form", FORMS)
def test_the_other_partitions_are_decoded(
    refuse: Callable[[Path, pytest.MonkeyPatch], None],
    form: tuple[str, ...],
    data_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuse(data_directory / "orders-1", monkeypatch)
    done = eosctl("decode", "segment", data_directory, *form)
    assert done.code == 1
    assert f"{data_directory / 'orders-1'}" in done.err
    assert "cannot be read: Permission denied" in done.err
    if "--summary" not in form:
        assert all(name in done.out for name in ("orders-0", "orders-2"))
        assert f"{data_directory / 'orders-1'}" not in done.out


@pytest.mark.parametrize("refuse", [refuse_file, refuse_folder])
def test_strict_stops_at_it(
    refuse: Callable[[Path, pytest.MonkeyPatch], None], data_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(data_directory / "orders-1", monkeypatch)
    done = eosctl("decode", "segment", data_directory, "--strict", "-o", "json")
    assert done.code == 1
    assert "Permission denied" in done.err


def test_a_directory_of_nothing_else_is_an_error(data_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_folder(data_directory / "orders-1", monkeypatch)
    done = eosctl("decode", "segment", data_directory / "orders-1")
    assert done.code == 2
    assert "Permission denied" in done.err


@pytest.mark.parametrize("kind", ["segment", "index", "time-index", "txn-index", "checkpoint", "txn-log", "offsets"])
def test_an_empty_file_is_named(kind: str, tmp_path: Path) -> None:
    """Kafka makes such files, so they are whole; what is decoded from them is nothing."""
    (tmp_path / "some.file").touch()
    done = eosctl("decode", kind, tmp_path / "some.file", "-o", "json")
    assert (done.code, done.out) == (0, "")
    assert f"{tmp_path / 'some.file'}: empty, nothing to decode" in done.err
