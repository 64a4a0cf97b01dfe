"""The scanner's records without those that cannot mean anything: most bytes are never looked at by Python.

pyarrow matches lines in linear time: is it a header, and can a record that holds it mean anything (see ``kinds``). Only
records with such a line are parsed; the others are counted. Where pyarrow is missing, or a layout's pattern is beyond
its engine, the scanner itself does the work: the records that mean something are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.layouts import Verdict, header_expressions
from eosctl.logs.records.forms import Forms
from eosctl.logs.records.kinds import HEADER, MEANING, kinds_of, lines_of
from eosctl.logs.records.record import Buffer, Record
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, HeaderReader, read_headerless, scan_records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WINDOW_BYTES: Final = 6 * 1024 * 1024
"""How much is looked at in one step: small enough that the allocator gives the same memory again."""
SMALL_BYTES: Final = 256 * 1024
"""Below this the start of the engine costs more than it saves."""
_UNSIFTABLE: Final = frozenset({"open-producers"})
"""Layouts whose records mean something by their shape alone."""


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
    forms: Forms | None = None,
    small_bytes: int = SMALL_BYTES,
) -> Iterator[Record]:
    """Yield the records of ``scan_records`` that may mean something; ``passed_count`` tells how many lie between.

    The first and the last record are always among them.

    Args:
        data: The whole file, in memory or mapped.
        verdict: The file's layouts.
        start: First byte of the split.
        end: First byte behind it; None means the end of the data.
        forms: What is known of records by those before them.
        small_bytes: Splits below this size are left to the scanner.
    """
    stop = len(data) if end is None else min(end, len(data))
    if start >= stop:
        return
    names = {layout.name for layout in verdict.layouts}
    if stop - start < small_bytes or names & _UNSIFTABLE or not verdict.has_headers or not _has_engine():
        yield from scan_records(data, verdict, start, end, forms)
        return
    import pyarrow as pa

    try:
        headers = _find_headers(data, verdict, start, stop)
    except pa.ArrowInvalid:
        # A pattern of the user's with what only Python's expressions know.
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
    read = 0
    for number in np.flatnonzero(wanted).tolist():
        offset, event_end = int(headers.offsets[number]), int(ends[number])
        key = reader.key(data, offset, event_end)
        if 0 < number < count - 1 and reader.forms.is_dull(key):
            continue
        form = reader.forms.get(key)
        if form is not None:
            yield form.read(data, offset, int(headers.lines[number]), number - read)
        else:
            found = reader.pattern.match(data, offset)
            if found is None:
                raise AssertionError(f"the engines differ about the header at byte {offset}")
            yield reader.record(data, found, event_end, int(headers.lines[number]), key, number - read)
        read = number + 1


def _find_headers(data: Buffer, verdict: Verdict, start: int, stop: int) -> _Headers:
    """Find the header lines that start in ``[start, stop)``, and which of their records have a line that may matter."""
    import numpy as np

    kinds = kinds_of(header_expressions(verdict.layouts))
    parts: list[_Headers] = []
    position, line_count = _line_start(data, start), int(start > 0 and data[start - 1 : start] != b"\n")
    while position < stop:
        window_end = _line_start(data, min(position + WINDOW_BYTES, stop))
        lines = lines_of(np.frombuffer(data, dtype=np.uint8, count=window_end - position, offset=position))
        found = kinds.look(lines)
        numbers, hits = np.flatnonzero((found & HEADER) != 0), np.flatnonzero((found & MEANING) != 0)
        wanted = np.zeros(len(numbers), dtype=np.bool_)
        owners = np.searchsorted(numbers, hits, side="right") - 1
        wanted[owners[owners >= 0]] = True
        if parts and len(parts[-1].wanted) and (owners < 0).any():
            parts[-1].wanted[-1] = True
        if len(numbers) or not parts:
            parts.append(_Headers(lines.starts[numbers] + position, numbers + line_count, wanted))
        line_count += len(lines.starts)
        position = window_end
    if not parts:
        nothing = np.zeros(0, dtype=np.int64)
        return _Headers(nothing, nothing, np.zeros(0, dtype=np.bool_))
    return parts[0] if len(parts) == 1 else _Headers(*map(np.concatenate, zip(*parts, strict=True)))


def _line_start(data: Buffer, position: int) -> int:
    """Return the first start of a line at or behind a position; the end of the data when there is none."""
    if position == 0 or position >= len(data):
        return min(position, len(data))
    newline = data.find(b"\n", position - 1)
    return len(data) if newline < 0 else newline + 1
