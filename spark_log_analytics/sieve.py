"""The scanner's records without those that cannot mean anything: most bytes are never looked at by Python.

pyarrow matches the lines of a window against two sets of expressions in linear time: is it a header, and can a record
that holds it mean anything; lines that differ in digits only are looked at once. Only records with such a line are
parsed; the others are counted. Where pyarrow is missing, or a layout's pattern is beyond its engine, the scanner itself
does the work: the records that mean something are the same.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spark_log_analytics.anchors import meaning_anchors
from spark_log_analytics.digits import any_digit, blur, is_blind
from spark_log_analytics.layouts import Verdict, header_expressions
from spark_log_analytics.scanner import MAX_EVENT_BYTES, Buffer, HeaderReader, Record, read_headerless, scan_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW_BYTES: Final = 32 * 1024 * 1024
_BLOCK_BYTES: Final = 256 * 1024
"""What a step of the work leaves in the processor's cache for the next one."""
SMALL_BYTES: Final = 256 * 1024
"""Below this the start of the engine costs more than it saves."""
_UNSIFTABLE: Final = frozenset({"open-producers"})
"""Layouts whose records mean something by their shape alone."""
_TRIED_LINES: Final = 8192
_ALIKE_SHARE: Final = 0.5
"""Where fewer lines than this are like another one but for their digits, blurring costs more than it saves."""
_ODD: Final = r"[\x00\x80-\xff]"
"""NUL and bytes beyond ASCII: decoding may drop them or fail, which only the scanner itself can tell."""


class _Headers(NamedTuple):
    """The header lines of a part of a file: where each starts, its number, whether its record may mean something."""

    offsets: NDArray[np.int64]
    lines: NDArray[np.int64]
    wanted: NDArray[np.bool_]


def sift_records(
    data: Buffer,
    verdict: Verdict,
    start: int = 0,
    end: int | None = None,
    dull: Container[bytes] = (),
    small_bytes: int = SMALL_BYTES,
) -> Iterator[Record]:
    """Yield the records of ``scan_records`` that may mean something; ``passed_count`` tells how many lie between.

    The first and the last record are always among them.

    Args:
        data: The whole file, in memory or mapped.
        verdict: The file's layouts.
        start: First byte of the split.
        end: First byte behind it; None means the end of the data.
        dull: Keys of records that nobody wants.
        small_bytes: Splits below this size are left to the scanner.
    """
    stop = len(data) if end is None else min(end, len(data))
    if start >= stop:
        return
    names = {layout.name for layout in verdict.layouts}
    if stop - start < small_bytes or names & _UNSIFTABLE or not verdict.has_headers or not _has_engine():
        yield from scan_records(data, verdict, start, end, dull)
        return
    import pyarrow as pa

    try:
        headers = _find_headers(data, verdict, start, stop)
    except pa.ArrowInvalid:
        # A pattern of the user's with what only Python's expressions know.
        yield from scan_records(data, verdict, start, end, dull)
        return
    yield from _read_wanted(data, verdict, start, stop, headers, dull)


def _has_engine() -> bool:
    return find_spec("pyarrow") is not None and find_spec("numpy") is not None


def _read_wanted(
    data: Buffer, verdict: Verdict, start: int, stop: int, headers: _Headers, dull: Container[bytes]
) -> Iterator[Record]:
    import numpy as np

    count = len(headers.offsets)
    reader = HeaderReader(verdict)
    behind = reader.pattern.search(data, stop)
    next_start = len(data) if behind is None else behind.start()
    if start == 0 and (count == 0 or headers.offsets[0] > 0):
        first_end = next_start if count == 0 else int(headers.offsets[0])
        if bytes(data[: min(first_end, 65536)]).strip():
            yield read_headerless(data, 0, first_end, 0)
    if count == 0:
        return
    ends = np.append(headers.offsets[1:], next_start)
    wanted = headers.wanted | (ends - headers.offsets > MAX_EVENT_BYTES)
    wanted[0] = wanted[-1] = True
    read = 0
    for number in np.flatnonzero(wanted).tolist():
        offset, event_end = int(headers.offsets[number]), int(ends[number])
        found = reader.pattern.match(data, offset)
        if found is None:
            raise AssertionError(f"the engines differ about the header at byte {offset}")
        key = reader.key(data, found, event_end)
        if key in dull and 0 < number < count - 1:
            continue
        record = reader.record(data, found, event_end, int(headers.lines[number]))
        yield record._replace(key=key, passed_count=number - read)
        read = number + 1


def _find_headers(data: Buffer, verdict: Verdict, start: int, stop: int) -> _Headers:
    """Find the header lines that start in ``[start, stop)``, and which of their records have a line that may matter."""
    import numpy as np

    header, meaning = _question(header_expressions(verdict.layouts)), _question(meaning_anchors())
    parts: list[_Headers] = []
    position, line_count = _line_start(data, start), int(start > 0 and data[start - 1 : start] != b"\n")
    while position < stop:
        window_end = _line_start(data, min(position + WINDOW_BYTES, stop))
        window = np.frombuffer(data, dtype=np.uint8, count=window_end - position, offset=position)
        starts, lines = _lines_of(window)
        alike = _blurred(window, lines)
        asked = _question((*meaning_anchors(), _ODD)) if _is_odd(window) else meaning
        hits = np.flatnonzero(asked.answer(lines, alike))
        numbers = np.flatnonzero(header.answer(lines, alike))
        wanted = np.zeros(len(numbers), dtype=np.bool_)
        owners = np.searchsorted(numbers, hits, side="right") - 1
        wanted[owners[owners >= 0]] = True
        if parts and len(parts[-1].wanted) and (owners < 0).any():
            parts[-1].wanted[-1] = True
        if len(numbers) or not parts:
            parts.append(_Headers(starts[numbers] + position, numbers + line_count, wanted))
        line_count += len(starts)
        position = window_end
    if not parts:
        nothing = np.zeros(0, dtype=np.int64)
        return _Headers(nothing, nothing, np.zeros(0, dtype=np.bool_))
    return _Headers(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _line_start(data: Buffer, position: int) -> int:
    """Return the first start of a line at or behind a position; the end of the data when there is none."""
    if position == 0 or position >= len(data):
        return min(position, len(data))
    newline = data.find(b"\n", position - 1)
    return len(data) if newline < 0 else newline + 1


def _lines_of(window: NDArray[np.uint8]) -> tuple[NDArray[np.int64], Any]:
    """Return where the lines of a window start, and the lines as an Arrow array over the same bytes."""
    import numpy as np
    import pyarrow as pa

    blocks = range(0, len(window), _BLOCK_BYTES)
    ends = [np.flatnonzero(window[start : start + _BLOCK_BYTES] == ord("\n")) + (start + 1) for start in blocks]
    bounds = np.concatenate(([0], *ends))
    if bounds[-1] != len(window):
        bounds = np.append(bounds, len(window))
    offsets = pa.py_buffer(bounds.astype(np.int32))
    lines = pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, offsets, pa.py_buffer(window)])
    return bounds[:-1].astype(np.int64), lines


class _Question:
    """Some expressions, of which a line is to match one."""

    def __init__(self, expressions: Sequence[str]) -> None:
        sharp = [one for one in expressions if not is_blind(one)]
        self._all = "|".join(expressions)
        self._blind = "|".join(one for one in expressions if is_blind(one))
        self._sharp = "|".join(sharp)
        self._loose = "|".join(map(any_digit, sharp))

    def answer(self, lines: Any, alike: Any | None) -> NDArray[np.bool_]:
        """Return which lines match.

        Args:
            lines: The lines.
            alike: The same, blurred and dictionary-encoded; None when that does not pay.
        """
        import numpy as np
        import pyarrow as pa

        if alike is None:
            return _matches(lines, self._all)
        kinds, indices = alike.dictionary, alike.indices.to_numpy()
        found = _matches(kinds, self._blind)[indices] if self._blind else np.zeros(len(indices), dtype=np.bool_)
        if self._sharp:
            # Where a digit may decide, the lines themselves are asked.
            open_numbers = np.flatnonzero(_matches(kinds, self._loose)[indices] & ~found)
            if len(open_numbers):
                found[open_numbers] = _matches(lines.take(pa.array(open_numbers)), self._sharp)
        return found


@cache
def _question(expressions: tuple[str, ...]) -> _Question:
    return _Question(expressions)


def _blurred(window: NDArray[np.uint8], lines: Any) -> Any | None:
    """Return the lines with their digits blurred, each distinct one once; None where most are distinct even so."""
    import pyarrow as pa

    # The same line ends, so the same offsets.
    blurred = [None, lines.buffers()[1], pa.py_buffer(blur(window))]
    array = pa.Array.from_buffers(pa.binary(), len(lines), blurred)
    tried = array[:_TRIED_LINES].dictionary_encode()
    if len(tried.dictionary) > len(tried) * (1 - _ALIKE_SHARE):
        return None
    return array.dictionary_encode()


def _matches(lines: Any, expression: str) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = pc.match_substring_regex(lines, expression).to_numpy(zero_copy_only=False)
    return found


def _is_odd(window: NDArray[np.uint8]) -> bool:
    """Whether a window holds NUL or bytes that are not UTF-8."""
    if not window.min():
        return True
    if window.max() < 128:
        return False
    try:
        str(window.data, "utf-8")
    except UnicodeDecodeError:
        return True
    return False
