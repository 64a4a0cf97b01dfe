"""Expressions that treat all digits alike: what they say of a line, they say of every line that differs in digits only.

Logs repeat themselves but for their numbers, so it pays to blur the digits, to look at each distinct line once, and to
look again at the lines themselves only where a digit decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLUR: Final = bytes.maketrans(b"123456789", b"000000000")
"""Makes every digit a zero."""
_BLOCK_BYTES: Final = 128 * 1024
"""What a step of the work leaves in the processor's cache for the next one."""

_TOKEN: Final = re.compile(
    r"\\x[0-9A-Fa-f]{2}|\\.|\{\d+(?:,\d*)?\}|(?P<set>\[\^?\]?(?:\\x[0-9A-Fa-f]{2}|\\.|[^\]\\])*\])|(?P<digit>\d)"
)
_IN_SET: Final = re.compile(r"\\x[0-9A-Fa-f]{2}|\\.|(?P<digit>\d)")


def blur(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return bytes with every digit a zero: what ``BLUR`` makes of them, in half the time."""
    import numpy as np

    blurred = np.empty_like(text)
    above, is_digit = np.empty(_BLOCK_BYTES, dtype=np.uint8), np.empty(_BLOCK_BYTES, dtype=np.bool_)
    for start in range(0, len(text), _BLOCK_BYTES):
        part = text[start : start + _BLOCK_BYTES]
        above, is_digit = above[: len(part)], is_digit[: len(part)]
        np.subtract(part, np.uint8(ord("0")), out=above)  # what is below a zero comes out above a nine
        np.less(above, np.uint8(10), out=is_digit)
        np.multiply(above, is_digit.view(np.uint8), out=above)
        np.subtract(part, above, out=blurred[start : start + len(part)])
    return blurred


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
