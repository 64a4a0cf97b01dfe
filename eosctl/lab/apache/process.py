"""A JVM that outlives its caller. It is identified by pid and start time in a record file."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from eosctl.lab.engine import EngineError
from eosctl.sandbox.process.identity import is_same_process, send_signal, start_ticks, wait_for_exit

KILL_PATIENCE_S = 10.0


class ProcessIdentity(NamedTuple):
    """A process, distinguished from a later one with the same pid.

    Attributes:
        pid: The process id.
        start_ticks: The start time in clock ticks since boot (field 22 of `/proc/<pid>/stat`).
    """

    pid: int
    start_ticks: int


class RecordedProcess:
    """A child process with its identity in a file, so that a later process can find or stop it."""

    def __init__(self, command: Sequence[str], *, output: Path, record: Path) -> None:
        """Start the command with its output appended to a file.

        Raises:
            EngineError: The recorded process is still running, or the command cannot be started.
        """
        if running := read_record(record):
            raise EngineError(
                f"Process {running.pid} already runs on {record.parent}.",
                "Two brokers on the same files would destroy them.",
                f"Stop it (kill {running.pid}) or choose another directory.",
            )
        self._record = record
        try:
            with output.open("ab") as stream:
                # A session of its own is isolated from the terminal's Ctrl-C, since the engine decides how a node ends.
                self._child = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True
                )
        except OSError as error:
            raise EngineError(
                f"{command[0]} could not be started.",
                str(error),
                f"See that it can be executed and that {output.parent} can be written to.",
            ) from error
        self.identity = ProcessIdentity(self._child.pid, start_ticks(self._child.pid) or 0)
        record.write_text(f"{self.identity.pid} {self.identity.start_ticks}\n", "utf-8")

    @property
    def exit_code(self) -> int | None:
        """Return the exit status; None while the process runs."""
        return self._child.poll()

    def send(self, number: signal.Signals) -> None:
        """Send a signal; no effect after the process has ended."""
        self._child.send_signal(number)

    def end(self, first: signal.Signals, *, patience_ms: int) -> None:
        """Send a signal, wait, and after `patience_ms` end the process with SIGKILL."""
        self._child.send_signal(first)
        try:
            self._child.wait(patience_ms / 1000)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._record.unlink(missing_ok=True)


def read_record(record: Path) -> ProcessIdentity | None:
    """Return the recorded process if it is running; None without a record, or if the pid is free or reused."""
    try:
        pid, ticks = (int(word) for word in record.read_text("utf-8").split())
    except (OSError, ValueError):
        return None
    return ProcessIdentity(pid, ticks) if is_same_process(pid, ticks) else None


def end_recorded(record: Path, *, patience_ms: int) -> bool:
    """Stop the recorded process if it is running, e.g. after an interrupted run; return whether it was."""
    identity = read_record(record)
    ended = identity is not None and end_process(identity, patience_ms=patience_ms)
    record.unlink(missing_ok=True)
    return ended


def end_process(identity: ProcessIdentity, *, patience_ms: int) -> bool:
    """Stop exactly this process: SIGTERM first, SIGKILL after `patience_ms`; return whether it was running."""
    if not is_same_process(*identity):
        return False
    send_signal(*identity, signal.SIGCONT)  # A paused process does not handle SIGTERM.
    send_signal(*identity, signal.SIGTERM)
    if not wait_for_exit(*identity, patience_ms / 1000):
        send_signal(*identity, signal.SIGKILL)
        wait_for_exit(*identity, KILL_PATIENCE_S)
    return True
