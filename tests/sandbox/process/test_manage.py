"""The detached process from the caller's side: start, find, stop exactly this one, and every way to fail."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eosctl.errors import UsageError
from eosctl.sandbox.clock import LONGEST_ADVANCE_MS
from eosctl.sandbox.process import manage, paths
from eosctl.sandbox.process.control import ControlError
from eosctl.sandbox.process.identity import wait_for_exit
from eosctl.sandbox.process.serving import Served, serve
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec

pytestmark = pytest.mark.usefixtures("own_sandboxes")


def spec(tmp_path: Path, **changes: object) -> SandboxSpec:
    defaults = {"name": "test", "data_dir": str(tmp_path / "data"), "fast": True}
    return SandboxSpec(**{**defaults, **changes})  # type: ignore[arg-type]


def is_listening(sandbox: RunningSandbox) -> bool:
    host, _, port = sandbox.bootstrap.split(",")[0].rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def test_a_sandbox_starts_answers_and_stops(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path, brokers=3))
    assert is_listening(sandbox)
    status = manage.send_command(sandbox, "status")
    assert [broker["ready"] for broker in status["brokers"]] == [True] * 3
    assert manage.require("test") == sandbox
    assert Path(sandbox.control_socket).stat().st_mode & 0o777 == 0o600
    assert manage.stop(sandbox) == "stopped"
    assert not is_listening(sandbox)
    assert manage.find("test") is None
    assert (tmp_path / "data" / "broker-1").is_dir()


def test_two_sandboxes_live_side_by_side_but_not_under_one_name(tmp_path: Path) -> None:
    first = manage.start(spec(tmp_path))
    second = manage.start(spec(tmp_path, name="other", data_dir=str(tmp_path / "other")))
    assert {found.sandbox.name for found in manage.find_all()} == {"test", "other"}
    with pytest.raises(UsageError, match="is running"):
        manage.start(spec(tmp_path))
    assert manage.stop(second) == "stopped"
    assert is_listening(first)


def test_of_two_starts_of_one_name_one_wins(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as both:
        starts = [both.submit(manage.start, spec(tmp_path, data_dir=str(tmp_path / data))) for data in ("one", "two")]
    refused = [start.exception() for start in starts if start.exception() is not None]
    (started,) = [start.result() for start in starts if start.exception() is None]
    assert [error.what for error in refused if isinstance(error, UsageError)] == [
        f"A sandbox named 'test' is running (process {started.pid})."
    ]
    assert is_listening(manage.require("test"))


def test_an_ephemeral_sandbox_takes_its_data_along(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path, ephemeral=True))
    assert manage.stop(sandbox) == "stopped"
    assert not (tmp_path / "data").exists()


def test_a_sandbox_ends_by_itself_when_its_time_is_over(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path, ttl_ms=200))
    assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, 10)
    assert manage.find("test") is None


def test_a_killed_sandbox_is_detected_and_its_data_reused(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path))
    os.kill(sandbox.pid, signal.SIGKILL)
    assert wait_for_exit(sandbox.pid, sandbox.process_start_ticks, 10)
    found = manage.find("test")
    assert found is not None
    assert not found.running
    with pytest.raises(UsageError, match="is not running any more"):
        manage.require("test")
    again = manage.start(spec(tmp_path))
    assert again.pid != sandbox.pid
    assert manage.send_command(again, "status")["cluster_id"]


def test_a_port_in_use_is_the_callers_to_solve(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(manage.SandboxFailed) as failed:
            manage.start(spec(tmp_path, port_base=port))
    assert f"Port {port}" in failed.value.what
    assert manage.find("test") is None


def test_a_data_directory_in_use_is_not_shared(tmp_path: Path) -> None:
    manage.start(spec(tmp_path))
    with pytest.raises(manage.SandboxFailed, match="in use by another sandbox"):
        manage.start(spec(tmp_path, name="other"))


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(manage.SandboxFailed, match="Cannot write to the data directory"):
        manage.start(spec(tmp_path, data_dir=str(tmp_path / "file" / "data")))


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's log, which lies on the same disk, cannot be written either."""

    def make(_: SandboxSpec, __: int) -> Served:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "data" / "broker-1"))

    monkeypatch.setattr(sys, "stderr", FullDisk())
    read, write = os.pipe()
    before = os.umask(0o022)
    assert serve(spec(tmp_path), write, make) == 1
    os.umask(before)
    with os.fdopen(read) as report:
        answer = json.loads(report.read())
    assert answer["error"]["what"] == f"Cannot write {tmp_path / 'data' / 'broker-1'}."
    assert answer["error"]["why"] == "No space left on device"


def test_commands_reach_the_running_sandbox(tmp_path: Path) -> None:
    sandbox = manage.start(spec(tmp_path, brokers=2))
    assert manage.send_command(sandbox, "kill-broker", broker=2) == "killed"
    assert [broker["running"] for broker in manage.send_command(sandbox, "status")["brokers"]] == [True, False]
    assert manage.send_command(sandbox, "start-broker", broker=2) == "started"
    with pytest.raises(ControlError):
        manage.send_command(sandbox, "kill-broker", broker=7)
    with pytest.raises(ControlError):
        manage.send_command(sandbox, "no-such-command")
    for duration_ms in (-1, LONGEST_ADVANCE_MS + 1, float("inf"), float("nan")):
        with pytest.raises(ControlError, match="cannot be read"):
            manage.send_command(sandbox, "advance", ms=duration_ms)


def test_names_cannot_leave_the_state_folder() -> None:
    with pytest.raises(UsageError):
        paths.state_file("../elsewhere")
