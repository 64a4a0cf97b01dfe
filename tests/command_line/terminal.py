"""Run Python in a terminal of its own, and type at its questions."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def ask_and_type(arguments: Sequence[str], question: bytes, typed: bytes) -> tuple[int, str]:
    """Return the exit status and what a terminal received, where this is typed once after the question.

    Args:
        arguments: Of Python.
        question: The end of what is shown before the program waits.
        typed: Bytes of the keyboard.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.pop("CI", None)
        os.execv(sys.executable, [sys.executable, *arguments])
    shown = b""
    try:
        while question not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, typed)
        while more := os.read(terminal, 1024):
            shown += more
    except OSError:  # Linux reports the end of a terminal as an error.
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode()
