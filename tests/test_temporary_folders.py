"""Temporary folders are removed when a signal ends the process, which still ends by that signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.temporary_folders import remove_abandoned, temporary_folder

PATIENCE_S = 60
MORE_THAN_A_PIPE_HOLDS = b"[2026-11-21 09:00:00,123] INFO x (y.Z)\n" * 30_000


def reading(folder: Path, before: Callable[[], object] | None = None) -> subprocess.Popen[bytes]:
    """Start a reading of an archive, which waits in a folder of temporary files for the rest of its standard input."""
    with zipfile.ZipFile(folder / "logs.zip", "w") as archive:
        archive.writestr("server.log", "[2026-11-21 09:00:00,123] INFO x (y.Z)\n")
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "eosctl", "logs", "report", str(folder / "logs.zip"), "-"],
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=before,
    )
    assert process.stdin is not None
    # Written only once the process reads, which is after the archive was unpacked.
    process.stdin.write(MORE_THAN_A_PIPE_HOLDS)
    process.stdin.flush()
    return process


def test_a_folder_exists_while_its_block_runs() -> None:
    with temporary_folder("eosctl-test-") as folder:
        (folder / "a.log").write_text("x")
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_ending_signal_removes_unpacked_logs(number: signal.Signals, tmp_path: Path) -> None:
    with reading(tmp_path) as process:
        try:
            assert list((tmp_path / "tmp").rglob("server.log"))
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == -number
    assert b"Traceback" not in err
    assert not list((tmp_path / "tmp").iterdir())


def test_a_hangup_that_is_ignored_does_not_end_it(tmp_path: Path) -> None:
    with reading(tmp_path, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        try:
            process.send_signal(signal.SIGHUP)
            process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode >= 0
    assert not list((tmp_path / "tmp").iterdir())


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    with reading(tmp_path) as process:
        (held,) = (tmp_path / "tmp").iterdir()
        remove_abandoned(tmp_path / "tmp", "eosctl-logs-")
        assert list(held.rglob("server.log")), "its process still runs"
        process.kill()
        process.communicate(timeout=PATIENCE_S)
    assert held.exists()
    remove_abandoned(tmp_path / "tmp", "eosctl-logs-")
    assert not held.exists()


@pytest.mark.parametrize("lock", ["", "a file of the user's", "a link", "a pipe"])
def test_only_folders_of_its_own_are_removed(tmp_path: Path, lock: str) -> None:
    folder = tmp_path / "eosctl-logs-mine"
    folder.mkdir()
    (folder / "precious").write_text("x")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("x")
    if lock == "a link":
        (folder / "lock").symlink_to(elsewhere)
    elif lock == "a pipe":
        os.mkfifo(folder / "lock")
    elif lock:
        (folder / "lock").write_text("x")
    remove_abandoned(tmp_path, "eosctl-logs-")
    assert (folder / "precious").exists()
    assert elsewhere.exists()
