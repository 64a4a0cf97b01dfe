"""Commands of a story: shown as a user would type them, run in one folder, held to the exit code they should have."""

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
# A busy machine answers late, not never: no wait of eosctl's client is to end before this.
_NO_HURRY_MS: Final = str(3_600_000)
_WAITS: Final = dict.fromkeys(
    ("EOSCTL_REQUEST_TIMEOUT_MS", "EOSCTL_DEFAULT_API_TIMEOUT_MS", "EOSCTL_SOCKET_CONNECTION_SETUP_TIMEOUT_MS"),
    _NO_HURRY_MS,
)


def argument_vector(line: str) -> list[str]:
    """Return the words of a command line; eosctl and python are those that run now, whatever the PATH says."""
    words = shlex.split(line)
    programs = {"eosctl": [sys.executable, "-m", "eosctl"], "python": [sys.executable]}
    return [*programs.get(words[0], words[:1]), *words[1:]]


def unexpected_end(line: str, status: int, expected: int, hint: str) -> EosctlError:
    """Return the error of a step that ended in another way than the story needs."""
    return EosctlError(
        f"The demo stopped: {line!r} ended with exit code {status}, expected {expected}.",
        "The story needs every step to end as it should.",
        hint,
    )


class Progress:
    """Lines that show that a command still runs: how long it takes depends on the machine, so no wait has a limit."""

    def __init__(self, line: str, tell: Callable[[str], None], every_s: float) -> None:
        """Begin now.

        Args:
            line: The command as typed.
            tell: Takes text as it comes.
            every_s: Interval between two lines, in seconds.
        """
        self.every_s = every_s
        self._what = line.split(" -")[0]
        self._tell = tell
        self._begun = time.monotonic()
        self._next = self._begun + every_s

    def show(self) -> None:
        """Print a line, unless the last one is too recent."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + self.every_s
            self._tell(f"  ... {self._what} has been running for {now - self._begun:.0f} s\n")


class Background:
    """A command that runs in parallel to the story: its standard output is kept, its standard error is in a file."""

    def __init__(self, line: str, process: subprocess.Popen[str], errors: Path, progress: Progress) -> None:
        """Take over a process; what reads standard input waits until `wait` or `finish`."""
        self.line = line
        self.errors = errors
        self._process = process
        self._progress = progress

    def wait_for(self, words: str) -> None:
        """Wait until the command has written these words to its log.

        Raises:
            EosctlError: It ended without.
        """
        while not self._has_written(words):
            # What it wrote just before its end counts, too.
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
        """Let it read on, wait for its end, return its standard output.

        Raises:
            EosctlError: It ended with another exit code.
        """
        status, output = self.wait()
        if status != expect:
            raise unexpected_end(self.line, status, expect, f"See {self.errors}.")
        return output

    def wait(self) -> tuple[int, str]:
        """Let it read on and wait for its end; return its exit code and its standard output."""
        output = wait_for_end(self._process, self._progress, "\n")
        return self._process.returncode, output


def wait_for_end(process: subprocess.Popen[str], progress: Progress, given: str | None = None) -> str:
    """Wait without a limit until a process has ended, and return its standard output.

    Args:
        process: The process.
        progress: Shows that the wait lasts.
        given: What it can read from its standard input; None if it has none.
    """
    while True:
        try:
            output, _ = process.communicate(given, timeout=progress.every_s)
        except subprocess.TimeoutExpired:
            given = None  # what was given is given
            progress.show()
        else:
            return output


class Steps:
    """The commands of one telling.

    Attributes:
        folder: Where they run and leave their files.
        tell: Takes text as it comes; the caller decides where it is read.
        shortfalls: What did not work, but did not keep the story from its end.
    """

    def __init__(
        self,
        folder: Path,
        tell: Callable[[str], None],
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
        progress_every_s: float = _PROGRESS_EVERY_S,
    ) -> None:
        """Begin with nothing started.

        Args:
            folder: Where the commands run.
            tell: Takes text as it comes.
            held: Holds interrupts back while a process starts: one that nobody knows yet, nobody would stop.
            progress_every_s: Interval between two lines of progress while the story waits, in seconds.
        """
        self.folder = folder
        self.tell = tell
        self.shortfalls: list[str] = []
        self._held = held
        self._progress_every_s = progress_every_s
        self._started: list[subprocess.Popen[str]] = []

    def run(self, line: str, *, expect: int = 0, show: bool = True) -> str:
        """Show a command as typed, run it, return its standard output.

        Raises:
            EosctlError: It ended with another exit code.
        """
        self.tell(f"$ {line}\n")
        output = self.ask(line, expect=expect)
        if show:
            self.tell(output)
        return output

    def ask(self, line: str, *, expect: int | None = 0) -> str:
        """Run a command quietly and return its standard output; any exit code will do where None is expected.

        Raises:
            EosctlError: It ended with another exit code.
        """
        process = self._start(line)
        output = wait_for_end(process, self._progress(line))
        if expect is not None and process.returncode != expect:
            self.tell(output)
            raise unexpected_end(line, process.returncode, expect, "What it said is printed above; then try again.")
        return output

    def items(self, line: str, *, expect: int = 0) -> list[Any]:
        """Run a command quietly and return the items of its JSON."""
        found = json.loads(self.ask(line, expect=expect))["items"]
        assert isinstance(found, list)
        return found

    def begin(self, line: str, errors: str, temporary: Path | None = None) -> Background:
        """Show a command as typed and start it in parallel to the story.

        Args:
            line: The command.
            errors: The name of the file for its standard error.
            temporary: A directory for its temporary files, if it is to have one of its own.
        """
        self.tell(f"$ {line} 2> {errors} &\n")
        path = self.folder / errors
        with path.open("w", encoding="utf-8") as log:
            process = self._start(line, stdin=subprocess.PIPE, stderr=log, temporary=temporary)
        return Background(line, process, path, self._progress(line))

    def _progress(self, line: str) -> Progress:
        return Progress(line, self.tell, self._progress_every_s)

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
                start_new_session=True,  # so that what it starts can be stopped with it
            )
            self._started.append(process)
        return process

    def stop_all(self) -> None:
        """End every process of the story that has not ended yet, with those that it started."""
        while self._started:
            process = self._started.pop()
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()
