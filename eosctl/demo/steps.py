"""Commands of the demonstration: shown, run in a folder, and checked by exit code."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from eosctl.errors import EosctlError

_POLL_S: Final = 0.05
_PROGRESS_EVERY_S: Final = 10.0
# Longer than any delay of a busy machine.
_PATIENCE_MS: Final = str(3_600_000)
_WAITS: Final = dict.fromkeys(
    ("EOSCTL_REQUEST_TIMEOUT_MS", "EOSCTL_DEFAULT_API_TIMEOUT_MS", "EOSCTL_SOCKET_CONNECTION_SETUP_TIMEOUT_MS"),
    _PATIENCE_MS,
)


def argument_vector(line: str) -> list[str]:
    """Return the words of a command line; eosctl and python are the running ones, regardless of the PATH."""
    words = shlex.split(line)
    programs = {"eosctl": [sys.executable, "-P", "-m", "eosctl"], "python": [sys.executable]}
    return [*programs.get(words[0], words[:1]), *words[1:]]


def unexpected_end(line: str, status: int, expected: int, hint: str) -> EosctlError:
    """Return the error of a step with an unexpected result."""
    return EosctlError(
        f"The demo stopped: {line!r} ended with exit code {status}, expected {expected}.",
        "The demo needs every step to succeed.",
        hint,
    )


class Progress:
    """Prints lines while a command is running; its duration depends on the machine, so waits have no limit."""

    def __init__(self, line: str, show: Callable[[str], None], every_s: float) -> None:
        """Start the progress.

        Args:
            line: The command as typed.
            show: Receives text as it arrives.
            every_s: Interval between two lines, in seconds.
        """
        self.every_s = every_s
        self._what = line.split(" -")[0]
        self._show = show
        self._begun = time.monotonic()
        self._next = self._begun + every_s

    def show(self) -> None:
        """Print a line, unless the last one is too recent."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.every_s
            self._show(f"  ... {self._what} has been running for {now - self._begun:.0f} s\n")


class Background:
    """A command that runs in parallel; its standard output is kept, its standard error is in a file."""

    def __init__(self, line: str, process: subprocess.Popen[str], errors: Path, progress: Progress) -> None:
        """Create it for a process; reading standard input blocks it until `wait` or `finish`."""
        self.line = line
        self.errors = errors
        self._process = process
        self._progress = progress

    def wait_for(self, words: str) -> None:
        """Wait until the command has logged these words.

        Raises:
            EosctlError: It ended without them.
        """
        while not self._has_written(words):
            # Include output written just before its end.
            if self._process.poll() is not None and not self._has_written(words):
                raise EosctlError(
                    f"The demo stopped: {self.line!r} ended before it logged {words!r}.",
                    "The next step needs it to run.",
                    f"See {self.errors}.",
                )
            self._progress.show()
            time.sleep(_POLL_S)

    def _has_written(self, words: str) -> bool:
        return words in self.errors.read_text(encoding="utf-8")

    def finish(self, *, expect: int = 0) -> str:
        """Let it continue, wait for its end, and return its standard output.

        Raises:
            EosctlError: It ended with another exit code.
        """
        status, output = self.wait()
        if status != expect:
            raise unexpected_end(self.line, status, expect, f"See {self.errors}.")
        return output

    def wait(self) -> tuple[int, str]:
        """Let it continue, wait for its end, and return its exit code and standard output."""
        output = wait_for_end(self._process, self._progress, "\n")
        return self._process.returncode, output


def wait_for_end(process: subprocess.Popen[str], progress: Progress, given: str | None = None) -> str:
    """Wait without limit for the end of a process, and return its standard output.

    Args:
        process: The process.
        progress: Shows that the wait continues.
        given: Its standard input; None for none.
    """
    while True:
        try:
            output, _ = process.communicate(given, timeout=progress.every_s)
        except subprocess.TimeoutExpired:
            given = None  # The input is already written.
            progress.show()
        else:
            return output


class Steps:
    """The commands of a demonstration.

    Attributes:
        folder: The folder in which they run.
        show: Receives text as it arrives.
        shortfalls: Failures that did not stop the demonstration.
    """

    def __init__(
        self,
        folder: Path,
        show: Callable[[str], None],
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
        progress_every_s: float = _PROGRESS_EVERY_S,
    ) -> None:
        """Create it without any started command.

        Args:
            folder: The folder in which commands run.
            show: Receives text as it arrives.
            held: Delays interrupts while a process starts, so that it is always stopped.
            progress_every_s: Interval between two lines of progress, in seconds.
        """
        self.folder = folder
        self.show = show
        self.shortfalls: list[str] = []
        self._held = held
        self._progress_every_s = progress_every_s
        self._started: list[subprocess.Popen[str]] = []

    def run(self, line: str, *, expect: int = 0, show: bool = True) -> str:
        """Show a command as typed, run it, return its standard output.

        Raises:
            EosctlError: It ended with another exit code.
        """
        self.show(f"$ {line}\n")
        output = self.ask(line, expect=expect)
        if show:
            self.show(output)
        return output

    def ask(self, line: str, *, expect: int | None = 0) -> str:
        """Run a command silently and return its standard output; any exit code is accepted if `expect` is None.

        Raises:
            EosctlError: It ended with another exit code.
        """
        process = self._start(line)
        output = wait_for_end(process, self._progress(line))
        if expect is not None and process.returncode != expect:
            self.show(output)
            raise unexpected_end(line, process.returncode, expect, "What it said is printed above; then try again.")
        return output

    def items(self, line: str, *, expect: int = 0) -> list[Any]:
        """Run a command silently and return the items of its JSON."""
        found = json.loads(self.ask(line, expect=expect))["items"]
        assert isinstance(found, list)
        return found

    def begin(self, line: str, errors: str, temporary: Path | None = None) -> Background:
        """Show a command and start it in parallel.

        Args:
            line: The command.
            errors: The file name for its standard error.
            temporary: A separate directory for its temporary files, if any.
        """
        self.show(f"$ {line} 2> {errors} &\n")
        path = self.folder / errors
        with path.open("w", encoding="utf-8") as log:
            process = self._start(line, stdin=subprocess.PIPE, stderr=log, temporary=temporary)
        return Background(line, process, path, self._progress(line))

    def _progress(self, line: str) -> Progress:
        return Progress(line, self.show, self._progress_every_s)

    def _start(
        self,
        line: str,
        stdin: int | None = None,
        stderr: TextIO | None = None,
        temporary: Path | None = None,
    ) -> subprocess.Popen[str]:
        words = argument_vector(line)
        environment = {**_WAITS, **os.environ}
        if temporary is not None:
            environment["TMPDIR"] = str(temporary)
        with self._held():
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
                start_new_session=True,  # So that its child processes can be stopped with it.
            )
            self._started.append(process)
        return process

    def stop_all(self) -> None:
        """Stop every running process of the demonstration with its child processes."""
        while self._started:
            process = self._started.pop()
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()
