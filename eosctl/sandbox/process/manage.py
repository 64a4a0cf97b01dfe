"""The client of a detached sandbox: start, find, query, and stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from eosctl.errors import EosctlError, ExitCode, UsageError
from eosctl.sandbox.clock import LONGEST_ADVANCE_MS
from eosctl.sandbox.process import paths
from eosctl.sandbox.process.claim import claimed_name
from eosctl.sandbox.process.control import ANSWER_TIMEOUT_S, ControlError, call_control
from eosctl.sandbox.process.data_directory import check_data_directory, remove_data
from eosctl.sandbox.process.identity import is_readable_within, is_same_process, send_signal, wait_for_exit
from eosctl.sandbox.process.leftovers import end_workers
from eosctl.sandbox.process.own_files import planned
from eosctl.sandbox.process.spec import RunningSandbox, SandboxSpec
from eosctl.whole_file import only_writer, open_private

#: Sandboxes started by this process, which must collect their exit status.
_children: Final[dict[int, subprocess.Popen[bytes]]] = {}

# Longer than the cluster's own limit, so that its message is reported.
START_TIMEOUT_S: Final = 330.0
OWN_PROGRAM: Final = "eosctl.sandbox.process.main"
STOP_TIMEOUT_S: Final = 10.0
TERM_TIMEOUT_S: Final = 5.0
KILL_TIMEOUT_S: Final = 60.0


class SandboxFailed(EosctlError):  # noqa: N818
    """The sandbox process could not start, or ended during its start."""


@dataclass(frozen=True, slots=True)
class Found:
    """A sandbox of the state folder; `running` is False if its process has ended."""

    sandbox: RunningSandbox
    running: bool


def start(spec: SandboxSpec, *, program: str = OWN_PROGRAM, timeout_s: float = START_TIMEOUT_S) -> RunningSandbox:
    """Start a detached sandbox and return once it serves clients.

    Args:
        spec: The sandbox's specification.
        program: The module of its process.
        timeout_s: Maximum time to start, in seconds.

    Raises:
        UsageError: A sandbox of this name is running, or the data directory contains files of other programs.
        SandboxFailed: It could not start; the reason comes from the process.
    """
    folder = paths.sandbox_dir(spec.name)
    with ExitStack() as held:
        try:
            # Of two starts of one name, the second waits, and finds the sandbox of the first.
            held.enter_context(only_writer(folder))
            make_way(spec)
            log = held.enter_context(open_private(paths.log_file(spec.name)))
        except OSError as error:
            why, next_step = error.strerror or str(error), "Set XDG_STATE_HOME to a folder you may write."
            raise SandboxFailed(f"Cannot write to {folder}.", why, next_step) from error
        return _start(spec, log, program, timeout_s)


def make_way(spec: SandboxSpec) -> None:
    """Make the folder of a sandbox, without what an ended one left; refuse to start next to a running one.

    Raises:
        UsageError: A sandbox of this name is running, or the data directory contains files of other programs.
        OSError: The folder cannot be used.
    """
    found = find(spec.name)
    if found is not None and found.running:
        raise UsageError(
            f"A sandbox named {spec.name!r} is running (process {found.sandbox.pid}).",
            f"It listens on {found.sandbox.bootstrap}.",
            f"Use it, stop it (eosctl sandbox down --name {spec.name}), or choose another --name.",
        )
    if found is not None:
        with claimed_name(spec.name):
            forget(found.sandbox)
    check_data_directory(Path(spec.data_dir), ephemeral=spec.ephemeral, planned=planned(spec))
    folder = paths.sandbox_dir(spec.name)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    paths.refuse_shared_folder(folder)


def _start(spec: SandboxSpec, log: BinaryIO, program: str, timeout_s: float) -> RunningSandbox:
    ready_read, ready_write = os.pipe()
    try:
        # Not an argument: settings may be secrets, and arguments are there for all users to see.
        with TemporaryFile() as given:
            given.write(spec.to_json().encode())
            given.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", program, str(ready_write), spec.data_dir],
                stdin=given,
                stdout=log,
                stderr=log,
                pass_fds=(ready_write,),
                start_new_session=True,
                cwd="/",
            )
        os.close(ready_write)
        ready_write = -1
        answer = _wait_until_ready(ready_read, process, spec, timeout_s)
    finally:
        os.close(ready_read)
        if ready_write >= 0:
            os.close(ready_write)
    _children[process.pid] = process
    return RunningSandbox.from_json(json.dumps(answer))


def _wait_until_ready(
    ready_read: int, process: subprocess.Popen[bytes], spec: SandboxSpec, timeout_s: float
) -> dict[str, Any]:
    received = b""
    deadline = time.monotonic() + timeout_s
    while not received.endswith(b"\n"):
        if not is_readable_within(ready_read, max(0.0, deadline - time.monotonic())):
            process.kill()
            process.wait()
            raise SandboxFailed(
                f"The sandbox was not ready within {timeout_s:.0f} s and was stopped.",
                "The machine may be overloaded.",
                f"See its log: {paths.log_file(spec.name)}",
            )
        chunk = os.read(ready_read, 65_536)
        if not chunk:
            process.wait()
            raise SandboxFailed(
                f"The sandbox process ended while it started (exit code {process.returncode}).",
                _last_line(paths.log_file(spec.name)),
                f"See its log: {paths.log_file(spec.name)}",
            )
        received += chunk
    answer: dict[str, Any] = json.loads(received)
    if "error" in answer:
        process.wait()
        failure = UsageError if answer.get("exit_code") == ExitCode.BAD_INPUT else SandboxFailed
        raise failure(answer["error"]["what"], answer["error"]["why"], answer["error"]["next_step"])
    return answer


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def find(name: str) -> Found | None:
    """Return the sandbox of this name, or None; a damaged state file that no process serves with is deleted.

    Raises:
        UsageError: The name is not a valid sandbox name, or the state file of a running sandbox cannot be read.
        OSError: The state file cannot be opened.
    """
    path = paths.state_file(name)
    try:
        sandbox = RunningSandbox.from_json(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        _remove_damaged(name, path, error)
        return None
    child = _children.get(sandbox.pid)
    if child is not None and child.poll() is not None:
        del _children[sandbox.pid]
    return Found(sandbox, is_same_process(sandbox.pid, sandbox.process_start_ticks))


def _remove_damaged(name: str, path: Path, error: ValueError) -> None:
    with ExitStack() as held:
        try:
            held.enter_context(claimed_name(name))
        except UsageError as running:
            raise UsageError(
                f"The state of the running sandbox {name!r} cannot be read.",
                f"{path}: {error}.",
                "Use the release of eosctl that started it.",
            ) from running
        path.unlink(missing_ok=True)


def find_all() -> list[Found]:
    """Return all sandboxes of this user by name."""
    return [found for name in paths.known_names() if (found := find(name)) is not None]


def require(name: str) -> RunningSandbox:
    """Return the running sandbox of this name.

    Raises:
        UsageError: No such sandbox is running.
    """
    found = find(name)
    if found is None:
        others = [other.sandbox.name for other in find_all() if other.running]
        why = f"Running: {', '.join(others)}." if others else "No sandbox is running."
        raise UsageError(f"Unknown sandbox {name!r}.", why, "Start one with: eosctl sandbox up")
    if not found.running:
        raise UsageError(
            f"The sandbox {name!r} is not running any more; its process {found.sandbox.pid} is gone.",
            "It was killed or the machine restarted; its data is " + _data_left(found.sandbox),
            f"Clear up with: eosctl sandbox down --name {name}",
        )
    return found.sandbox


def _data_left(sandbox: RunningSandbox) -> str:
    return f"in {sandbox.data_dir}." if Path(sandbox.data_dir).is_dir() else "gone too."


def send_command(sandbox: RunningSandbox, command: str, timeout_s: float = ANSWER_TIMEOUT_S, **arguments: Any) -> Any:
    """Send a command to a running sandbox and return its response.

    Raises:
        ControlError: As for `call_control`.
    """
    return call_control(Path(sandbox.control_socket), command, arguments, timeout_s)


def advance_clock(
    sandbox: RunningSandbox, duration_ms: float, passed: Callable[[float], None] = lambda passed_ms: None
) -> int:
    """Advance the clock of a running sandbox part by part, and return the number of steps that this took.

    A caller that stops, such as with Ctrl-C, leaves the sandbox at most `LONGEST_ADVANCE_MS` further than it knows of.

    Args:
        sandbox: The sandbox.
        duration_ms: Time to advance, in milliseconds.
        passed: Called with the time that has passed, in milliseconds, after each part.

    Raises:
        ControlError: As for `call_control`.
    """
    steps, done_ms = 0, 0.0
    while done_ms < duration_ms:
        part_ms = min(duration_ms - done_ms, LONGEST_ADVANCE_MS)
        steps += int(send_command(sandbox, "advance", ms=part_ms))
        done_ms += part_ms
        passed(done_ms)
    return steps


def stop(sandbox: RunningSandbox, *, timeout_s: float = STOP_TIMEOUT_S) -> str:
    """Stop exactly this process and clean up; return `stopped`, `terminated`, `killed`, or `gone`.

    The process has `timeout_s` seconds to stop by itself.
    """
    pid, ticks = sandbox.pid, sandbox.process_start_ticks
    how = _end(sandbox, timeout_s) if is_same_process(pid, ticks) else "gone"
    child = _children.pop(pid, None)
    if child is not None:
        child.wait()
    # A start of this name waits; one that was faster holds the name, and what lies there is that of its sandbox.
    with only_writer(paths.sandbox_dir(sandbox.name)), suppress(UsageError), claimed_name(sandbox.name):
        forget(sandbox)
    return how


def _end(sandbox: RunningSandbox, timeout_s: float) -> str:
    pid, ticks = sandbox.pid, sandbox.process_start_ticks
    try:
        send_command(sandbox, "stop", timeout_s=STOP_TIMEOUT_S)
    except ControlError:
        send_signal(pid, ticks, signal.SIGTERM)
    if wait_for_exit(pid, ticks, timeout_s):
        return "stopped"
    send_signal(pid, ticks, signal.SIGTERM)
    if wait_for_exit(pid, ticks, TERM_TIMEOUT_S):
        return "terminated"
    send_signal(pid, ticks, signal.SIGKILL)
    if wait_for_exit(pid, ticks, KILL_TIMEOUT_S):
        return "killed"
    raise EosctlError(
        f"The sandbox process {pid} cannot be stopped.", "It hangs in the kernel.", "Check its disk: dmesg."
    )


def forget(sandbox: RunningSandbox) -> None:
    """End leftover workers; delete the state file and sockets, and the data and log of an ephemeral sandbox.

    Data kept by an earlier sandbox of this name stays.
    """
    end_workers(sandbox.spec)
    Path(sandbox.control_socket).unlink(missing_ok=True)
    paths.state_file(sandbox.name).unlink(missing_ok=True)
    if sandbox.spec.ephemeral:
        remove_data(Path(sandbox.data_dir))
        paths.log_file(sandbox.name).unlink(missing_ok=True)
        with suppress(OSError):
            paths.sandbox_dir(sandbox.name).rmdir()
