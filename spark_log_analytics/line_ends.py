"""Where the lines of a window of bytes end, found by words of 64 bytes: a bit for each byte, then the bits of a word.

numpy's own search for what is not zero takes longer for each line than all of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD: Final = 64
_EXPONENT_BITS: Final = 52
_EXPONENT_BIAS: Final = 1023


class NewlineBits:
    """A bit for each byte of a window, set where a line ends.

    Args:
        size: How many bytes the window has.
        block: How many bytes are given at a time; a multiple of 64.
    """

    def __init__(self, size: int, block: int) -> None:
        import numpy as np

        self._bits = np.zeros((size + _WORD - 1) // _WORD * 8, dtype=np.uint8)
        self._is_newline = np.empty(block, dtype=np.bool_)

    def take(self, start: int, part: NDArray[np.uint8]) -> None:
        """Look at the part of the window from ``start`` on, a multiple of the block."""
        import numpy as np

        is_newline = self._is_newline[: len(part)]
        np.equal(part, np.uint8(ord("\n")), out=is_newline)
        packed = np.packbits(is_newline, bitorder="little")
        self._bits[start // 8 : start // 8 + len(packed)] = packed

    def positions(self) -> NDArray[np.int64]:
        """Return where the line ends are, in their order."""
        import numpy as np

        words = self._bits.view("<u8")
        places = np.flatnonzero(words != 0)
        left = words[places]
        found: list[NDArray[np.int64]] = []
        while len(places):
            lowest = left & (~left + np.uint64(1))
            # A power of two as a float tells its exponent, which is the number of the bit.
            numbers = (lowest.astype(np.float64).view(np.int64) >> _EXPONENT_BITS) - _EXPONENT_BIAS
            found.append(places * _WORD + numbers)
            left ^= lowest
            more = np.flatnonzero(left)
            places, left = places[more], left[more]
        if not found:
            return np.zeros(0, dtype=np.int64)
        positions = np.concatenate(found)
        if len(found) > 1:
            # Runs that are in order are merged.
            positions.sort(kind="stable")
        return positions
