"""Parse a pattern in RE2's syntax, with RE2's errors.

RE2 does not have look-around, backreferences, or other constructs with super-linear matching time. Unicode classes
(`\\pL`) are not supported and are rejected.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from eosctl.sandbox.re2.classes import LAST, bracket_class, escaped_character, perl_class
from eosctl.sandbox.re2.nodes import EMPTY, Characters, Choice, Edge, InvalidPattern, Node, Repeat, Sequence

MAX_REPEAT: Final = 1000
MAX_DEPTH: Final = 200
PERL_SYNTAX: Final = "invalid or unsupported Perl syntax"
NESTED_REPETITION: Final = "invalid nested repetition operator"
INVALID_REPEAT: Final = "invalid repeat count"
MISSING_ARGUMENT: Final = "missing argument to repetition operator"
MISSING_PAREN: Final = "missing closing )"
UNEXPECTED_PAREN: Final = "regexp/syntax: internal error"  # As RE2/J puts it.
DUPLICATE_NAME: Final = "duplicate capture group name"
TOO_DEEP: Final = "expression nests too deeply"

_COUNT: Final = re.compile(r"\{(?P<least>0|[1-9]\d*)(?P<open>,(?P<most>0|[1-9]\d*)?)?\}", re.ASCII)
_NAME: Final = re.compile(r"\(\?P?<(?P<name>\w+)>", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)])")
_EDGES: Final = {"A": Edge.TEXT_BEGIN, "z": Edge.TEXT_END, "b": Edge.WORD, "B": Edge.NOT_WORD}
_SHORT: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_DIGITS: Final = 8


class _Group:
    """A group that is open: its alternatives so far, the parts of the last one, and the flags around it."""

    def __init__(self, flags: frozenset[str]) -> None:
        self.flags_outside = flags
        self.choices: list[Node] = []
        self.parts: list[Node] = []

    def end_choice(self) -> None:
        self.choices.append(_joined(self.parts))
        self.parts = []

    def closed(self) -> Node:
        self.end_choice()
        return self.choices[0] if len(self.choices) == 1 else Choice(tuple(self.choices))


class _Count(NamedTuple):
    least: int
    most: int | None
    end: int


def parse(pattern: str) -> Node:
    """Return the syntax tree of a pattern.

    Raises:
        InvalidPattern: RE2 rejects it, or it contains Unicode classes.
    """
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags: frozenset[str] = frozenset()
        self._groups = [_Group(self._flags)]
        self._names: set[str] = set()
        self._repeated_until = -1

    def parse(self) -> Node:
        while self._at < len(self._pattern):
            self._read()
        if len(self._groups) > 1:
            raise InvalidPattern(MISSING_PAREN)
        return self._groups[0].closed()

    def _read(self) -> None:
        pattern, at = self._pattern, self._at
        match pattern[at]:
            case "\\":
                self._read_escape()
            case "[":
                self._take(*bracket_class(pattern, at, ignores_case="i" in self._flags))
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._groups[-1].end_choice()
                self._at += 1
            case "." if "s" in self._flags:
                self._take(Characters((("\0", LAST),)), at + 1)
            case ".":
                self._take(Characters((("\n", "\n"),), is_negated=True), at + 1)
            case "^":
                self._take(Edge.LINE_BEGIN if "m" in self._flags else Edge.TEXT_BEGIN, at + 1)
            case "$":
                self._take(Edge.LINE_END if "m" in self._flags else Edge.TEXT_END, at + 1)
            case character:
                count = self._count()
                if count is None:
                    self._take(self._literal(character), at + 1)
                    if character == "{":
                        self._repeated_until = at + 1  # RE2/J refuses to repeat a literal brace.
                else:
                    self._repeat(count)

    def _take(self, node: Node, end: int) -> None:
        self._groups[-1].parts.append(node)
        self._at = end

    def _literal(self, character: str) -> Characters:
        return Characters(((character, character),), ignores_case="i" in self._flags)

    def _read_escape(self) -> None:
        pattern, at = self._pattern, self._at
        kind = pattern[at + 1 : at + 2]
        if kind in _EDGES:
            self._take(_EDGES[kind], at + 2)
        elif kind == "Q":
            quoted = pattern[at + 2 :].partition("\\E")[0]
            self._groups[-1].parts += map(self._literal, quoted)
            self._at = min(at + 4 + len(quoted), len(pattern))
        elif (found := perl_class(pattern, at)) is not None:
            self._take(*found)
        else:
            character, end = escaped_character(pattern, at)
            self._take(self._literal(character), end)

    # --- repetitions ----------------------------------------------------------------------------------------------

    def _count(self) -> _Count | None:
        """Return the repetition that is here; None if the character is a literal."""
        pattern, at = self._pattern, self._at
        if pattern[at] in _SHORT:
            return _Count(*_SHORT[pattern[at]], at + 1)
        found = _COUNT.match(pattern, at)
        if found is None:
            return None
        if any(len(digits or "") > _MOST_DIGITS for digits in found.group("least", "most")):
            raise InvalidPattern(INVALID_REPEAT)
        least = int(found["least"])
        most = least if not found["open"] else int(found["most"]) if found["most"] else None
        if least > MAX_REPEAT or (most is not None and not least <= most <= MAX_REPEAT):
            raise InvalidPattern(INVALID_REPEAT)
        return _Count(least, most, found.end())

    def _repeat(self, count: _Count) -> None:
        parts = self._groups[-1].parts
        if not parts:
            raise InvalidPattern(MISSING_ARGUMENT)
        if self._at == self._repeated_until:
            raise InvalidPattern(NESTED_REPETITION)
        parts[-1] = Repeat(parts[-1], count.least, count.most)
        # A lazy repetition matches the same texts.
        self._at = self._repeated_until = count.end + self._pattern.startswith("?", count.end)

    # --- groups ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        pattern, at = self._pattern, self._at
        flags, end = self._flags, at + 1
        if pattern.startswith("(?", at):
            if named := _NAME.match(pattern, at):
                if named["name"] in self._names:
                    raise InvalidPattern(DUPLICATE_NAME)
                self._names.add(named["name"])
                end = named.end()
            elif given := _FLAGS.match(pattern, at):
                flags = (flags | set(given["on"])) - set(given["off"] or "")
                end = given.end()
                if given["end"] == ")":
                    self._flags, self._at = flags, end
                    return
            else:
                raise InvalidPattern(PERL_SYNTAX)
        if len(self._groups) > MAX_DEPTH:
            raise InvalidPattern(TOO_DEEP)
        self._groups.append(_Group(self._flags))
        self._flags, self._at = flags, end

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise InvalidPattern(UNEXPECTED_PAREN)
        group = self._groups.pop()
        self._flags = group.flags_outside
        self._take(group.closed(), self._at + 1)


def _joined(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts)) if parts else EMPTY
