"""Where a sandbox's files are: apart from those of every other one, however long the path."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    assert all(len(str(path)) <= 107 for path in sockets)
