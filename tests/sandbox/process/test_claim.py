"""One process serves a sandbox of a name, and only its end removes its state file and sockets."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.claim import claimed_name
from eosctl.sandbox.process.foreground import serve_in_foreground
from eosctl.sandbox.process.spec import SandboxSpec

pytestmark = pytest.mark.usefixtures("own_sandboxes")


def spec(tmp_path: Path) -> SandboxSpec:
    return SandboxSpec(name="test", data_dir=str(tmp_path / "data"), fast=True)


def test_stopping_an_earlier_one_leaves_the_new_one(tmp_path: Path) -> None:
    new = manage.start(spec(tmp_path))
    earlier = replace(new, pid=2**22 - 1, process_start_ticks=1)
    assert manage.stop(earlier) == "gone"
    assert manage.require("test") == new
    assert manage.send_command(new, "status")["brokers"]


def test_a_sandbox_without_a_readable_state_is_not_lost(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path))
    state = paths.state_file("test")
    kept = state.read_bytes()
    state.write_text('{"from": "another release"}')
    with pytest.raises(UsageError, match="state of the running sandbox"):
        manage.find("test")
    assert serve_in_foreground(replace(spec(tmp_path), name="other", data_dir=sandbox.data_dir), print) == 1
    state.unlink()
    assert serve_in_foreground(spec(tmp_path), print) == 1  # The process that serves has the name.
    state.write_bytes(kept)
    assert manage.send_command(sandbox, "status")["brokers"]


def test_a_damaged_state_of_an_ended_one_is_removed() -> None:
    state = paths.state_file("test")
    state.parent.mkdir(parents=True)
    state.write_text("[]")
    assert manage.find("test") is None
    assert not state.exists()


def test_a_name_is_claimed_once() -> None:
    with claimed_name("test"), pytest.raises(UsageError, match="is running"), claimed_name("test"):
        pass
    with claimed_name("test"), claimed_name("other"):
        pass


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_write_to_is_refused(mode: int, tmp_path: Path) -> None:
    folder = paths.sandbox_dir("test")
    folder.mkdir(parents=True)
    folder.chmod(mode)
    with pytest.raises(UsageError, match="not a folder that only you can use"):
        manage.start(spec(tmp_path))
    assert not (tmp_path / "data").exists()


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = paths.sandbox_dir("test")
    folder.mkdir(parents=True)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(UsageError, match="not a folder that only you can use"):
        manage.start(spec(tmp_path))
