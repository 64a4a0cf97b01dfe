"""The rows of a scan as Spark sees them: an explicit schema, and the way from events to Arrow and back.

Each split adds one row that carries its counts instead of an event; with them the lines that its events count from the
split's start become lines of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from eosctl.model.log_event import LogEvent, LoggedException
from spark_log_analytics.scan import SplitCounts, SplitScan

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION: Final = 2
"""Version 2 has the column ``host``."""

EVENT_COLUMNS: Final = (
    "file string, offset long, line long, time_ms long, time_assumed boolean, level string, thread string, "
    "logger string, application string, host string, category string, fields map<string,string>, "
    "exception struct<class_name:string,root_class:string,chain:array<string>,fingerprint:string>, message string"
)
"""The columns of events, as Spark's DDL."""

SCAN_COLUMNS: Final = (
    f"{EVENT_COLUMNS}, split_start long, "
    "counts struct<size_bytes:long,newline_count:long,event_count:long,unmatched_line_count:long,truncated_count:long,"
    "undecodable_count:long,first_ms:long,last_ms:long,error:string>"
)
"""The columns of a scan: events (``counts`` null), and one row a split with its counts (``category`` null)."""


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
        numbers = [(name, number) for name in SplitCounts._fields if name != "error"]
        columns += [("split_start", number), ("counts", pa.struct([*numbers, ("error", text)]))]
    return pa.schema(columns)


def scan_batches(name: str, start: int, scan: SplitScan, batch_size: int = 4096) -> Iterator[pa.RecordBatch]:
    """Yield the events of a split, by its file's name and its start, and then the row of its counts."""
    import pyarrow as pa

    schema = arrow_schema(with_counts=True)
    rows = [{**_row(event), "split_start": start, "counts": None} for event in scan.events]
    rows.append({"file": name, "split_start": start, "counts": scan.counts._asdict()})
    for first in range(0, len(rows), batch_size):
        yield pa.RecordBatch.from_pylist(rows[first : first + batch_size], schema=schema)


def event_batch(events: Sequence[LogEvent]) -> pa.RecordBatch:
    """Turn events into one batch without the columns of splits."""
    import pyarrow as pa

    return pa.RecordBatch.from_pylist([_row(event) for event in events], schema=arrow_schema(with_counts=False))


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
        exception=None
        if thrown is None
        else LoggedException(thrown["class_name"], thrown["root_class"], tuple(thrown["chain"]), thrown["fingerprint"]),
        message=row["message"],
    )


def counts_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[SplitCounts]]:
    """Gather the counts of each file's splits in their order."""
    found: dict[str, list[tuple[int, SplitCounts]]] = {}
    for row in rows:
        counts = row["counts"]
        found.setdefault(row["file"], []).append(
            (row["split_start"], SplitCounts(*(counts[name] for name in SplitCounts._fields)))
        )
    return {file: [counts for _, counts in sorted(parts, key=_start)] for file, parts in found.items()}


def _start(part: tuple[int, SplitCounts]) -> int:
    return part[0]


def _row(event: LogEvent) -> dict[str, Any]:
    thrown = event.exception
    return {
        **event._asdict(),
        "fields": list(event.fields.items()),
        "exception": None if thrown is None else thrown._asdict(),
    }
