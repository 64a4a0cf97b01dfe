"""Where a sandbox's files are: apart from those of every other one, however long the path."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.process.paths import control_socket


@pytest.mark.parametrize("folder", ["short", "long-" * 40])
def test_equal_names_in_two_state_folders_have_two_sockets(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sockets = set()
    for user in ("one", "two"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / folder / user))
        sockets.add(control_socket("default"))
        assert control_socket("default") in sockets, "the same each time"
    assert len(sockets) == 2
    assert all(len(str(path)) <= 103 for path in sockets)


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files of a user whose state folder is too deep for sockets."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ("long-" * 40)))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path / f"eosctl-{os.getuid()}"


def test_a_socket_folder_is_private(far: Path) -> None:
    assert control_socket("default").parent == far
    assert far.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", ["link", "open", "file"])
def test_a_socket_folder_that_others_control_is_refused(far: Path, kind: str) -> None:
    if kind == "link":
        elsewhere = far.with_name("elsewhere")
        elsewhere.mkdir(mode=0o700)
        far.symlink_to(elsewhere)
    elif kind == "open":
        far.mkdir()
        far.chmod(0o777)
    else:
        far.touch()
    with pytest.raises(UsageError, match="not a folder that only you can use"):
        control_socket("default")


def test_the_folder_of_the_session_is_taken_first(far: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as session:
        monkeypatch.setenv("XDG_RUNTIME_DIR", session)
        assert control_socket("default").parent == Path(session) / "eosctl"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(far.with_name("too-long-" * 10)))
    assert control_socket("default").parent == far
