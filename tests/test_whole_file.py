"""Files are replaced as a whole, also after a writer was killed and while another one writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eosctl.whole_file import whole_file

#: Writes half of a file, reports it, and waits.
WRITER = """
import sys, pathlib
from eosctl.whole_file import whole_file
with whole_file(pathlib.Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def start_writer(path: Path) -> subprocess.Popen[bytes]:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    return writer


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "state [1].json"
    path.write_text("old")
    with start_writer(path) as writer:
        writer.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    with whole_file(path) as file:
        file.write(b"new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(path.name, "new")]


def test_what_another_process_writes_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    with start_writer(path) as writer:
        with whole_file(path) as file:
            file.write(b"mine")
        assert path.read_text() == "mine"
        writer.communicate(b"")
    assert writer.returncode == 0
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("state.json", "half")]


@pytest.mark.parametrize("name", [".state.json.12345.tmp", ".state.json.tmp", "state.json.0a1b2c3d.tmp"])
def test_files_with_like_names_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("of the user")
    with whole_file(tmp_path / "state.json") as file:
        file.write(b"new")
    assert (tmp_path / name).read_text() == "of the user"


def test_links_and_pipes_with_such_names_stay(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("of the user")
    (tmp_path / ".state.json.0a1b2c3d.tmp").symlink_to("precious")
    os.mkfifo(tmp_path / ".state.json.0a1b2c3e.tmp")
    with whole_file(tmp_path / "state.json") as file:
        file.write(b"new")
    assert (tmp_path / "precious").read_text() == "of the user"
    assert len(list(tmp_path.iterdir())) == 4
