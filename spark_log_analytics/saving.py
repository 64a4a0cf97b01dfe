"""Write the tables of a scan, unless the last published run has the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eosctl.logs.files.sources import Unread
from eosctl.model.incident import Incident
from eosctl.model.log_event import SourceSummary
from eosctl.model.log_tables import table_named
from eosctl.model.period import ALL_TIME, Period
from spark_log_analytics.digests import clocks
from spark_log_analytics.entities import coordinators, fencing, groups, producers
from spark_log_analytics.job import SMALL_FILE_EVENTS, into_files
from spark_log_analytics.results import (
    Run,
    coverage_rows,
    coverage_table,
    frame_of,
    last_run_id,
    publish,
    run_id_of,
    tasks_table,
)
from spark_log_analytics.sinks import Sink, SinkError
from spark_log_analytics.tables import (
    DAY_MS,
    counted_exceptions,
    events_by_file,
    incident_evidence,
    judged_incidents,
    new_failures,
    typed_events,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Scanned(NamedTuple):
    """What a scan found.

    Attributes:
        everything: All events, cached, with ``EVENT_COLUMNS``.
        events: Those within the period.
        judged: The incidents, cached, with ``INCIDENT_COLUMNS``.
        summaries: The files that were read.
        unread: The inputs that were not.
        tasks: The costs of tasks.
    """

    everything: DataFrame
    events: DataFrame
    judged: DataFrame
    summaries: Sequence[SourceSummary]
    unread: Sequence[Unread]
    tasks: Sequence[Mapping[str, Any]] = ()


class SaveRequest(NamedTuple):
    """What a result is made of.

    Attributes:
        inputs: The paths and URLs as they were named.
        out: The directory of the result.
        period: The time that matters.
        baseline: The directory of an earlier result; None without one.
        baseline_run_id: Its last run; empty without one.
        reading: Further options that decide what is found, by name.
    """

    inputs: Sequence[str]
    out: str
    period: Period
    baseline: str | None
    baseline_run_id: str
    reading: Mapping[str, str]


def save(
    spark: SparkSession, sink: Sink, scanned: Scanned, found: Sequence[Incident], request: SaveRequest
) -> tuple[Run, bool]:
    """Write the tables of a run, and publish it last.

    Returns:
        The run, and whether it is new; if it is not, nothing was written.
    """
    by_file = events_by_file(scanned.everything)
    recognized = {file: counted.recognized_count for file, counted in by_file.items()}
    offsets_ms = {row["application"]: row["offset_ms"] for row in clocks(scanned.everything).collect()}
    coverage = coverage_rows(scanned.summaries, scanned.unread, recognized, offsets_ms)
    content = [
        request.inputs,
        request.period,
        request.reading,
        request.baseline_run_id,
        coverage,
        sorted(by_file.items()),
        found,
    ]
    is_everything = request.period == ALL_TIME
    run = Run(
        run_id=run_id_of(content),
        inputs=request.inputs,
        period_ms=(request.period.from_ms, request.period.until_ms),
        baseline_run_id=request.baseline_run_id,
        event_count=sum(one.event_count for one in by_file.values()) if is_everything else scanned.events.count(),
        incident_count=len(found),
        coverage=coverage,
    )
    if last_run_id(sink, request.out) == run.run_id:
        return run, False
    baseline = None
    if request.baseline is not None:
        baseline = sink.read(request.baseline, "events", request.baseline_run_id)
    for table, rows in _tables(spark, scanned, run, baseline).items():
        sink.write(rows, table, run.run_id)
    publish(sink, spark, run)
    return run, True


def baseline_run(sink: Sink, baseline: str | None) -> str:
    """Return the last run of a baseline; empty without a baseline.

    Raises:
        SinkError: It has no complete run.
    """
    if baseline is None:
        return ""
    if run_id := last_run_id(sink, baseline):
        return run_id
    raise SinkError(f"The baseline {baseline} has no complete run of this release. Submit its logs again.")


def _tables(spark: SparkSession, scanned: Scanned, run: Run, baseline: DataFrame | None) -> dict[str, DataFrame]:
    """Return the tables of a run by name."""
    events, run_id = scanned.events, run.run_id
    typed = typed_events(events, run_id)
    times_ms = [time_ms for one in scanned.summaries for time_ms in (one.first_ms, one.last_ms) if time_ms is not None]
    is_one_day = not times_ms or min(times_ms) // DAY_MS == max(times_ms) // DAY_MS
    small = {
        "exceptions": counted_exceptions(events, run_id),
        "incidents": judged_incidents(scanned.judged, run_id),
        "evidence": incident_evidence(scanned.judged, scanned.everything, run_id),
        "fencing": fencing(events, run_id),
        "producers": producers(events, run_id),
        "coordinators": coordinators(events, run_id),
        "groups": groups(events, run_id),
    }
    none = frame_of(spark, "new_failures", [])
    small["new_failures"] = none if baseline is None else new_failures(events, baseline, run_id)
    small["coverage"] = coverage_table(spark, run)
    small["tasks"] = tasks_table(spark, run_id, scanned.tasks)
    # Not coalesce for many events, which would also filter them in one task; not orderBy, which runs a job of its own.
    is_in_one_task = sum(one.event_count for one in scanned.summaries) <= SMALL_FILE_EVENTS
    merged = {name: rows.coalesce(1) if is_in_one_task else rows.repartition(1) for name, rows in small.items()}
    ordered = {name: rows.sortWithinPartitions(*table_named(name).order) for name, rows in merged.items()}
    # Of several days, each has its own files, which Spark cuts and joins to a good size.
    return {"events": into_files(typed, run.event_count) if is_one_day else typed.hint("rebalance", "date"), **ordered}
