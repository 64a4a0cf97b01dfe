"""The timeline of a diagnosis: transactions of reported ids, open transactions, and incidents of logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from eosctl.analysis.log_order import place_by_offset
from eosctl.analysis.open_marks import judged_open
from eosctl.analysis.timeline import MAX_LANES, Focus, Sources, build_timeline, foremost
from eosctl.findings.finding import Finding
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.incident import Incident
from eosctl.model.log_evidence import LoggedIncident
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import Lane, LaneKind, Mark, Timeline, Tone

_AT_FAULT: Final = frozenset({HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE, HangStatus.LONG_RUNNING})
_OWNERS: Final = (
    ("transactional.id", LaneKind.PRODUCER),
    ("application.id", LaneKind.PRODUCER),
    ("group", LaneKind.CONSUMER),
    ("broker", LaneKind.BROKER),
    ("controller", LaneKind.BROKER),
    ("topic-partition", LaneKind.BROKER),
)
_Place = tuple[LaneKind, str]


def build_diagnosis_timeline(
    snapshot: ClusterSnapshot, findings: Iterable[Finding], verdicts: Iterable[HangVerdict] = ()
) -> Timeline | None:
    """Build the lanes of a diagnosis; None if no finding has a time.

    Args:
        snapshot: The evidence.
        findings: The findings, which name the relevant transactional ids.
        verdicts: Open transactions; problematic ones are shown from their start, or else their newest record, to the
            capture.
    """
    ids = {str(value) for one in findings for name, value in one.facts if name == "transactional_id" and value}
    history = tuple(entry for entry in snapshot.transaction_history if entry.transactional_id in ids)
    known = build_timeline(Focus(), Sources(replace(snapshot, transaction_history=history)), most_lanes=None)
    lanes: dict[_Place, list[Mark]] = defaultdict(list)
    for lane in known.lanes:
        lanes[lane.kind, lane.name] += lane.marks
    opened = tuple(judged_open(verdicts, snapshot, _AT_FAULT))
    places = ((LaneKind.BROKER, str(one.partition)) for one in opened)
    in_order = zip(places, place_by_offset([one.mark for one in opened]), strict=True)
    for place, mark in (*in_order, *_logged(snapshot.logged_incidents)):
        lanes[place].append(mark)
    if not lanes:
        return None
    marks = [mark for found in lanes.values() for mark in found]
    begin = min(mark.at_ms for mark in marks)
    end = max(mark.at_ms if mark.until_ms is None else mark.until_ms for mark in marks)
    every = [Lane(*place, tuple(sorted(found, key=lambda mark: mark.order))) for place, found in lanes.items()]
    shown = foremost(every, MAX_LANES)
    left_out = len(every) - len(shown)
    notes = (f"{left_out:,} more lanes are not shown; eosctl timeline narrows them down.",) if left_out else ()
    return Timeline("what was found", begin, end, shown, (*known.notes, *notes))


def _logged(incidents: Iterable[LoggedIncident]) -> Iterator[tuple[_Place, Mark]]:
    for one in incidents:
        incident = one.incident
        tone = Tone.PLAIN if incident.severity is Severity.INFO else Tone.WARNING
        until = incident.t_end_ms if incident.t_end_ms > incident.t_start_ms else None
        source = one.records[0].place if one.records else ""
        yield (
            _lane_of(incident),
            Mark(incident.t_start_ms, until, f"{incident.kind}: {incident.explanation}", tone, source),
        )


def _lane_of(incident: Incident) -> _Place:
    """Return the lane of an incident; a transactional id or partition shares that of its transactions."""
    for name, kind in _OWNERS:
        value = incident.subject.get(name)
        if isinstance(value, str) and value:
            prefix = {"group": "group ", "broker": "broker ", "controller": "node "}.get(name, "")
            return kind, f"{prefix}{value}"
    return LaneKind.BROKER, "cluster"
