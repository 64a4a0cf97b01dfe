"""Expressions that treat all digits alike: what they say of a line, they say of every line that differs in digits only.

Logs repeat themselves but for their numbers, so it pays to blur the digits, to look at each distinct line once, and to
look again at the lines themselves only where a digit decides.
"""

from __future__ import annotations

import re
from typing import Final

BLUR: Final = bytes.maketrans(b"123456789", b"000000000")
"""Makes every digit a zero."""

_TOKEN: Final = re.compile(
    r"\\x[0-9A-Fa-f]{2}|\\.|\{\d+(?:,\d*)?\}|(?P<set>\[\^?\]?(?:\\x[0-9A-Fa-f]{2}|\\.|[^\]\\])*\])|(?P<digit>\d)"
)
_IN_SET: Final = re.compile(r"\\x[0-9A-Fa-f]{2}|\\.|(?P<digit>\d)")


def any_digit(expression: str) -> str:
    """Let an expression take any digit where it takes some.

    Returns:
        An expression that matches the blurred form of every line that the given one matches. If it is the given one,
        that treats all digits alike: it matches a line if, and only if, it matches its blurred form.
    """
    return _TOKEN.sub(_loosened, expression)


def is_blind(expression: str) -> bool:
    """Whether an expression treats all digits alike."""
    return any_digit(expression) == expression


def _loosened(token: re.Match[str]) -> str:
    if token["digit"]:
        return r"\d"
    inner = token["set"]
    if not inner or not any(found["digit"] for found in _IN_SET.finditer(inner)):
        return token[0]
    if r"\d" in inner or "0-9" in inner:
        return token[0]
    return r"[^\n]" if inner.startswith("[^") else rf"[\d{inner[1:]}"
