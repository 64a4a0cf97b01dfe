"""Return incidents as a table, judged in parallel with ``eosctl.logs.incidents``.

Few events are judged in one task. More are divided into slices of time, with what else each of them needs
(``eosctl.logs.incidents.slicing.slices``). Slices that an incident crosses are joined and judged again. The driver
receives only counts and incidents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.incidents.remaining.record_groups import RecordGroup, from_json, merge_groups, to_json
from eosctl.logs.incidents.slicing.sliced import SliceVerdict, count_open, in_scan_order, join_open
from eosctl.logs.incidents.slicing.slices import JOINED_EVENTS, SLICE_EVENTS, WHOLE, TimeSlice, plan_slices
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import SourceSummary
from eosctl.model.period import Period
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text
from spark_log_analytics.packed_sources import PackedSources
from spark_log_analytics.packing import unmeasured_batches
from spark_log_analytics.rows import events_of
from spark_log_analytics.slices import Batches, Divided, count_by_time, divide, judge_each, judge_whole, timed_frame
from spark_log_analytics.workers import collect_rarely

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

INCIDENT_COLUMNS: Final = (
    "kind string, root_cause string, severity string, confidence double, subject map<string,array<string>>, "
    "subject_lists array<string>, t_start_ms long, t_end_ms long, "
    "evidence array<struct<file:string,offset:long,line:long>>, "
    "explanation string, next_step string"
)
"""The columns of incidents; ``subject_lists`` names the subject's fields that are lists even with one value."""
_JUDGED: Final = (
    f"{INCIDENT_COLUMNS}, place string, slice long, is_open_before boolean, is_open_after boolean, "
    "has_other_clock boolean, event_count long, incident_count long, cpu_s double, peak_mb double, groups string"
)
"""The same with the slice; a row without a kind is the cost of its slice."""


class Judging(NamedTuple):
    """The incidents of a scan, and the slices that were judged with their costs.

    Attributes:
        incidents: Rows of ``INCIDENT_COLUMNS``, earliest first.
        slices: The slices and their costs in order of time; empty if one task judges all events when it is first read.
        cached: Frames to unpersist when the incidents have been read.
        planned_count: The number of slices before some were joined.
        groups: The records that call for action and that no incident explains, if they were to be grouped.
        open_count: The number of borders that an incident may cross, between slices that are too large to join.
    """

    incidents: DataFrame
    slices: Sequence[tuple[TimeSlice, SliceCost]] = ()
    cached: Sequence[DataFrame] = ()
    planned_count: int = 1
    groups: Sequence[RecordGroup] = ()
    open_count: int = 0


class SliceCost(NamedTuple):
    """The cost of a slice: the events that it got, its incidents, its processor time, and its worker's peak memory."""

    event_count: int
    incident_count: int
    cpu_s: float
    peak_mb: float


def incidents(events: DataFrame, sources: Sequence[SourceSummary] = ()) -> DataFrame:
    """Return the incidents of a scan as rows of ``INCIDENT_COLUMNS``, earliest first; see ``judge_events``."""
    return judge_events(events, sources).incidents


def judge_events(
    events: DataFrame,
    sources: Sequence[SourceSummary] = (),
    event_count: int | None = None,
    slice_events: int = SLICE_EVENTS,
    period: Period | None = None,
) -> Judging:
    """Judge the events of a scan, with lines numbered or not.

    Args:
        events: Rows with ``EVENT_COLUMNS``; other columns are ignored. They are read several times if they are many.
        sources: The summaries of the same files in scan order; they show when a server without relevant records was
            last alive.
        event_count: The number of events if it is known.
        slice_events: The number of events that a task judges, without those around them.
        period: The period whose unexplained records are grouped; None for no groups.

    Returns:
        The incidents that ``judge_incidents`` returns for the same scan.
    """
    if event_count is None or event_count > slice_events:
        counts = count_by_time(events)
        slices = plan_slices(counts.by_bucket, slice_events)
        if len(slices) > 1:
            timed = timed_frame(events, sources) if counts.untimed_count else events
            return _judge_slices(events, timed, sources, slices, period)
    if period is not None:
        return _judge_slices(events, events, sources, (WHOLE,), period)
    # Not coalesce, which would also run the scan before it in one task.
    return Judging(events.repartition(1).mapInArrow(_judge_all(sources), INCIDENT_COLUMNS))


def explain_judging(judging: Judging, *, in_detail: bool = False) -> Iterator[str]:
    """Yield how events were divided for their verdict: a line, and in detail one for each slice."""
    if not judging.slices:
        return
    costs = [cost for _, cost in judging.slices]
    given = [cost.event_count for cost in costs]
    joined = f" (planned: {judging.planned_count})" if len(costs) != judging.planned_count else ""
    yield (
        f"Judged in {count_text(len(costs), 'slice')} of time{joined} with {min(given):,} to {max(given):,} events; "
        f"{sum(cost.cpu_s for cost in costs):,.1f} s of processor, at most "
        f"{max(cost.peak_mb for cost in costs):,.0f} MB in a worker."
    )
    if judging.open_count:
        yield (
            f"Incidents may cross {count_text(judging.open_count, 'border')} between slices that are too large to join "
            f"(more than {JOINED_EVENTS:,} events together). They are reported up to four hours after the border."
        )
    for one, cost in judging.slices if in_detail else ():
        bounds = (time_text(int(ms)) if isfinite(ms) else "-" for ms in one)
        yield (
            f"  {' to '.join(bounds)}: {count_text(cost.event_count, 'event')}, "
            f"{count_text(cost.incident_count, 'incident')}, {cost.cpu_s:.1f} s, {cost.peak_mb:,.0f} MB"
        )


def _judge_all(summaries: Sequence[SourceSummary]) -> Callable[[Batches], Batches]:
    packed = PackedSources(summaries)

    def judge(batches: Batches) -> Batches:
        collect_rarely()
        sources = packed.unpack()
        found = in_scan_order((event for batch in batches for event in events_of(batch)), sources)
        judged = judge_incidents(found, sources)
        if judged:
            yield batch_of_rows([_row(one) for one in judged], _arrow_schema())

    return judge


def _judge_slices(
    events: DataFrame,
    timed: DataFrame,
    sources: Sequence[SourceSummary],
    slices: Sequence[TimeSlice],
    period: Period | None,
) -> Judging:
    """Judge slices, and again those that an incident crosses, until none does."""
    current = tuple(slices)
    groups: dict[TimeSlice, str] = {}
    known: dict[TimeSlice, SliceCost] = {}
    cached: list[DataFrame] = []
    frames: list[tuple[DataFrame, tuple[TimeSlice, ...]]] = []
    verdicts: dict[TimeSlice, SliceVerdict] = {}
    divided: Divided | None = None
    while new := tuple(one for one in current if one not in verdicts):
        # A cached frame has the settings of the moment when it is made.
        with unmeasured_batches(events.sparkSession):
            if new == (WHOLE,):
                rows = events.repartition(1).mapInArrow(_judge(sources, new, period), _JUDGED).persist()
                costs = rows.where("kind is null").collect()
            else:
                # Joined slices get the rows of their parts; dividing anew would read all events again.
                divided = divided or divide(timed, sources, new)
                rows = (
                    divided.rows_of(new)
                    .repartition(len(new), "slice")
                    .sortWithinPartitions("slice")
                    .mapInArrow(_judge(sources, new, period), _JUDGED)
                    .persist()
                )
                costs = rows.where("kind is null").collect()
        cached.append(rows)
        frames.append((rows, new))
        for row in costs:
            one = new[row.slice]
            verdicts[one] = SliceVerdict(
                (), row.is_open_before, row.is_open_after, row.has_other_clock, event_count=row.event_count
            )
            known[one] = SliceCost(row.event_count, row.incident_count, row.cpu_s, row.peak_mb)
            groups[one] = row.groups or "[]"
        for one in new:
            verdicts.setdefault(one, SliceVerdict(()))
            known.setdefault(one, SliceCost(0, 0, 0.0, 0.0))
        current = join_open(current, verdicts)
    if divided is not None:
        divided.frame.unpersist()
    kept = [_incidents_of(rows, [new.index(one) for one in current if one in new]) for rows, new in frames]
    table = reduce(lambda one, other: one.unionByName(other), kept).orderBy("place").drop("place")
    found = merge_groups(group for one in current if one in groups for group in from_json(groups[one]))
    costs_of = tuple((one, known[one]) for one in current)
    return Judging(
        incidents=table,
        slices=costs_of,
        cached=tuple(cached),
        planned_count=len(slices),
        groups=found,
        open_count=count_open(current, verdicts),
    )


def _incidents_of(rows: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Return the incidents of some slices, with the place in the order of all."""
    columns = [*_arrow_schema().names, "place"]
    return rows.where("kind is not null").where(rows["slice"].isin(list(numbers))).select(*columns)


def _judge(
    summaries: Sequence[SourceSummary], slices: Sequence[TimeSlice], period: Period | None
) -> Callable[[Batches], Batches]:
    """Return the function that judges slices: it yields their incidents, and a row with the cost of each slice."""
    packed = PackedSources(summaries)

    def judge(batches: Batches) -> Batches:
        collect_rarely()
        sources = packed.unpack()
        schema = _judged_schema()
        each = (
            judge_whole(batches, sources, period)
            if slices == (WHOLE,)
            else judge_each(batches, sources, slices, period)
        )
        for number, judged in each:
            found = judged.verdict.incidents
            rows = [{**_row(one), "slice": number, "place": _place(one)} for one in found]
            cost = {
                "slice": number,
                "is_open_before": judged.verdict.is_open_before,
                "is_open_after": judged.verdict.is_open_after,
                "has_other_clock": judged.verdict.has_other_clock,
                "event_count": judged.event_count,
                "incident_count": len(found),
                "cpu_s": judged.cpu_s,
                "peak_mb": judged.peak_mb,
                "groups": to_json(judged.verdict.groups) if judged.verdict.groups else None,
            }
            yield batch_of_rows([*rows, cost], schema)

    return judge


def _place(one: Incident) -> str:
    """Return a text whose order is that of ``judge_incidents``."""
    return f"{one.t_start_ms + (1 << 62):020d}\0{one.kind}\0{one.subject}"


def incident_of(row: Mapping[str, Any]) -> Incident:
    """Turn a collected row back into an incident."""
    lists = frozenset(row["subject_lists"])
    return Incident(
        kind=row["kind"],
        root_cause=row["root_cause"],
        severity=Severity(row["severity"]),
        confidence=row["confidence"],
        subject={name: tuple(values) if name in lists else values[0] for name, values in row["subject"].items()},
        t_start_ms=row["t_start_ms"],
        t_end_ms=row["t_end_ms"],
        evidence=tuple(EvidenceLine(place["file"], place["offset"], place["line"]) for place in row["evidence"]),
        explanation=row["explanation"],
        next_step=row["next_step"],
    )


def _row(one: Incident) -> dict[str, Any]:
    subject = [(name, [value] if isinstance(value, str) else list(value)) for name, value in one.subject.items()]
    return {
        **one._asdict(),
        "severity": one.severity.value,
        "subject": subject,
        "subject_lists": [name for name, value in one.subject.items() if not isinstance(value, str)],
        "evidence": one.evidence,
    }


def _arrow_schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    return pa.schema(
        [
            *((name, text) for name in ("kind", "root_cause", "severity")),
            *(("confidence", pa.float64()), ("subject", pa.map_(text, pa.list_(text)))),
            *(("subject_lists", pa.list_(text)), ("t_start_ms", number), ("t_end_ms", number)),
            ("evidence", pa.list_(pa.struct([("file", text), ("offset", number), ("line", number)]))),
            *(("explanation", text), ("next_step", text)),
        ]
    )


def _judged_schema() -> pa.Schema:
    import pyarrow as pa

    flags = [(name, pa.bool_()) for name in ("is_open_before", "is_open_after", "has_other_clock")]
    counts = [(name, pa.int64()) for name in ("event_count", "incident_count")]
    costs = [("cpu_s", pa.float64()), ("peak_mb", pa.float64())]
    places = [("place", pa.string()), ("slice", pa.int64())]
    return pa.schema([*_arrow_schema(), *places, *flags, *counts, *costs, ("groups", pa.string())])
