"""Divide batches of events into slices of time by their columns, and choose samples of them.

Few events of a batch become objects: those whose message or fields decide, one of each group of events with the same
keys (``keys_of``), and the samples. All others are divided by numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from zlib import crc32

from eosctl.logs.arrays import array_of, batch_of_columns, indices_of, numbers_of
from eosctl.logs.incidents.slicing.samples import Samples, sampling_of
from eosctl.logs.incidents.slicing.sliced import Windows
from eosctl.logs.incidents.slicing.slices import (
    KEYED_BY_FIELDS,
    KEYED_BY_MESSAGE,
    KEYED_BY_MORE_FIELDS,
    KEYED_BY_NAMES,
    LASTING,
    LONG_MARGIN_MS,
    MARGIN_MS,
    Key,
    TimeSlice,
    keys_of,
    margin_of,
)
from eosctl.logs.incidents.timeline.logs import ProgramLogs
from eosctl.model.log_event import LogEvent, SourceSummary
from spark_log_analytics.packing import PACKED_ROWS, Packer, pack
from spark_log_analytics.rows import event_batch, events_of
from spark_log_analytics.workers import collect_rarely

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

_WRITER: Final = ("file", "application", "host", "category", "thread", "logger")
_SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
"""Events exactly at a border of a window belong to neither side of it."""


def divide_batches(
    batches: Iterable[pa.RecordBatch], sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]
) -> Iterator[pa.RecordBatch]:
    """Pack events for the slices whose windows have them, and samples of all events.

    Samples do not have a slice yet; those of one key are in one ``part``.
    """
    collect_rarely()
    windows, samples, packer = Windows(slices, sources), Samples(slices), Packer[int]()
    logs = ProgramLogs((), sources)
    for batch in batches:
        if not batch.num_rows:
            continue
        for number, own in _rows_by_slice(batch, windows):
            part = batch if len(own) == batch.num_rows else batch.take(numbers_of(own))
            yield from _numbered(packer.add(number, part))
        _add_samples(batch, logs, samples)
    yield from _numbered(packer.rest())
    yield from _packed_samples(samples, len(slices))


def _numbered(packed: Iterable[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
    for number, one in packed:
        yield packed_row(None, number, one)


def _rows_by_slice(batch: pa.RecordBatch, windows: Windows) -> Iterator[tuple[int, Numbers]]:
    """Yield the number of each slice with its rows, in order."""
    import numpy as np

    categories, times = _Codes(batch.column("category")), _times(batch)
    first, end = np.zeros(len(times), np.int64), np.zeros(len(times), np.int64)
    is_long = categories.where(lambda category: margin_of(category) == LONG_MARGIN_MS)
    for margin, has_margin in ((MARGIN_MS, ~is_long), (LONG_MARGIN_MS, is_long)):
        begins_ms, ends_ms = windows.bounds[margin]
        first[has_margin] = np.searchsorted(ends_ms, times[has_margin], "left")
        end[has_margin] = np.searchsorted(begins_ms, times[has_margin], "right")
    for row in _rows_of(batch, np.flatnonzero(categories.are(LASTING))):
        numbers = windows.numbers_of(row.event)
        first[row.place], end[row.place] = numbers.start, numbers.stop
    for number in range(int(first.min()), int(end.max())):
        own = np.flatnonzero((first <= number) & (number < end))
        if len(own):
            yield number, own


def _add_samples(batch: pa.RecordBatch, logs: ProgramLogs, samples: Samples) -> None:
    """Add the events of a batch that may stand for others: the first ones and the last of each key and period."""
    groups = _groups(batch, samples)
    keyed: dict[tuple[Key, int], list[Numbers]] = defaultdict(list)
    for group, representative in zip(groups, _rows_of(batch, [one.rows[0] for one in groups]), strict=True):
        event = representative.event
        for key in keys_of(event, logs.of_file(event.file)):
            keyed[key, group.period].append(group.ranks)
    chosen = [(key, rank) for (key, _), ranks in keyed.items() for rank in _outer(key, ranks)]
    order = groups[0].order
    needed = sorted({rank for _, rank in chosen})
    events = dict(zip(needed, (row.event for row in _rows_of(batch, order[needed])), strict=True))
    for key, rank in chosen:
        samples.add(key, events[rank])


def _outer(key: Key, ranks: Sequence[Numbers]) -> Iterable[int]:
    """Return the ranks of the events of a key and period that ``Samples`` would keep."""
    import numpy as np

    sampling = sampling_of(key)
    every = ranks[0] if len(ranks) == 1 else np.sort(np.concatenate(ranks))
    if len(every) <= sampling.first_count + sampling.last_count:
        return map(int, every)
    return map(int, (*every[: sampling.first_count], *every[-sampling.last_count :]))


class _Group(NamedTuple):
    """Rows of a batch with the same keys in the same period of ``Samples``, in the order of time.

    Attributes:
        rows: Their numbers in the batch.
        ranks: Their numbers in the order of time.
        period: The number of the period.
        order: The rows of the whole batch in the order of time.
    """

    rows: Numbers
    ranks: Numbers
    period: int
    order: Numbers


def _groups(batch: pa.RecordBatch, samples: Samples) -> list[_Group]:
    """Group the rows of a batch by everything that their keys depend on."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    period = _periods(_times(batch), samples)
    codes = _codes_of(numbers_of(period))
    for name in _WRITER:
        codes = _combined(codes, _Codes(batch.column(name)).codes)
    flags = [batch.column("time_assumed"), pc.match_substring(batch.column("message"), "[thrd:")]
    for flag in flags:
        codes = _combined(codes, _codes_of(flag.cast(pa.int64())))
    categories = _Codes(batch.column("category"))
    by_message = np.flatnonzero(categories.are(KEYED_BY_MESSAGE))
    if len(by_message):
        own = np.zeros(batch.num_rows, np.int64)
        own[by_message] = 1 + _Codes(batch.column("message").take(numbers_of(by_message))).codes
        codes = _combined(codes, own)
    for pairs in _pair_codes(batch.column("fields"), categories):
        codes = _combined(codes, pairs)
    places = [(name, "ascending") for name in ("time_ms", "file", "offset")]
    order = np.frombuffer(pc.sort_indices(batch, sort_keys=places).buffers()[1], np.uint64).astype(np.int64)
    return list(_grouped(codes, period, order))


def _grouped(codes: Numbers, period: Numbers, order: Numbers) -> Iterator[_Group]:
    import numpy as np

    in_order = codes[order]
    ranks = np.argsort(in_order, kind="stable")
    ends = np.flatnonzero(np.diff(in_order[ranks])) + 1
    for own in np.split(ranks, ends):
        rows = order[own]
        yield _Group(rows, own, int(period[rows[0]]), order)


def _periods(times: Numbers, samples: Samples) -> Numbers:
    """Return the periods of ``Samples`` with both margins, as numbers."""
    import numpy as np

    sides = [(edges, side) for edges in samples.edges.values() for side in _SIDES]
    place, *others = (np.searchsorted(edges, times, side) for edges, side in sides)
    for other in others:
        place = _combined(place, other)
    return place


def _pair_codes(fields: pa.MapArray, categories: _Codes) -> Iterator[Numbers]:
    """Yield numbers for the first of the fields on which a row's keys depend, then for the second, and so on."""
    import numpy as np

    row_count = len(categories.codes)
    offsets = fields.offsets
    bounds = np.frombuffer(offsets.buffers()[1], np.int32)[offsets.offset : offsets.offset + row_count + 1]
    begin, end = int(bounds[0]), int(bounds[-1])
    if begin == end:
        return
    names, values = _Codes(fields.keys[begin:end]), _Codes(fields.items[begin:end])
    has_value, has_name = names.are(KEYED_BY_FIELDS), names.are(KEYED_BY_NAMES)
    for category, more in KEYED_BY_MORE_FIELDS.items():
        if (of_category := categories.are(frozenset({category}))).any():
            has_value |= names.are(more) & np.repeat(of_category, np.diff(bounds))
    pairs = _combined(names.codes, np.where(has_value, values.codes + 1, 0))
    counts = has_value | has_name
    kept = pairs[counts]
    before = np.concatenate(([0], np.cumsum(counts)))[bounds - begin]
    starts, lengths = before[:-1], np.diff(before)
    for place in range(int(lengths.max())):
        has_one = lengths > place
        codes = np.zeros(row_count, np.int64)
        codes[has_one] = 1 + kept[starts[has_one] + place]
        yield codes


class _Codes:
    """The texts of a column as numbers."""

    def __init__(self, column: pa.Array) -> None:
        encoded = column.dictionary_encode()
        self.codes: Numbers = indices_of(encoded.indices).astype("int64")
        self._values: list[Any] = encoded.dictionary.to_pylist()

    def are(self, wanted: Set[Any]) -> Flags:
        """Return whether each text is one of some texts."""
        return self.where(wanted.__contains__)

    def where(self, is_wanted: Callable[[Any], bool]) -> Flags:
        """Return whether each text has a property."""
        import numpy as np

        return np.array([is_wanted(value) for value in self._values], bool)[self.codes]


def _codes_of(numbers: pa.Array) -> Numbers:
    codes: Numbers = indices_of(numbers.dictionary_encode().indices).astype("int64")
    return codes


def _combined(one: Numbers, other: Numbers) -> Numbers:
    """Return small numbers that are equal where both numbers are."""
    return _codes_of(numbers_of(one * (int(other.max()) + 1) + other))


def _times(batch: pa.RecordBatch) -> Numbers:
    import numpy as np

    column = batch.column("time_ms")
    times: Numbers = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column)]
    return times


class _Row(NamedTuple):
    """A row of a batch as an event."""

    place: int
    event: LogEvent


def _rows_of(batch: pa.RecordBatch, places: Numbers | Sequence[int]) -> Iterator[_Row]:
    """Yield some rows of a batch as events."""
    if len(places):
        wanted = list(map(int, places))
        yield from map(_Row, wanted, events_of(batch.take(_int64(wanted))))


def _int64(numbers: Sequence[int]) -> pa.Array:
    import pyarrow as pa

    return array_of(numbers, pa.int64())


def _packed_samples(samples: Samples, part_count: int) -> Iterator[pa.RecordBatch]:
    """Yield samples in parts, with their keys as texts."""
    import pyarrow as pa

    kept: dict[int, list[tuple[str, LogEvent]]] = defaultdict(list)
    for key, events in samples.by_key():
        text = "\0".join(key)
        kept[crc32(text.encode("utf-8", "surrogatepass")) % part_count] += ((text, event) for event in events)
    for part, pairs in kept.items():
        for start in range(0, len(pairs), PACKED_ROWS):
            some = pairs[start : start + PACKED_ROWS]
            batch = event_batch([event for _, event in some])
            keys = array_of([text for text, _ in some], pa.string())
            named = pa.RecordBatch.from_arrays([*batch.columns, keys], names=[*batch.schema.names, "key"])
            yield packed_row(part, None, pack([named]))


def packed_row(part: int | None, number: int | None, packed: bytes) -> pa.RecordBatch:
    """Return a row of what is divided: the part of samples or the number of a slice, and packed events."""
    import pyarrow as pa

    schema = pa.schema([("part", pa.int64()), ("slice", pa.int64()), ("packed", pa.binary())])
    return batch_of_columns([[part], [number], [packed]], schema)
