"""The directory of a local Spark is removed with its process, or by the next process after a kill."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spark_log_analytics.scratch import fits_sockets, scratch_directory

KILLED = """
import os, signal, sys, tempfile
tempfile.tempdir = sys.argv[1]
from spark_log_analytics.scratch import scratch_directory
with scratch_directory() as made:
    (made / ".a.sock").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_is_removed_with_all_that_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_directory() as made:
        assert made.parent == tmp_path
        (made / "blockmgr").mkdir()
        (made / "blockmgr" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_only_unused_files_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "eosctl-spark-file").touch()  # of another user
    (tmp_path / "eosctl-spark-link").symlink_to(tmp_path.parent)
    with scratch_directory() as first:
        assert subprocess.run([sys.executable, "-c", KILLED, tmp_path], check=False).returncode == -9
        assert len(list(tmp_path.iterdir())) == 4
        with scratch_directory() as second:
            assert {first.name, second.name, "eosctl-spark-file", "eosctl-spark-link"} == {
                path.name for path in tmp_path.iterdir()
            }
    assert tmp_path.parent.is_dir()


def test_sockets_are_used_where_their_paths_are_short_enough() -> None:
    assert fits_sockets(Path("/" + "d" * 63))
    assert not fits_sockets(Path("/" + "d" * 64))
