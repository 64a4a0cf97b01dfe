"""Build a report of many events from tables: the events stay on the executors, and the driver gets bounded results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.coverage import NAMES_ONLY
from eosctl.logs.digest.histogram import MIN_EVENT_COUNT, step_of
from eosctl.logs.digest.totals import activity_of, from_json, merge_totals, to_json, total_events
from eosctl.logs.incidents.remaining.record_groups import RecordGroup
from eosctl.model.incident import Incident
from eosctl.model.log_digest import (
    Burst,
    ClockOffset,
    Histogram,
    LogDigest,
    PauseOutlook,
    Precursor,
    Template,
    Unexplained,
)
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.log_totals import Activity, EventTotals, Moment
from eosctl.model.period import Period
from spark_log_analytics import digests
from spark_log_analytics.incidents import incident_of, judge_events
from spark_log_analytics.job import in_period
from spark_log_analytics.packing import unmeasured_batches
from spark_log_analytics.rows import collected, event_of, events_of, is_problem_row
from spark_log_analytics.workers import collect_rarely

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

MOST_TEMPLATES: Final = 10_000
MOST_BURSTS: Final = 10_000
MOST_MOMENTS: Final = 1_200
"""Number of times at which the problems of an application are counted."""
QUOTED_EVIDENCE: Final = 8
QUOTED_INCIDENTS: Final = 20
"""How many incidents of a kind and cause have their records in the report, and how many records each of them has."""


class TableReport(NamedTuple):
    """A report of events that stay on the executors.

    Attributes:
        events: The evidence of the incidents that are shown in full.
        incidents: The incidents.
        groups: The records that call for action and that no incident explains.
        sources: The summaries of the files.
        recognized: The number of recognized records by file.
        totals: The totals of all events of the period.
        activity: When each application had problems.
    """

    events: tuple[LogEvent, ...]
    incidents: tuple[Incident, ...]
    groups: Sequence[RecordGroup]
    sources: Sequence[SourceSummary]
    recognized: Mapping[str, int]
    totals: EventTotals
    activity: Activity | None


def report_tables(
    everything: DataFrame,
    sources: Sequence[SourceSummary],
    event_count: int,
    period: Period,
) -> TableReport:
    """Judge events in parallel, and count them.

    Args:
        everything: The events of a scan, cached, with ``EVENT_COLUMNS``.
        sources: The summaries of their files, in scan order.
        event_count: The number of events.
        period: The time that matters; causes may be older.
    """
    judging = judge_events(everything, sources, event_count, period=period)
    try:
        incidents = tuple(incident_of(row.asDict(recursive=True)) for row in judging.incidents.collect())
    finally:
        for frame in judging.cached:
            frame.unpersist()
    within = tuple(one for one in incidents if period.touches(one.t_start_ms, one.t_end_ms))
    events = in_period(everything, period)
    totals = _totals(events, sources)
    return TableReport(
        events=_evidence(everything, within, sources),
        incidents=within,
        groups=judging.groups,
        sources=sources,
        recognized=_recognized(everything),
        totals=totals,
        activity=activity_of(totals, _moments(events, totals)),
    )


def _totals(events: DataFrame, sources: Sequence[SourceSummary]) -> EventTotals:
    with unmeasured_batches(events.sparkSession):
        rows = events.mapInArrow(_totaler([source.file for source in sources]), "totals string").collect()
    return merge_totals(from_json(row.totals) for row in rows)


def _totaler(files: Sequence[str]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def total(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        collect_rarely()
        order = {file: number for number, file in enumerate(files)}
        totals = total_events((event for batch in batches for event in events_of(batch)), order.__getitem__)
        yield pa.RecordBatch.from_arrays([pa.array([to_json(totals)], pa.string())], ["totals"])

    return total


def _recognized(events: DataFrame) -> dict[str, int]:
    from pyspark.sql import functions as f

    rows = events.where(~f.col("category").isin(*NAMES_ONLY)).groupBy("file").count().collect()
    return {row["file"]: row["count"] for row in rows}


def _evidence(
    events: DataFrame, incidents: Sequence[Incident], sources: Sequence[SourceSummary]
) -> tuple[LogEvent, ...]:
    """Return the records of the first incidents of each kind and cause, in scan order."""
    from pyspark.sql import functions as f

    shown: dict[tuple[str, str, str], int] = {}
    places: set[tuple[str, int]] = set()
    for one in incidents:
        kind = one.severity.value, one.kind, one.root_cause
        shown[kind] = shown.get(kind, 0) + 1
        if shown[kind] <= QUOTED_INCIDENTS:
            places |= {(place.file, place.offset) for place in one.evidence[:QUOTED_EVIDENCE]}
    if not places:
        return ()
    wanted = events.sparkSession.createDataFrame(sorted(places), "file string, offset long")
    rows = collected(events.join(f.broadcast(wanted), ["file", "offset"], "left_semi"))
    order = {source.file: number for number, source in enumerate(sources)}
    return tuple(sorted(map(event_of, rows), key=lambda event: (order[event.file], event.offset)))


def _moments(events: DataFrame, totals: EventTotals) -> Iterator[Moment]:
    """Count problems by application and by at most ``MOST_MOMENTS`` times."""
    from pyspark.sql import functions as f

    if totals.first_ms is None or totals.last_ms is None:
        return
    width_ms = max(1, -(-(totals.last_ms - totals.first_ms + 1) // MOST_MOMENTS))
    number = f.floor((f.col("time_ms") - totals.first_ms) / width_ms).alias("number")
    problems = events.where("time_ms is not null").where(is_problem_row())
    for row in problems.groupBy("application", number).count().orderBy("application", "number").collect():
        yield Moment(row["application"], totals.first_ms + row["number"] * width_ms, row["count"])


def _histogram(events: DataFrame, totals: EventTotals) -> Histogram | None:
    from pyspark.sql import functions as f

    first, last = totals.first_ms, totals.last_ms
    if first is None or last is None or first == last or sum(totals.by_application.values()) < MIN_EVENT_COUNT:
        return None
    step_ms = step_of(first, last)
    start_ms = first // step_ms * step_ms
    place = f.floor((f.col("time_ms") - start_ms) / step_ms).alias("place")
    counted = events.where("time_ms is not null").groupBy(place)
    rows = counted.agg(f.count("*").alias("events"), f.count(f.when(is_problem_row(), 1)).alias("problems")).collect()
    by_place = {row["place"]: row for row in rows}
    places = range((last - start_ms) // step_ms + 1)
    counts, problems = (
        tuple(by_place[place][name] if place in by_place else 0 for place in places) for name in ("events", "problems")
    )
    return Histogram(start_ms, step_ms, counts, problems)


def digest_tables(events: DataFrame, totals: EventTotals, baseline: DataFrame | None) -> LogDigest:
    """Return the digest of events.

    Args:
        events: The events of the period.
        totals: Their totals.
        baseline: The events of a healthy period; None without a comparison.
    """
    ranked = collected(digests.precursors(events))
    return LogDigest(
        templates=tuple(
            _template(row) for row in collected(digests.ranked_templates(events, baseline, MOST_TEMPLATES))
        ),
        has_baseline=baseline is not None,
        bursts=tuple(Burst(**row) for row in collected(digests.bursts(events).limit(MOST_BURSTS))),
        precursors=tuple(
            Precursor(**{name: row[name] for name in Precursor.__slots__}) for row in ranked if row["cause"]
        ),
        unexplained=tuple(
            Unexplained(row["failure"], row["unexplained_count"], row["failure_count"])
            for row in ranked
            if not row["cause"]
        ),
        pauses=tuple(PauseOutlook(**row) for row in collected(digests.pauses(events))),
        clocks=tuple(ClockOffset(**row) for row in collected(digests.clocks(events))),
        histogram=_histogram(events, totals),
    )


def _template(row: Mapping[str, Any]) -> Template:
    return Template(**{**row, "applications": tuple(row["applications"])})
