"""Compile a pattern to a nondeterministic automaton (Thompson's construction)."""

from __future__ import annotations

from collections.abc import Sequence as Items
from typing import Final, NamedTuple

from eosctl.sandbox.re2.nodes import Characters, Choice, Edge, InvalidPattern, Node, Repeat, Sequence

MAX_SIZE: Final = 20_000
"""The most instructions; RE2/J has no limit, RE2 refuses patterns that need more than its memory."""
TOO_LARGE: Final = "expression too large"
ACCEPT: Final = 0


class Instruction(NamedTuple):
    """What must hold to continue (None: nothing), and the instructions after it."""

    needs: Characters | Edge | None
    follows: tuple[int, ...]


class Program(NamedTuple):
    """The instructions, and the one where a text begins; the first one accepts."""

    instructions: Items[Instruction]
    start: int


def compile_program(node: Node) -> Program:
    """Return the program of a pattern.

    Raises:
        InvalidPattern: It is too large.
    """
    builder = _Builder()
    start = builder.add(node, ACCEPT)
    return Program(tuple(builder.instructions), start)


class _Builder:
    def __init__(self) -> None:
        self.instructions = [Instruction(None, ())]
        self._steps = 0

    def add(self, node: Node, follow: int) -> int:
        """Add a part that continues with an instruction; return where it begins."""
        self._steps += 1  # Repeated empty parts take time, and add nothing.
        if self._steps > MAX_SIZE:
            raise InvalidPattern(TOO_LARGE)
        match node:
            case Sequence(parts):
                for part in reversed(parts):
                    follow = self.add(part, follow)
                return follow
            case Choice(parts):
                return self._new(None, *[self.add(part, follow) for part in parts])
            case Repeat(part, least, None):
                begin = loop = self._new(None)
                body = self.add(part, loop)
                self.instructions[loop] = Instruction(None, (body, follow))
                for _ in range(least):
                    begin = self.add(part, begin)
                return begin
            case Repeat(part, least, most):
                begin = follow
                for _ in range((most or 0) - least):
                    begin = self._new(None, self.add(part, begin), follow)
                for _ in range(least):
                    begin = self.add(part, begin)
                return begin
            case Characters() | Edge():
                return self._new(node, follow)

    def _new(self, needs: Characters | Edge | None, *follows: int) -> int:
        self.instructions.append(Instruction(needs, follows))
        return len(self.instructions) - 1
