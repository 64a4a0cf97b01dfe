"""Write a short text that a regular expression matches."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_OF_CLASS = {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "w", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "x"}
_PRINTABLE = [chr(code) for code in range(ord("a"), 127)] + [chr(code) for code in range(32, ord("a"))]


def samples(pattern: str) -> Iterator[str]:
    """Yield texts that may match a pattern, one for each number of repetitions of its optional parts.

    Look-around is left out, so the caller has to check each text.
    """
    parsed = parser.parse(pattern)
    for more in (0, 1, 2):
        yield _text(list(parsed), more).strip()


def _text(items: list[Any], more: int) -> str:
    return "".join(_piece(str(code), value, more) for code, value in items)


def _piece(code: str, value: Any, more: int) -> str:
    match code:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return next(sign for sign in _PRINTABLE if ord(sign) != value)
        case "ANY":
            return "x"
        case "IN":
            return _of_set(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, part = value
            return _text(list(part), more) * min(least + more, most)
        case "SUBPATTERN":
            return _text(list(value[-1]), more)
        case "ATOMIC_GROUP":
            return _text(list(value), more)
        case "BRANCH":
            return _text(list(value[1][0]), more)
        case _:
            return ""


def _of_set(members: list[Any]) -> str:
    if members and members[0][0] is codes.NEGATE:
        text = "".join(_range(str(code), value) for code, value in members[1:])
        return next(sign for sign in _PRINTABLE if sign not in text)
    return _range(str(members[0][0]), members[0][1])[0]


def _range(code: str, value: Any) -> str:
    if code == "RANGE":
        return "".join(map(chr, range(value[0], min(value[1], sys.maxunicode) + 1)))
    if code == "CATEGORY":
        return _OF_CLASS.get(str(value), "x") if re.match("CATEGORY_NOT", str(value)) else _OF_CLASS[str(value)]
    return chr(value)
