"""The syntax tree of a pattern."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

Ranges: TypeAlias = tuple[tuple[str, str], ...]
"""First and last characters."""


class InvalidPattern(ValueError):  # noqa: N818 - it names what is wrong with the pattern
    """RE2 rejects the pattern; the message is RE2's."""


class Characters(NamedTuple):
    """One character of some ranges, or of all others."""

    ranges: Ranges
    is_negated: bool = False
    ignores_case: bool = False

    def has(self, character: str) -> bool:
        """Return whether it matches a character."""
        forms = {character, character.lower(), character.upper()} if self.ignores_case else (character,)
        found = any(first <= form <= last for form in forms for first, last in self.ranges)
        return found is not self.is_negated


class Edge(Enum):
    """A place between two characters."""

    TEXT_BEGIN = "\\A"
    TEXT_END = "\\z"
    LINE_BEGIN = "^"
    LINE_END = "$"
    WORD = "\\b"
    NOT_WORD = "\\B"


class Sequence(NamedTuple):
    """Parts that follow each other."""

    parts: tuple[Node, ...]


class Choice(NamedTuple):
    """Alternatives; one of them matches."""

    parts: tuple[Node, ...]


class Repeat(NamedTuple):
    """A part that matches several times; without `most`, any number of times from `least`."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Characters | Edge | Sequence | Choice | Repeat
EMPTY = Sequence(())
