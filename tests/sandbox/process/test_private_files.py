"""Files of a sandbox are its owner's alone, wherever its directories are, also where the umask lets others read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.whole_file import open_private


@pytest.fixture
def open_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_mask")
def test_only_the_owner_can_read_what_a_sandbox_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, data = tmp_path / "state", tmp_path / "data"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    sandbox = manage.start(SandboxSpec(name="private", data_dir=str(data), brokers=1))
    try:
        log = paths.log_file("private")
        access = {path: path.lstat().st_mode & 0o077 for path in (*data.rglob("*"), *log.parent.rglob("*"))}
    finally:
        manage.stop(sandbox)
    assert log in access
    assert [path for path, others in access.items() if others] == []


@pytest.mark.usefixtures("open_mask")
def test_a_log_of_an_earlier_release_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.log"
    path.write_text("kept\n")
    with open_private(path) as file:
        file.write(b"new\n")
    assert path.read_text() == "kept\nnew\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_private_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / "sandbox.log").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "sandbox.log")
    assert other.read_text() == "kept"
