"""Blur digits, and adapt expressions so that lines that differ in digits only give the same result.

Logs repeat lines with other numbers. So it is faster to blur the digits, match each distinct line once, and match the
original lines only if a digit decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLUR: Final = bytes.maketrans(b"123456789", b"000000000")
"""Replaces every digit with a zero."""
TEXT_BLUR: Final = str.maketrans("123456789", "000000000")
_BLOCK_BYTES: Final = 128 * 1024
"""Block size that keeps the result of a step in the processor's cache for the next step."""
_TOP: Final = 255
_SHIFT: Final = _TOP - ord("9")
_UNSHIFTED: Final = bytes((shifted - _SHIFT) % (_TOP + 1) for shifted in range(_TOP + 1))

_TOKEN: Final = re.compile(
    r"\\x[0-9A-Fa-f]{2}|\\.|\{\d+(?:,\d*)?\}|(?P<set>\[\^?\]?(?:\\x[0-9A-Fa-f]{2}|\\.|[^\]\\])*\])|(?P<digit>\d)"
)
_IN_SET: Final = re.compile(r"\\x[0-9A-Fa-f]{2}|\\.|(?P<digit>\d)")


class BlockBlur:
    """Blurs digits like ``BLUR``, block by block in a quarter of the time; ``unshifted`` completes the result.

    Attributes:
        size: Maximum number of bytes in a block.
    """

    size: Final = _BLOCK_BYTES

    def __init__(self) -> None:
        import numpy as np

        # numpy compares with an array eight times as fast as with one number.
        self._least_digits = np.full(_BLOCK_BYTES, _TOP - 9, dtype=np.uint8)

    def blur(self, block: NDArray[np.uint8], blurred: NDArray[np.uint8]) -> None:
        """Write the blurred form of a block, all its bytes shifted alike, into an array of the same length."""
        import numpy as np

        # Digits become the ten highest values, which are then capped at the lowest of them.
        np.add(block, np.uint8(_SHIFT), out=blurred)
        np.minimum(blurred, self._least_digits[: len(block)], out=blurred)


def unshifted(blurred: bytes) -> bytes:
    """Return the blurred text of bytes that ``BlockBlur`` wrote."""
    return blurred.translate(_UNSHIFTED)


def any_digit(expression: str) -> str:
    """Return an expression that accepts any digit where the given one accepts some.

    Returns:
        An expression that matches the blurred form of every line that the given one matches. If both are equal, the
        given one treats all digits alike: it matches a line if and only if it matches its blurred form.
    """
    return _TOKEN.sub(_loosened, expression)


def is_blind(expression: str) -> bool:
    """Return whether an expression treats all digits alike."""
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
