"""Commands of a story: shown as a user would type them, run in one folder, held to the exit code they should have."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from eosctl.errors import EosctlError

PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.05


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


class Background:
    """A command that runs beside the story: its standard output is kept, its standard error is in a file."""

    def __init__(self, line: str, process: subprocess.Popen[str], errors: Path) -> None:
        """Take over a process; what reads standard input waits until :meth:`finish`."""
        self.line = line
        self._process = process
        self._errors = errors

    def wait_for(self, words: str) -> None:
        """Wait until the command has written these words to its log.

        Raises:
            EosctlError: It ended without, or took too long.
        """
        deadline = time.monotonic() + PATIENCE_S
        while words not in self._errors.read_text(encoding="utf-8"):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise EosctlError(
                    f"The demo stopped: {self.line!r} does not say {words!r}.",
                    "It ended, or waits for something itself.",
                    f"See {self._errors}.",
                )
            time.sleep(_POLL_S)

    def finish(self, *, expect: int = 0) -> str:
        """Let it read on, wait for its end, return its standard output.

        Raises:
            EosctlError: It ended with another exit code, or took too long.
        """
        try:
            output, _ = self._process.communicate("\n", timeout=PATIENCE_S)
        except subprocess.TimeoutExpired as late:
            raise EosctlError(
                f"The demo stopped: {self.line!r} has not ended after {PATIENCE_S:.0f} s.",
                "It waits for something, or this machine is very busy.",
                f"See {self._errors}.",
            ) from late
        if self._process.returncode != expect:
            raise unexpected_end(self.line, self._process.returncode, expect, f"See {self._errors}.")
        return output


class Steps:
    """The commands of one telling.

    Attributes:
        folder: Where they run and leave their files.
        tell: Takes text as it comes; the caller decides where it is read.
    """

    def __init__(
        self,
        folder: Path,
        tell: Callable[[str], None],
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Begin with nothing started.

        Args:
            folder: Where the commands run.
            tell: Takes text as it comes.
            held: Holds interrupts back while a process starts: one that nobody knows yet, nobody would stop.
        """
        self.folder = folder
        self.tell = tell
        self._held = held
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
        output, _ = process.communicate()
        if expect is not None and process.returncode != expect:
            self.tell(output)
            raise unexpected_end(line, process.returncode, expect, "What it said is printed above; then try again.")
        return output

    def items(self, line: str, *, expect: int = 0) -> list[Any]:
        """Run a command quietly and return the items of its JSON."""
        found = json.loads(self.ask(line, expect=expect))["items"]
        assert isinstance(found, list)
        return found

    def begin(self, line: str, errors: str) -> Background:
        """Show a command as typed and start it beside the story; ``errors`` names the file of its standard error."""
        self.tell(f"$ {line} 2> {errors} &\n")
        path = self.folder / errors
        with path.open("w", encoding="utf-8") as log:
            process = self._start(line, stdin=subprocess.PIPE, stderr=log)
        return Background(line, process, path)

    def _start(self, line: str, stdin: int | None = None, stderr: TextIO | None = None) -> subprocess.Popen[str]:
        words = argument_vector(line)
        with self._held():
            process = subprocess.Popen(
                words, cwd=self.folder, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8"
            )
            self._started.append(process)
        return process

    def stop_all(self) -> None:
        """End every process of the story that has not ended yet."""
        while self._started:
            process = self._started.pop()
            if process.returncode is None:
                process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()
