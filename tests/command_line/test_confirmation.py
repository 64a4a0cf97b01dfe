"""A question at a terminal."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: As the commands ask: while an event loop runs, which notes an interrupt and continues.
ASK = r"""
import asyncio
from eosctl.command_line.confirmation import read_line

async def ask():
    print("answer:", read_line("Type \x1b[2J\u202eorders-2: "))

try:
    asyncio.run(ask())
except KeyboardInterrupt:
    raise SystemExit(130)
"""


def ask_and_type(typed: bytes) -> tuple[int, str]:
    """Return the exit status and the output of a program that asks at a terminal, where this is typed once."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", ASK])
    shown = b""
    while b"orders-2: " not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, typed)
    try:
        while more := os.read(terminal, 1024):
            shown += more
    except OSError:  # Linux reports the end of a terminal as an error.
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_the_first_interrupt_ends_the_question() -> None:
    code, shown = ask_and_type(b"\x03")
    assert code == 130
    assert "answer:" not in shown


def test_the_typed_line_is_the_answer() -> None:
    code, shown = ask_and_type(b"orders-2\n")
    assert code == 0
    assert "answer: orders-2" in shown
    assert r"Type \x1b[2J\u202eorders-2: " in shown
