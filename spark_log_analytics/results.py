"""Publish the tables of a run, last of all its name, and read the tables of the last published run.

The id of a run is a fingerprint of its rows and options. So the same input gives the same run, which is not written
again, and a run that was killed is overwritten by the next one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl import __version__
from eosctl.logs.coverage import measure_counted
from eosctl.logs.files.partitions import partitions_of
from eosctl.logs.files.sources import Unread
from eosctl.model.log_event import SourceSummary
from eosctl.model.log_findings import Recognition
from eosctl.model.log_tables import LOG_TABLES, PUBLISHED, TABLES_VERSION, columns_of, schema_of
from spark_log_analytics.outcome import job_errors
from spark_log_analytics.rows import collected
from spark_log_analytics.sinks import Sink
from spark_log_analytics.storage_problems import storage_problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STATUS: Final = {
    Recognition.MOST: "read",
    Recognition.LITTLE: "little",
    Recognition.NONE: "unrecognized",
    Recognition.EMPTY: "empty",
}
"""The status of a file that was read to its end, in the table of coverage."""
INCOMPLETE: Final = frozenset({"failed", "partial", "unrecognized", "little"})
"""The status of inputs that may hide an incident."""
_ABSENT: Final = (
    *("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST"),
    *("NoSuchTableException", "does not exist", "UNABLE_TO_INFER_SCHEMA"),
)
"""The signs of errors if a table has not been written yet."""


class Run(NamedTuple):
    """A complete run.

    Attributes:
        run_id: Its id.
        inputs: The paths and URLs as they were named.
        period_ms: The period, from and until; None for an open side.
        baseline_run_id: The run of the baseline; empty without one.
        event_count: The number of events.
        incident_count: The number of incidents.
        coverage: The rows of the table ``coverage``, without the run.
    """

    run_id: str
    inputs: Sequence[str]
    period_ms: tuple[int | None, int | None]
    baseline_run_id: str
    event_count: int
    incident_count: int
    coverage: Sequence[Mapping[str, Any]]


def coverage_rows(
    summaries: Sequence[SourceSummary],
    unread: Sequence[Unread],
    recognized: Mapping[str, int],
    offsets_ms: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return a row for each input, without its run.

    Args:
        summaries: The files that were read.
        unread: The inputs that were not.
        recognized: The number of recognized events by file.
        offsets_ms: The offset of each application's clock to that of the coordinators, milliseconds.
    """
    rows: list[dict[str, Any]] = []
    for source, found in zip(summaries, measure_counted(summaries, recognized), strict=True):
        counts = ("size_bytes", "event_count", "unmatched_line_count", "truncated_count", "undecodable_count")
        rows.append(
            {
                "file": source.file,
                "status": "partial" if source.error else STATUS[found.recognition],
                "reason": source.error,
                "application": source.application,
                "layout": source.layout,
                **{name: getattr(source, name) for name in counts},
                "first_at": _time(source.first_ms),
                "last_at": _time(source.last_ms),
                "modified_at": _time(source.modified_ms or None),
                "clock_offset_ms": offsets_ms.get(source.application),
            }
        )
    rows += [
        {"file": one.name, "status": "failed" if one.is_failure else "skipped", "reason": one.reason} for one in unread
    ]
    return [{**row, "partitions": partitions_of(row["file"])} for row in rows]


def run_id_of(content: Sequence[object]) -> str:
    """Return the id of a run with a content: 16 hexadecimal digits.

    >>> run_id_of(["a"]) == run_id_of(["a"]) != run_id_of(["b"])
    True
    """
    text = json.dumps([TABLES_VERSION, __version__, *content], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def coverage_table(spark: SparkSession, run: Run) -> DataFrame:
    """Return the table ``coverage`` of a run."""
    return frame_of(spark, "coverage", [{"run_id": run.run_id, **row} for row in run.coverage])


def tasks_table(spark: SparkSession, run_id: str, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return the table ``tasks`` of a run."""
    return frame_of(spark, "tasks", [{"run_id": run_id, **row} for row in rows])


def publish(sink: Sink, spark: SparkSession, run: Run) -> None:
    """Make a run visible; all its other tables are written."""
    unread = sum(row["status"] in INCOMPLETE for row in run.coverage)
    row = {
        "run_id": run.run_id,
        "published_at": datetime.now(UTC),
        "eosctl_version": __version__,
        "tables_version": TABLES_VERSION,
        "inputs": list(run.inputs),
        "period_start": _time(run.period_ms[0]),
        "period_end": _time(run.period_ms[1]),
        "baseline_run_id": run.baseline_run_id or None,
        "file_count": len(run.coverage),
        "unread_count": unread,
        "event_count": run.event_count,
        "incident_count": run.incident_count,
        "is_complete": unread == 0,
    }
    sink.append(frame_of(spark, PUBLISHED, [row]), PUBLISHED)


def last_run(sink: Sink, out: str) -> dict[str, Any] | None:
    """Return the row of the last published run of a result, in the table of runs; None if it has none."""
    try:
        found = collected(sink.read(out, PUBLISHED))
    except job_errors() as error:
        if _is_absent(error):
            return None
        raise
    return max(found, key=lambda run: run["published_at"], default=None)


def _is_absent(error: Exception) -> bool:
    """Return whether an error reports that a table has not been written."""
    text = str(error)
    # That a bucket "does not exist" is a problem, not an empty result.
    return storage_problem(text) is None and any(sign in text for sign in _ABSENT)


def last_run_id(sink: Sink, out: str) -> str:
    """Return the id of the last published run of a result; empty if it has none."""
    run = last_run(sink, out)
    return "" if run is None else str(run["run_id"])


def open_result(spark: SparkSession, out: str) -> dict[str, Any] | None:
    """Create a temporary view for each table of the last published run, under the table's name.

    Returns:
        The row of the run in the table ``published``; None if the result has no run in Parquet or JSON.
    """
    sink, run = Sink(spark, "parquet", out), None
    try:
        run = last_run(sink, out)
    except job_errors() as error:
        if storage_problem(str(error)) is not None:
            raise
        sink = Sink(spark, "json", out)
        run = last_run(sink, out)
    if run is None:
        return None
    for table in LOG_TABLES:
        run_id = "" if table.name == PUBLISHED else run["run_id"]
        try:
            sink.read(out, table.name, run_id).createOrReplaceTempView(table.name)
        except job_errors() as error:
            if not (table.is_later and _is_absent(error)):
                raise
            spark.createDataFrame([], schema_of(table.name)).createOrReplaceTempView(table.name)
    return run


def frame_of(spark: SparkSession, table: str, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return a small table of rows by name of column."""
    values = [tuple(row.get(name) for name, _ in columns_of(table)) for row in rows]
    return spark.createDataFrame(values, schema_of(table)).coalesce(1)


def _time(time_ms: int | None) -> datetime | None:
    try:
        return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None  # a year that no calendar has
