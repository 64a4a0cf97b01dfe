"""A question at a terminal."""

from __future__ import annotations

from tests.command_line.terminal import ask_and_type

QUESTION = b"orders-2: "
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


def test_the_first_interrupt_ends_the_question() -> None:
    code, shown = ask_and_type(("-c", ASK), QUESTION, b"\x03")
    assert code == 130
    assert "answer:" not in shown


def test_the_typed_line_is_the_answer() -> None:
    code, shown = ask_and_type(("-c", ASK), QUESTION, b"orders-2\n")
    assert code == 0
    assert "answer: orders-2" in shown
    assert r"Type \x1b[2J\u202eorders-2: " in shown
