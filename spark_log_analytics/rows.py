"""Convert events to Spark rows with an explicit schema, through Arrow, and back.

Each split adds one row with its counts instead of an event. The counts turn the line numbers of a split into line
numbers of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, repeat
from sys import intern
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import batch_of_columns, batch_of_rows
from eosctl.logs.tally import SplitCounts, SplitScan
from eosctl.model.log_event import (
    CALM_LEVELS,
    NOISE,
    PROBLEM_CATEGORIES,
    PROBLEM_LEVELS,
    LogEvent,
    LoggedException,
    ProgramSpan,
)
from spark_log_analytics.task_costs import COST_COLUMNS, TaskClock, TaskCost, cost_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

EVENT_COLUMNS: Final = (
    "file string, offset long, line long, time_ms long, time_assumed boolean, level string, thread string, "
    "logger string, application string, host string, category string, fields map<string,string>, "
    "exception struct<class_name:string,root_class:string,chain:array<string>,fingerprint:string>, message string"
)
"""The columns of events, as Spark's DDL."""

PROGRAM_COLUMNS: Final = "array<struct<application:string,host:string,first_ms:long,last_ms:long>>"
"""The times of the programs in a file."""

SCAN_COLUMNS: Final = (
    f"{EVENT_COLUMNS}, split_start long, kept_count long, "
    "counts struct<size_bytes:long,newline_count:long,event_count:long,unmatched_line_count:long,truncated_count:long,"
    f"undecodable_count:long,first_ms:long,last_ms:long,error:string,programs:{PROGRAM_COLUMNS}>, cost {COST_COLUMNS}"
)
"""The columns of a scan: events (``counts`` is null), and one row per split with its event count, counts, and cost."""


_REPEATED: Final = frozenset({"file", "level", "thread", "logger", "application", "host", "category"})


def is_problem_row() -> Column:
    """Return whether a row is a problem, as ``eosctl.model.log_event.is_problem`` defines it."""
    from pyspark.sql import functions as f

    is_without_level = ~f.col("level").isin(*sorted(CALM_LEVELS))
    by_category = is_without_level & f.col("category").isin(*sorted(PROBLEM_CATEGORIES))
    by_level = f.col("level").isin(*sorted(PROBLEM_LEVELS))
    return (f.col("category") != NOISE) & (by_level | f.col("exception").isNotNull() | by_category)


def arrow_schema(*, with_counts: bool) -> pa.Schema:
    """Return the Arrow form of the columns."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    thrown = pa.struct(
        [("class_name", text), ("root_class", text), ("chain", pa.list_(text)), ("fingerprint", text)],
    )
    columns = [
        *(("file", text), ("offset", number), ("line", number), ("time_ms", number), ("time_assumed", pa.bool_())),
        *((name, text) for name in ("level", "thread", "logger", "application", "host", "category")),
        *(("fields", pa.map_(text, text)), ("exception", thrown), ("message", text)),
    ]
    if with_counts:
        numbers = [(name, number) for name in SplitCounts._fields if name not in {"error", "programs"}]
        counts = pa.struct([*numbers, ("error", text), ("programs", program_type())])
        columns += [("split_start", number), ("kept_count", number), ("counts", counts)]
        columns.append(("cost", cost_type()))
    return pa.schema(columns)


def program_type() -> pa.DataType:
    """Return the Arrow form of the times of the programs in a file."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    return pa.list_(pa.struct([("application", text), ("host", text), ("first_ms", number), ("last_ms", number)]))


def programs_of(rows: Iterable[Mapping[str, Any]]) -> tuple[ProgramSpan, ...]:
    """Turn collected rows back into the times of programs."""
    return tuple(ProgramSpan(**row) for row in rows)


def scan_batches(
    name: str, start: int, scan: SplitScan, clock: TaskClock | None = None, batch_size: int = 4096
) -> Iterator[pa.RecordBatch]:
    """Yield the events of a split, with the file's name and the split's start, and then the row of its counts.

    A clock gives the cost since the split before.
    """
    schema = arrow_schema(with_counts=True)
    for first in range(0, len(scan.events), batch_size):
        events = scan.events[first : first + batch_size]
        nothing = [None] * len(events)
        yield batch_of_columns([*_columns(events), [start] * len(events), nothing, nothing, nothing], schema)
    row = {"file": name, "split_start": start, "kept_count": len(scan.events), "counts": scan.counts}
    yield batch_of_rows([{**row, "cost": clock and clock.lap()}], schema)


def event_batch(events: Sequence[LogEvent]) -> pa.RecordBatch:
    """Turn events into one batch without the columns of splits."""
    return batch_of_columns(_columns(events), arrow_schema(with_counts=False))


def _columns(events: Sequence[LogEvent]) -> list[Sequence[Any]]:
    """Return the columns of events, which Arrow converts in a third of the time of rows."""
    columns: list[Sequence[Any]] = list(zip(*events, strict=True)) or [()] * len(LogEvent._fields)
    place = LogEvent._fields.index("fields")
    columns[place] = [list(fields.items()) for fields in columns[place]]
    return columns


def event_of(row: Mapping[str, Any]) -> LogEvent:
    """Turn a collected row back into an event."""
    thrown = row["exception"]
    return LogEvent(
        file=row["file"],
        offset=row["offset"],
        line=row["line"],
        time_ms=row["time_ms"],
        time_assumed=row["time_assumed"],
        level=row["level"],
        thread=row["thread"],
        logger=row["logger"],
        application=row["application"],
        host=row["host"],
        category=row["category"],
        fields=dict(row["fields"]),
        exception=None if thrown is None else _thrown_of(thrown),
        message=row["message"],
    )


def _thrown_of(row: Mapping[str, Any]) -> LoggedException:
    return LoggedException(row["class_name"], row["root_class"], tuple(row["chain"]), row["fingerprint"])


def events_of(batch: pa.RecordBatch) -> Iterator[LogEvent]:
    """Yield the events of a batch; columns other than those of events are ignored.

    Equal texts are one value, which takes less memory, and whose hash is computed once.
    """
    columns: list[list[Any]] = []
    for name in LogEvent._fields:
        column = batch.column(name)
        columns.append(
            _mappings(column) if name == "fields" else _shared(column) if name in _REPEATED else column.to_pylist()
        )
    exception = LogEvent._fields.index("exception")
    columns[exception] = [thrown and _thrown_of(thrown) for thrown in columns[exception]]
    # The columns are those of the class, so that its own constructor need not count them again.
    yield from map(tuple.__new__, repeat(LogEvent), zip(*columns, strict=True))


def _shared(column: pa.Array) -> list[str]:
    encoded = column.dictionary_encode()
    texts = list(map(intern, encoded.dictionary.to_pylist()))
    return list(map(texts.__getitem__, encoded.indices.to_pylist()))


def _mappings(column: pa.MapArray) -> list[dict[str, str]]:
    pairs = zip(_shared(column.keys), _shared(column.items), strict=True)
    # The pairs of the rows before those of a part of an array are not skipped by their offsets.
    first, *ends = column.offsets.to_pylist()
    next(islice(pairs, first, first), None)
    return [dict(islice(pairs, end - start)) for start, end in pairwise((first, *ends))]


class CountedSplit(NamedTuple):
    """The number of events in a split of a file, the split's counts, and its cost if it was measured."""

    file: str
    start: int
    kept_count: int
    counts: SplitCounts
    cost: TaskCost | None = None


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """Return a few rows as nested dictionaries; Spark before 4.0 cannot return Arrow tables."""
    return [row.asDict(recursive=True) for row in frame.collect()]


def counted_splits(rows: Iterable[Mapping[str, Any]]) -> tuple[CountedSplit, ...]:
    """Collect the rows of counts, ordered by file and start."""
    found = (
        CountedSplit(
            row["file"],
            row["split_start"],
            row["kept_count"],
            SplitCounts(**{**row["counts"], "programs": programs_of(row["counts"]["programs"])}),
            None if row["cost"] is None else TaskCost(**row["cost"]),
        )
        for row in rows
        if row["counts"] is not None
    )
    return tuple(sorted(found, key=lambda split: (split.file, split.start)))


def counts_by_file(splits: Iterable[CountedSplit]) -> dict[str, list[SplitCounts]]:
    """Return the counts of each file's splits in order."""
    found: dict[str, list[SplitCounts]] = {}
    for split in splits:
        found.setdefault(split.file, []).append(split.counts)
    return found


def line_bases(splits: Iterable[CountedSplit]) -> dict[tuple[str, int], int]:
    """Return the number of lines before each split, by file and start."""
    bases: dict[tuple[str, int], int] = {}
    file, base = "", 0
    for split in splits:
        file, base = split.file, base if split.file == file else 0
        bases[split.file, split.start] = base
        base += split.counts.newline_count
    return bases
