"""Yield only the scanner's relevant records, so that Python does not process most bytes.

pyarrow checks in linear time whether a line is a header, and whether it makes its record relevant (see ``kinds``).
Only records with such a line are parsed; the others are counted. Without pyarrow, or if its engine does not support a
layout's pattern, the scanner does the work with the same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.layouts import TABLES, Verdict, header_expressions
from eosctl.logs.records.forms import Forms
from eosctl.logs.records.kinds import HEADER, MEANING, WORK, kinds_of, lines_of
from eosctl.logs.records.record import Buffer, Record
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, HeaderReader, read_headerless, scan_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW_BYTES: Final = 6 * 1024 * 1024
"""Number of bytes in one step: small enough that the allocator reuses the same memory."""
SMALL_BYTES: Final = 256 * 1024
"""Below this size, the start of the engine costs more than it saves."""


class _Headers(NamedTuple):
    """The header lines of a part of a file.

    Attributes:
        offsets: Their positions.
        lines: Their numbers.
        wanted: Whether their records may be relevant.
        works: Whether their records may report work.
    """

    offsets: NDArray[np.int64]
    lines: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    works: NDArray[np.bool_]


def sift_records(
    data: Buffer,
    verdict: Verdict,
    start: int = 0,
    end: int | None = None,
    forms: Forms | None = None,
    small_bytes: int = SMALL_BYTES,
) -> Iterator[Record]:
    """Yield the records of ``scan_records`` that may be relevant; ``passed_count`` is the number of records in between.

    The first and the last record are always included.

    Args:
        data: The whole file, in memory or mapped.
        verdict: The file's layouts.
        start: First byte of the split.
        end: First byte after it; None means the end of the data.
        forms: The cache of forms.
        small_bytes: The scanner reads splits below this size.
    """
    stop = len(data) if end is None else min(end, len(data))
    if start >= stop:
        return
    names = {layout.name for layout in verdict.layouts}
    if stop - start < small_bytes or names & TABLES or not verdict.has_headers or not _has_engine():
        yield from scan_records(data, verdict, start, end, forms)
        return
    import pyarrow as pa

    try:
        headers = _find_headers(data, verdict, start, stop)
    except pa.ArrowInvalid:
        # A user's pattern with syntax that only Python supports.
        yield from scan_records(data, verdict, start, end, forms)
        return
    yield from _read_wanted(data, HeaderReader(verdict, forms), start, stop, headers)


def _has_engine() -> bool:
    return find_spec("pyarrow") is not None and find_spec("numpy") is not None


def _read_wanted(data: Buffer, reader: HeaderReader, start: int, stop: int, headers: _Headers) -> Iterator[Record]:
    import numpy as np

    count = len(headers.offsets)
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
    only_works = headers.works & ~wanted
    read = 0
    for number in np.flatnonzero(wanted | only_works).tolist():
        offset, event_end = int(headers.offsets[number]), int(ends[number])
        key = reader.key(data, offset, event_end)
        if 0 < number < count - 1 and reader.forms.is_irrelevant(key):
            continue
        form = reader.forms.get(key)
        if form is not None:
            yield form.read(data, offset, int(headers.lines[number]), number - read)
        else:
            found = reader.pattern.match(data, offset)
            if found is None:
                raise AssertionError(f"the engines disagree about the header at byte {offset}")
            record = reader.record(data, found, event_end, int(headers.lines[number]), key, number - read)
            yield record._replace(is_only_work=True) if only_works[number] else record
        read = number + 1


def _find_headers(data: Buffer, verdict: Verdict, start: int, stop: int) -> _Headers:
    """Find the header lines that start in ``[start, stop)``, and which of their records may be relevant."""
    import numpy as np

    kinds = kinds_of(header_expressions(verdict.layouts))
    parts: list[_Headers] = []
    position, line_count = _line_start(data, start), int(start > 0 and data[start - 1 : start] != b"\n")
    while position < stop:
        window_end = _line_start(data, min(position + WINDOW_BYTES, stop))
        lines = lines_of(np.frombuffer(data, dtype=np.uint8, count=window_end - position, offset=position))
        found = kinds.classify(lines)
        numbers = np.flatnonzero((found & HEADER) != 0)
        wanted, is_before_wanted = _owners(numbers, np.flatnonzero((found & MEANING) != 0))
        works, is_before_work = _owners(numbers, np.flatnonzero((found & WORK) != 0))
        if parts and len(parts[-1].wanted):
            parts[-1].wanted[-1] |= is_before_wanted
            parts[-1].works[-1] |= is_before_work
        if len(numbers) or not parts:
            parts.append(_Headers(lines.starts[numbers] + position, numbers + line_count, wanted, works))
        line_count += len(lines.starts)
        position = window_end
    if not parts:
        nothing, none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
        return _Headers(nothing, nothing, none, none)
    return parts[0] if len(parts) == 1 else _Headers(*map(np.concatenate, zip(*parts, strict=True)))


def _owners(headers: NDArray[np.int64], hits: NDArray[np.int64]) -> tuple[NDArray[np.bool_], bool]:
    """Return which header lines have a hit in their record, and whether one is before the first of them."""
    import numpy as np

    owned = np.zeros(len(headers), dtype=np.bool_)
    owners = np.searchsorted(headers, hits, side="right") - 1
    owned[owners[owners >= 0]] = True
    return owned, bool((owners < 0).any())


def _line_start(data: Buffer, position: int) -> int:
    """Return the first start of a line at or after a position; the end of the data if no line follows."""
    if position == 0 or position >= len(data):
        return min(position, len(data))
    newline = data.find(b"\n", position - 1)
    return len(data) if newline < 0 else newline + 1
