"""What the lines of a log are: headers, and whether a record that holds them can mean anything.

Logs repeat themselves but for their numbers. Lines that differ in digits only are of one kind; each kind is matched
once, by RE2, and its answer is remembered from one part of a log to the next. Where a digit may decide, and where most
lines are of a kind of their own, the lines themselves are matched. RE2 begins anew with each question, which takes as
long as to read a MB: it is not asked before enough lines are of unknown kinds, and so long these may mean something.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import array_of, indices_of, is_true, numbers_of
from eosctl.logs.records.anchors import meaning_anchors
from eosctl.logs.records.digits import BlockBlur, any_digit, is_blind, unshifted
from eosctl.logs.records.line_ends import NewlineBits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER: Final = 1
"""The line starts a record."""
MEANING: Final = 2
"""A record that holds the line may mean something."""
_OPEN_HEADER: Final = 4
_OPEN_MEANING: Final = 8
"""What is open for a kind of lines depends on the digits of each."""
_UNKNOWN: Final = 255
_TRIED_LINES: Final = 8192
_ALIKE_SHARE: Final = 0.5
"""Where fewer lines than this are like another one but for their digits, blurring costs more than it saves."""
_REMEMBERED: Final = 8192
_REMEMBERED_BYTES: Final = 4 * 1024 * 1024
"""To look for what is known takes time for each window anew."""
_FEW_LINES: Final = 256
"""So many lines are read by the scanner in less time than RE2 takes to begin."""
_ODD: Final = r"[\x00\x80-\xff]"
"""NUL and bytes beyond ASCII: decoding may drop them or fail, which only the scanner itself can tell."""


class Lines(NamedTuple):
    """The lines of a window of bytes.

    Attributes:
        starts: Where each starts.
        texts: The lines with their ends, as an Arrow array over the same bytes.
        blurred: The same with all digits alike, as ``BlockBlur`` writes them, in memory that serves the next window,
            too.
    """

    starts: NDArray[np.int64]
    texts: Any
    blurred: Any


class _Room(threading.local):
    """Memory that a thread uses for one window after the other: to clear new memory takes longer than to blur."""

    def __init__(self) -> None:
        import numpy as np

        self._bytes = np.empty(0, dtype=np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        import numpy as np

        if len(self._bytes) < size:
            self._bytes = np.empty(size, dtype=np.uint8)
        return self._bytes[:size]


@cache
def _room() -> _Room:
    return _Room()


def lines_of(window: NDArray[np.uint8]) -> Lines:
    """Cut a window into lines; the blurred ones are good until the next call in this thread."""
    import numpy as np
    import pyarrow as pa

    blurred, blocks = _room().of(len(window)), BlockBlur()
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
    """Tells what lines are, by the headers of some layouts; remembers a bounded number of kinds."""

    def __init__(self, headers: Sequence[str]) -> None:
        import numpy as np
        import pyarrow as pa

        self._header = _question(tuple(headers))
        self._meaning = _question(meaning_anchors())
        self._odd_meaning = _question((*meaning_anchors(), _ODD))
        self._known = array_of([], pa.binary())
        self._answers = np.zeros(0, dtype=np.uint8)
        self._presumed_count = 0
        self._are_alike = False

    def look(self, lines: Lines) -> NDArray[np.uint8]:
        """Return ``HEADER`` and ``MEANING`` of each line, added up.

        Raises:
            pyarrow.ArrowInvalid: A header's pattern is beyond RE2.
        """
        import numpy as np

        # Where the last window's lines were alike, this one's are not tried first.
        if not self._are_alike and not _are_alike(lines.blurred[:_TRIED_LINES].dictionary_encode()):
            return self._of_lines(lines.texts)
        found = self._of_kinds(lines.blurred)
        for question, is_open, value in (
            (self._header, _OPEN_HEADER, HEADER),
            (self._meaning, _OPEN_MEANING, MEANING),
        ):
            numbers = np.flatnonzero((found & is_open) != 0)
            if len(numbers):
                found[numbers] |= question.decide(lines.texts.take(numbers_of(numbers))) * np.uint8(value)
        return found & np.uint8(HEADER | MEANING)

    def _of_lines(self, lines: Any) -> NDArray[np.uint8]:
        import numpy as np

        meaning = self._odd_meaning if _is_odd(lines) else self._meaning
        found: NDArray[np.uint8] = self._header.answer(lines) * np.uint8(HEADER)
        return found | (meaning.answer(lines) * np.uint8(MEANING))

    def _of_kinds(self, blurred: Any) -> NDArray[np.uint8]:
        """Return what blurred lines are, and what is open."""
        import numpy as np
        import pyarrow as pa

        # The numbers of known kinds stay what they were; new ones come behind them.
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
                unasked = np.flatnonzero(answers == _UNKNOWN)
                answers[unasked] = self._asked(_kinds_of(kinds.take(numbers_of(unasked))))
                self._presumed_count = 0
                found = answers.take(numbers)
        self._remember(kinds, answers, numbers)
        return found

    def _presumed(self, kind: bytes) -> int:
        """Return what a line of a kind may be: whether it is a header, and that it may mean something."""
        is_sure, is_open = self._header.answer_kind(kind)
        return MEANING | (HEADER if is_sure else _OPEN_HEADER if is_open else 0)

    def _remember(self, kinds: Any, answers: NDArray[np.uint8], numbers: NDArray[np.int32]) -> None:
        """Keep what is known for the next window: only what this one holds when it has become too much."""
        import numpy as np

        if len(kinds) > _REMEMBERED or kinds.nbytes > _REMEMBERED_BYTES:
            present = np.flatnonzero(np.bincount(numbers, minlength=len(kinds)))
            kinds, answers = kinds.take(numbers_of(present)), answers[present]
        self._known, self._answers = kinds, answers

    def _asked(self, kinds: list[bytes]) -> NDArray[np.uint8]:
        import numpy as np
        import pyarrow as pa

        array = array_of(kinds, pa.binary())
        found = np.zeros(len(kinds), dtype=np.uint8)
        for question, value, open_value in (
            (self._header, HEADER, _OPEN_HEADER),
            (self._meaning, MEANING, _OPEN_MEANING),
        ):
            is_sure, is_open = question.answer_kinds(array)
            found |= is_sure * np.uint8(value)
            found |= (is_open & ~is_sure) * np.uint8(open_value)
        for number, kind in enumerate(kinds):
            if _is_odd_kind(kind):
                found[number] |= MEANING
        return found


@lru_cache(maxsize=8)
def kinds_of(headers: tuple[str, ...]) -> Kinds:
    """Return the memory of this process for logs with such headers."""
    return Kinds(headers)


class _Question:
    """Some expressions, of which a line is to match one."""

    def __init__(self, expressions: Sequence[str]) -> None:
        sharp = [one for one in expressions if not is_blind(one)]
        self._all = "|".join(expressions)
        self._blind = "|".join(one for one in expressions if is_blind(one))
        self._sharp = "|".join(sharp)
        self._loose = "|".join(map(any_digit, sharp))

    def answer(self, lines: Any) -> NDArray[np.bool_]:
        """Return which lines match."""
        return _matches(lines, self._all)

    def answer_kinds(self, kinds: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return of which blurred lines every line matches, and of which it depends on digits: see ``decide``."""
        return _matches(kinds, self._blind), _matches(kinds, self._loose)

    def answer_kind(self, kind: bytes) -> tuple[bool, bool]:
        """Return the same of one blurred line, by the engine that begins at once."""
        return _is_match(self._blind, kind), _is_match(self._loose, kind)

    def decide(self, lines: Any) -> NDArray[np.bool_]:
        """Return which lines match by their digits."""
        return _matches(lines, self._sharp)


@lru_cache(maxsize=32)
def _question(expressions: tuple[str, ...]) -> _Question:
    return _Question(expressions)


def _matches(lines: Any, expression: str) -> NDArray[np.bool_]:
    import numpy as np
    import pyarrow.compute as pc

    if not expression:
        return np.zeros(len(lines), dtype=np.bool_)
    return is_true(pc.match_substring_regex(lines, expression))


def _is_match(expression: str, line: bytes) -> bool:
    return bool(expression) and _compiled(expression).search(line) is not None


@lru_cache(maxsize=32)
def _compiled(expression: str) -> re.Pattern[bytes]:
    """Compile an expression of RE2's for Python's engine, which has another name for the end of a text."""
    return re.compile(expression.replace(r"\z", r"\Z").encode("latin-1"))


def _are_alike(lines: Any) -> bool:
    """Whether enough of dictionary-encoded lines are like another one."""
    return len(lines.dictionary) <= len(lines) * (1 - _ALIKE_SHARE)


def _kinds_of(blurred: Any) -> list[bytes]:
    """Return blurred lines as they are meant."""
    return list(map(unshifted, blurred.to_pylist()))


def _is_odd_kind(kind: bytes) -> bool:
    """Whether a line holds NUL or is not UTF-8."""
    return b"\0" in kind or not (kind.isascii() or _is_utf8(kind))


def _is_utf8(text: bytes | memoryview) -> bool:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_odd(lines: Any) -> bool:
    """Whether lines over one buffer hold NUL or bytes that are not UTF-8."""
    import numpy as np

    window = np.frombuffer(lines.buffers()[2], dtype=np.uint8)
    return bool(np.min(window) == 0 or (np.max(window) > 127 and not _is_utf8(window.data)))
