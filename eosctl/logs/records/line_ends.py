"""Where the lines of a window of bytes end, found by words of 64 bytes: a bit for each byte, then the bits of a word.

numpy's own search for what is not zero takes longer for each line than all of this.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD: Final = 64
_SEQUENCE: Final = 0x03F7_9D71_B4CB_0A89
"""A de Bruijn sequence: moved by any number of bits, it has other ones at its top."""
_TOP: Final = 58
"""Where the top six of 64 bits start."""


class NewlineBits:
    """A bit for each byte of a window, set where a line ends.

    Args:
        size: How many bytes the window has.
        block: How many bytes are given at a time; a multiple of 64.
    """

    def __init__(self, size: int, block: int) -> None:
        import numpy as np

        self._bits = np.zeros((size + _WORD - 1) // _WORD * 8, dtype=np.uint8)
        # numpy compares with an array faster than with one number.
        self._newlines = np.full(block, ord("\n"), dtype=np.uint8)
        self._is_newline = np.empty(block, dtype=np.bool_)

    def take(self, start: int, part: NDArray[np.uint8]) -> None:
        """Look at the part of the window from ``start`` on, a multiple of the block."""
        import numpy as np

        is_newline = self._is_newline[: len(part)]
        np.equal(part, self._newlines[: len(part)], out=is_newline)
        packed = np.packbits(is_newline, bitorder="little")
        self._bits[start // 8 : start // 8 + len(packed)] = packed

    def positions(self) -> NDArray[np.int64]:
        """Return where the line ends are, in their order."""
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
            # Runs that are in order are merged.
            positions.sort(kind="stable")
        return positions


@cache
def _bit_numbers() -> NDArray[np.int64]:
    """Return, by the top of the sequence times a power of two, which power that is."""
    import numpy as np

    tops = (np.uint64(_SEQUENCE) << np.arange(_WORD, dtype=np.uint64)) >> np.uint64(_TOP)
    numbers = np.empty(_WORD, dtype=np.int64)
    numbers[tops.view(np.int64)] = np.arange(_WORD)
    return numbers
