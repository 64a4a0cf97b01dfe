"""Recognize lines of a log that are headers, and lines that make a record relevant.

Logs repeat lines with other numbers. Lines that differ in digits only are of one kind. RE2 matches each kind once, and
the result is cached across the parts of a log. If a digit may decide, or if most kinds have one line, RE2 matches the
lines themselves. Each call of RE2 takes as long as reading a MB, so it waits for enough lines of unknown kinds; until
then, such lines count as relevant.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import array_of, indices_of, is_true, numbers_of
from eosctl.logs.records.anchors import meaning_anchors, work_anchors
from eosctl.logs.records.digits import BlockBlur, any_digit, is_blind, unshifted
from eosctl.logs.records.line_ends import NewlineBits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER: Final = 1
"""The line starts a record."""
MEANING: Final = 2
"""The line makes its record potentially relevant."""
_OPEN_HEADER: Final = 4
_OPEN_MEANING: Final = 8
WORK: Final = 16
"""The line may make its record a report of work, and nothing else."""
"""For this kind, the result depends on the digits of each line."""
_UNKNOWN: Final = 255
_TRIED_LINES: Final = 8192
_ALIKE_SHARE: Final = 0.5
"""If fewer lines than this share a kind, blurring costs more than it saves."""
_REMEMBERED: Final = 8192
_REMEMBERED_BYTES: Final = 4 * 1024 * 1024
"""Maximum number of kinds, because each window searches all known ones."""
_FEW_LINES: Final = 256
"""The scanner reads this many lines in less time than RE2 takes to start."""
_JOINED: Final = 180
"""Maximum number of expressions in one: the engine is ten times as slow once their states fill its memory."""
_ODD: Final = r"[\x00\x80-\xff]"
"""NUL and bytes beyond ASCII: decoding may drop them or fail, which only the scanner can detect."""


class Lines(NamedTuple):
    """The lines of a window of bytes.

    Attributes:
        starts: The start of each line.
        texts: The lines with their line breaks, as an Arrow array over the same bytes.
        blurred: The lines with blurred digits, as ``BlockBlur`` writes them, in memory that the next window reuses.
    """

    starts: NDArray[np.int64]
    texts: Any
    blurred: Any


class _Memory(threading.local):
    """Memory that a thread reuses for each window: clearing new memory takes longer than blurring."""

    def __init__(self) -> None:
        import numpy as np

        self._bytes = np.empty(0, dtype=np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        import numpy as np

        if len(self._bytes) < size:
            self._bytes = np.empty(size, dtype=np.uint8)
        return self._bytes[:size]


@cache
def _memory() -> _Memory:
    return _Memory()


def lines_of(window: NDArray[np.uint8]) -> Lines:
    """Split a window into lines; the blurred lines are valid until the next call in this thread."""
    import numpy as np
    import pyarrow as pa

    blurred, blocks = _memory().of(len(window)), BlockBlur()
    newlines = NewlineBits(len(window), blocks.size)
    for start in range(0, len(window), blocks.size):
        part = window[start : start + blocks.size]
        newlines.take(start, part)
        blocks.blur(part, blurred[start : start + blocks.size])
    ends = np.concatenate(([0], newlines.positions() + 1))
    if ends[-1] != len(window):
        ends = np.append(ends, len(window))
    offsets = pa.py_buffer(ends.astype(np.int32))
    texts, alike = (
        pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, offsets, pa.py_buffer(one)])
        for one in (window, blurred)
    )
    return Lines(ends[:-1], texts, alike)


class Kinds:
    """Recognizes lines by the headers of some layouts, with a bounded cache of kinds."""

    def __init__(self, headers: Sequence[str]) -> None:
        import numpy as np
        import pyarrow as pa

        self._header = _any_of(tuple(headers))
        self._meaning = _any_of(meaning_anchors())
        self._odd_meaning = _any_of((*meaning_anchors(), _ODD))
        self._work = _any_of(work_anchors())
        self._known = array_of([], pa.binary())
        self._answers = np.zeros(0, dtype=np.uint8)
        self._presumed_count = 0
        self._are_alike = False

    def classify(self, lines: Lines) -> NDArray[np.uint8]:
        """Return the sum of ``HEADER`` and of ``MEANING`` or ``WORK`` for each line.

        Raises:
            pyarrow.ArrowInvalid: RE2 does not support a header's pattern.
        """
        import numpy as np

        # If the last window's lines shared kinds, this one's are not checked first.
        if not self._are_alike and not _are_alike(lines.blurred[:_TRIED_LINES].dictionary_encode()):
            return self._of_lines(lines.texts)
        found = self._of_kinds(lines.blurred)
        for any_of, is_open, value in (
            (self._header, _OPEN_HEADER, HEADER),
            (self._meaning, _OPEN_MEANING, MEANING),
        ):
            numbers = np.flatnonzero((found & is_open) != 0)
            if len(numbers):
                found[numbers] |= any_of.decide(lines.texts.take(numbers_of(numbers))) * np.uint8(value)
        return found & np.uint8(HEADER | MEANING | WORK)

    def _of_lines(self, lines: Any) -> NDArray[np.uint8]:
        import numpy as np

        meaning = self._odd_meaning if _is_odd(lines) else self._meaning
        found: NDArray[np.uint8] = self._header.match(lines) * np.uint8(HEADER)
        found |= meaning.match(lines) * np.uint8(MEANING)
        others = np.flatnonzero((found & MEANING) == 0)
        if len(others):
            found[others] |= self._work.match(lines.take(numbers_of(others))) * np.uint8(WORK)
        return found

    def _of_kinds(self, blurred: Any) -> NDArray[np.uint8]:
        """Return the results for blurred lines, and which results depend on digits."""
        import numpy as np
        import pyarrow as pa

        # Known kinds keep their numbers; new ones get higher numbers.
        coded = pa.chunked_array([self._known, blurred]).dictionary_encode()
        numbers, kinds = indices_of(coded.chunk(coded.num_chunks - 1).indices), coded.chunk(0).dictionary
        new_count = len(kinds) - len(self._known)
        self._are_alike = new_count <= len(blurred) * (1 - _ALIKE_SHARE)
        answers = np.append(self._answers, np.full(new_count, _UNKNOWN, dtype=np.uint8))
        found: NDArray[np.uint8] = answers.take(numbers)
        is_unknown = found == _UNKNOWN
        if unknown_count := int(np.count_nonzero(is_unknown)):
            self._presumed_count += unknown_count
            if self._presumed_count <= _FEW_LINES:
                unknown = blurred.take(numbers_of(np.flatnonzero(is_unknown)))
                found[is_unknown] = [self._presumed(kind) for kind in _kinds_of(unknown)]
            else:
                unmatched = np.flatnonzero(answers == _UNKNOWN)
                answers[unmatched] = self._matched(_kinds_of(kinds.take(numbers_of(unmatched))))
                self._presumed_count = 0
                found = answers.take(numbers)
        self._remember(kinds, answers, numbers)
        return found

    def _presumed(self, kind: bytes) -> int:
        """Return the preliminary result for a kind: whether it is a header, and always that it may be relevant."""
        is_sure, is_open = self._header.match_kind(kind)
        return MEANING | (HEADER if is_sure else _OPEN_HEADER if is_open else 0)

    def _remember(self, kinds: Any, answers: NDArray[np.uint8], numbers: NDArray[np.int32]) -> None:
        """Keep the known kinds for the next window; if they become too many, only the kinds of this window."""
        import numpy as np

        if len(kinds) > _REMEMBERED or kinds.nbytes > _REMEMBERED_BYTES:
            present = np.flatnonzero(np.bincount(numbers, minlength=len(kinds)))
            kinds, answers = kinds.take(numbers_of(present)), answers[present]
        self._known, self._answers = kinds, answers

    def _matched(self, kinds: list[bytes]) -> NDArray[np.uint8]:
        import numpy as np
        import pyarrow as pa

        array = array_of(kinds, pa.binary())
        found = np.zeros(len(kinds), dtype=np.uint8)
        for any_of, value, open_value in (
            (self._header, HEADER, _OPEN_HEADER),
            (self._meaning, MEANING, _OPEN_MEANING),
        ):
            is_sure, is_open = any_of.match_kinds(array)
            found |= is_sure * np.uint8(value)
            found |= (is_open & ~is_sure) * np.uint8(open_value)
        others = np.flatnonzero((found & (MEANING | _OPEN_MEANING)) == 0)
        if len(others):
            may_be, _ = self._work.match_kinds(array.take(numbers_of(others)))
            found[others] |= may_be * np.uint8(WORK)
        for number, kind in enumerate(kinds):
            if _is_odd_kind(kind):
                found[number] |= MEANING
        return found


@lru_cache(maxsize=8)
def kinds_of(headers: tuple[str, ...]) -> Kinds:
    """Return this process's cache of kinds for logs with these headers."""
    return Kinds(headers)


class _AnyOf:
    """Expressions; a line must match one of them."""

    def __init__(self, expressions: Sequence[str]) -> None:
        sharp = [one for one in expressions if not is_blind(one)]
        self._all = _joined(expressions)
        self._blind = _joined([one for one in expressions if is_blind(one)])
        self._sharp = _joined(sharp)
        self._loose = _joined([any_digit(one) for one in sharp])

    def match(self, lines: Any) -> NDArray[np.bool_]:
        """Return which lines match."""
        return _matches(lines, self._all)

    def match_kinds(self, kinds: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return for each kind whether all its lines match, and whether that depends on digits (see ``decide``)."""
        return _matches(kinds, self._blind), _matches(kinds, self._loose)

    def match_kind(self, kind: bytes) -> tuple[bool, bool]:
        """Return the same for one kind, with the engine that starts immediately."""
        return _is_match(self._blind, kind), _is_match(self._loose, kind)

    def decide(self, lines: Any) -> NDArray[np.bool_]:
        """Return which lines match, given their digits."""
        return _matches(lines, self._sharp)


@lru_cache(maxsize=32)
def _any_of(expressions: tuple[str, ...]) -> _AnyOf:
    return _AnyOf(expressions)


def _joined(expressions: Sequence[str]) -> tuple[str, ...]:
    """Join expressions to a few long ones: the states of one for all would not fit into the engine's memory.

    Neighbors in a sorted list have much in common, so they go to different ones.
    """
    count = -(-len(expressions) // _JOINED)
    return tuple("|".join(expressions[first::count]) for first in range(count))


def _matches(lines: Any, expressions: Sequence[str]) -> NDArray[np.bool_]:
    import numpy as np
    import pyarrow.compute as pc

    found = np.zeros(len(lines), dtype=np.bool_)
    for expression in expressions:
        found |= is_true(pc.match_substring_regex(lines, expression))
    return found


def _is_match(expressions: Iterable[str], line: bytes) -> bool:
    return any(_compiled(expression).search(line) for expression in expressions)


@lru_cache(maxsize=32)
def _compiled(expression: str) -> re.Pattern[bytes]:
    """Compile an RE2 expression for Python's engine, which has another sign for the end of a text."""
    return re.compile(expression.replace(r"\z", r"\Z").encode("latin-1"))


def _are_alike(lines: Any) -> bool:
    """Return whether enough dictionary-encoded lines share a kind."""
    return len(lines.dictionary) <= len(lines) * (1 - _ALIKE_SHARE)


def _kinds_of(blurred: Any) -> list[bytes]:
    """Return the texts of blurred lines."""
    return list(map(unshifted, blurred.to_pylist()))


def _is_odd_kind(kind: bytes) -> bool:
    """Return whether a line contains NUL or is not UTF-8."""
    return b"\0" in kind or not (kind.isascii() or _is_utf8(kind))


def _is_utf8(text: bytes | memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_odd(lines: Any) -> bool:
    """Return whether lines over one buffer contain NUL or bytes that are not UTF-8."""
    import numpy as np

    window = np.frombuffer(lines.buffers()[2], dtype=np.uint8)
    return bool(np.min(window) == 0 or (np.max(window) > 127 and not _is_utf8(window.data)))
