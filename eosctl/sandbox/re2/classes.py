"""Characters and character classes of RE2: escapes, Perl's classes, POSIX classes, and sets in brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.sandbox.re2.nodes import Characters, InvalidPattern, Ranges

INVALID_ESCAPE: Final = "invalid escape sequence"
INVALID_RANGE: Final = "invalid character class range"
MISSING_BRACKET: Final = "missing closing ]"
TRAILING_BACKSLASH: Final = "trailing backslash at end of expression"
LAST: Final = "\U0010ffff"

_DIGITS: Final = (("0", "9"),)
_WORD: Final = (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))
_PERL: Final[Mapping[str, Ranges]] = {
    "d": _DIGITS, "w": _WORD, "s": (("\t", "\n"), ("\f", "\r"), (" ", " ")),
}  # fmt: skip
_POSIX: Final[Mapping[str, Ranges]] = {
    "alnum": (("0", "9"), ("A", "Z"), ("a", "z")),
    "alpha": (("A", "Z"), ("a", "z")),
    "ascii": (("\0", "\x7f"),),
    "blank": (("\t", "\t"), (" ", " ")),
    "cntrl": (("\0", "\x1f"), ("\x7f", "\x7f")),
    "digit": _DIGITS,
    "graph": (("!", "~"),),
    "lower": (("a", "z"),),
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": (("\t", "\r"), (" ", " ")),
    "upper": (("A", "Z"),),
    "word": _WORD,
    "xdigit": (("0", "9"), ("A", "F"), ("a", "f")),
}
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OCTAL: Final = re.compile(r"\\(?:[1-7][0-7]{1,2}|0[0-7]{0,2})")
_HEX: Final = re.compile(r"\\x(?:(?P<two>[0-9A-Fa-f]{2})|\{(?P<any>[0-9A-Fa-f]{1,8})\})")


class Read(NamedTuple):
    """What was read, and the position behind it."""

    characters: Characters
    end: int


def is_word(character: str) -> bool:
    """Return whether a character belongs to words; only those of ASCII do."""
    return any(first <= character <= last for first, last in _WORD)


def perl_class(pattern: str, at: int) -> Read | None:
    """Read a class such as `\\d`; None if another escape is there."""
    kind = pattern[at + 1 : at + 2]
    ranges = _PERL.get(kind.lower())
    return None if ranges is None else Read(Characters(ranges, is_negated=kind.isupper()), at + 2)


def escaped_character(pattern: str, at: int) -> tuple[str, int]:
    """Read the escape of a single character; return it and the position behind it.

    Raises:
        InvalidPattern: RE2 has no such escape.
    """
    kind = pattern[at + 1 : at + 2]
    if not kind:
        raise InvalidPattern(TRAILING_BACKSLASH)
    if kind in _CONTROLS:
        return _CONTROLS[kind], at + 2
    if octal := _OCTAL.match(pattern, at):
        return chr(int(octal.group()[1:], 8)), octal.end()
    if (code := _HEX.match(pattern, at)) and (point := int(code["two"] or code["any"], 16)) <= ord(LAST):
        return chr(point), code.end()
    if not (kind.isascii() and kind.isalnum()):
        return kind, at + 2
    raise InvalidPattern(INVALID_ESCAPE)


def bracket_class(pattern: str, at: int, *, ignores_case: bool) -> Read:
    """Read a set in brackets; a leading `]` is a member.

    Raises:
        InvalidPattern: It is not a set.
    """
    ranges: list[tuple[str, str]] = []
    begin = at + 1
    is_negated = pattern.startswith("^", begin)
    position = begin = begin + is_negated
    while position == begin or not pattern.startswith("]", position):
        if position >= len(pattern):
            raise InvalidPattern(MISSING_BRACKET)
        found = _named_class(pattern, position)
        if found is None:
            first, position = _class_character(pattern, position)
            last = first
            if pattern.startswith("-", position) and pattern[position + 1 : position + 2] not in ("", "]"):
                last, position = _class_character(pattern, position + 1)
            if last < first:
                raise InvalidPattern(INVALID_RANGE)
            ranges.append((first, last))
        else:
            ranges += _others(found.characters.ranges) if found.characters.is_negated else found.characters.ranges
            position = found.end
    return Read(Characters(tuple(ranges), is_negated, ignores_case), position + 1)


def _named_class(pattern: str, at: int) -> Read | None:
    """Read a class within brackets: Perl's or a POSIX one."""
    if pattern[at] == "\\":
        return perl_class(pattern, at)
    end = pattern.find(":]", at + 2) if pattern.startswith("[:", at) else -1
    if end < 0:
        return None
    name = pattern[at + 2 : end]
    ranges = _POSIX.get(name.removeprefix("^"))
    if ranges is None:
        raise InvalidPattern(INVALID_RANGE)
    return Read(Characters(ranges, is_negated=name.startswith("^")), end + 2)


def _class_character(pattern: str, at: int) -> tuple[str, int]:
    return escaped_character(pattern, at) if pattern[at] == "\\" else (pattern[at], at + 1)


def _others(ranges: Ranges) -> Ranges:
    """Return the ranges between sorted ranges."""
    found, first = [], "\0"
    for low, high in ranges:
        if first < low:
            found.append((first, chr(ord(low) - 1)))
        first = chr(ord(high) + 1)
    return (*found, (first, LAST))
