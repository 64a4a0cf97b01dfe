"""Find the line breaks in a window of bytes with one bit per byte, in words of 64 bits.

numpy's own search for nonzero bytes takes longer per line.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD: Final = 64
_SEQUENCE: Final = 0x03F7_9D71_B4CB_0A89
"""A de Bruijn sequence: each shift of it has different top bits."""
_TOP: Final = 58
"""The position of the top six of 64 bits."""


class NewlineBits:
    """One bit for each byte of a window, set at line breaks.

    Args:
        size: The number of bytes in the window.
        block: The number of bytes in each call of ``take``; a multiple of 64.
    """

    def __init__(self, size: int, block: int) -> None:
        import numpy as np

        self._bits = np.zeros((size + _WORD - 1) // _WORD * 8, dtype=np.uint8)
        # numpy compares with an array faster than with one number.
        self._newlines = np.full(block, ord("\n"), dtype=np.uint8)
        self._is_newline = np.empty(block, dtype=np.bool_)

    def take(self, start: int, part: NDArray[np.uint8]) -> None:
        """Set the bits of a part of the window from ``start``, a multiple of the block size."""
        import numpy as np

        is_newline = self._is_newline[: len(part)]
        np.equal(part, self._newlines[: len(part)], out=is_newline)
        packed = np.packbits(is_newline, bitorder="little")
        self._bits[start // 8 : start // 8 + len(packed)] = packed

    def positions(self) -> NDArray[np.int64]:
        """Return the positions of the line breaks in ascending order."""
        import numpy as np

        words = self._bits.view("<u8")
        places = np.flatnonzero(words != 0)
        left, firsts = words[places], places * _WORD
        found: list[NDArray[np.int64]] = []
        while len(firsts):
            rest = left & (left - np.uint64(1))
            tops = ((left ^ rest) * np.uint64(_SEQUENCE)) >> np.uint64(_TOP)
            found.append(firsts + _bit_numbers().take(tops.view(np.int64)))
            more = np.flatnonzero(rest != 0)
            firsts, left = firsts[more], rest[more]
        if not found:
            return np.zeros(0, dtype=np.int64)
        positions = np.concatenate(found)
        if len(found) > 1:
            # Merges sorted runs.
            positions.sort(kind="stable")
        return positions


@cache
def _bit_numbers() -> NDArray[np.int64]:
    """Return the table from the top bits of the sequence, times a power of two, to the exponent."""
    import numpy as np

    tops = (np.uint64(_SEQUENCE) << np.arange(_WORD, dtype=np.uint64)) >> np.uint64(_TOP)
    numbers = np.empty(_WORD, dtype=np.int64)
    numbers[tops.view(np.int64)] = np.arange(_WORD)
    return numbers
