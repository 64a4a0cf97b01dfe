"""Read from clients' own records where a consumer continued, and which broker coordinates its group.

librdkafka logs the position that it resets to (``to offset END``). The Java client logs the old position and the new
one. It connects to a group's coordinator under an id of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.roles import coordinating_node
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import LogEvent

_OUT_OF_RANGE: Final = "offset_out_of_range"
NOT_REACHED: Final = "coordinator-not-reached"
"""The cause of a client that cannot connect to its coordinator, while it reaches other brokers."""
_OF_COORDINATORS: Final = frozenset({"consumer_offsets_timeout", "coordinator_unavailable"})
_NEAR_MS: Final = 120_000
_COORDINATOR: Final = re.compile(r"\bcoordinator (?P<address>[\w.-]{1,253}:\d{1,5}) \(id: (?P<id>\d{1,10}) rack: ")
_OF_LIBRDKAFKA: Final = re.compile(r"\bcoordinator \((?P<address>[\w.-]{1,253}:\d{1,5})/(?P<id>\d{1,10})\)")
_UNREACHED: Final = re.compile(r"\bConnection to node (?P<id>\d{1,10}) [^\n]{0,400}could not be established")
_NO_COORDINATOR: Final = re.compile(r"(?:has )?found no usable coordinator")
_OLD: Final = re.compile(
    r"FetchPosition\{offset=(?P<old>\d+)[^\n]{0,600}? is out of range for partition (?P<name>\S+?),"
)
_NEW: Final = re.compile(r"Resetting offset for partition (?P<name>\S+) to position FetchPosition\{offset=(?P<new>\d+)")
_PASSED_OVER: Final = "the records before that which it had not read are passed over"
_MEANINGS: Final = {
    "END": f"It continued at the end of the log: {_PASSED_OVER}.",
    "BEGINNING": "It continued at the first record that the log has.",
}
_OPEN_TEXT: Final = re.compile(
    r" auto\.offset\.reset decides what a consumer reads next(?: \([^)]*\))?, so records are [^.]*\."
)


def read_outcomes(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents of consumers with the position at which they continued, or the broker that they waited for."""
    for one in incidents:
        if one.kind == _OUT_OF_RANGE:
            yield _with_partitions(timeline, _with_position(timeline, one))
        elif one.kind in _OF_COORDINATORS:
            yield _with_coordinator(timeline, one)
        else:
            yield one


def _with_position(timeline: LogTimeline, one: Incident) -> Incident:
    events = timeline.evidence(one)
    targets = {target for event in events if (target := event.fields.get("reset_to"))}
    if not targets:
        return _with_positions_of_java(timeline, one, events)
    if len(targets) > 1:
        return one
    return one._replace(explanation=_OPEN_TEXT.sub(f" {_MEANINGS[targets.pop()]}", one.explanation, count=1))


def _with_positions_of_java(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Incident:
    old = {found["name"]: int(found["old"]) for event in events if (found := _OLD.search(event.message))}
    if not old:
        return one
    last = max(events, key=time_of)
    resets = timeline.log_between(last, one.t_start_ms, one.t_end_ms + _NEAR_MS, ("OFFSET_RESET",))
    new = {
        found["name"].rstrip("."): (int(found["new"]), event)
        for event in resets
        if (found := _NEW.search(event.message))
    }
    both = [(name, start, *new[name]) for name, start in old.items() if name in new]
    if len(both) != len(old):
        return one
    if all(target > start for _, start, target, _ in both):
        text = f"It continued at a later offset: {_PASSED_OVER}."
    elif all(target < start for _, start, target, _ in both):
        text = "It continued at an earlier offset: records are read again."
    else:
        return one
    named = ", ".join(f"{name} from {start} to {target}" for name, start, target, _ in both[:3])
    places = (EvidenceLine(event.file, event.offset, event.line) for *_, event in both)
    return one._replace(
        explanation=_OPEN_TEXT.sub(f" {text} ({named})", one.explanation, count=1),
        evidence=tuple(dict.fromkeys((*one.evidence, *places)))[:MAX_EVIDENCE_COUNT],
    )


def _with_partitions(timeline: LogTimeline, one: Incident) -> Incident:
    names = sorted({name for event in timeline.evidence(one) if (name := event.fields.get("partition"))})
    if len(names) < 2 or one.subject.get("topic-partition"):
        return one
    text = one.explanation.replace(" in a partition ", f" in {len(names)} partitions ", 1)
    return one._replace(
        subject={**one.subject, "topic-partitions": tuple(names[:MAX_EVIDENCE_COUNT])},
        explanation=re.sub(r" in a partition of (\S+) ", rf" in {len(names)} partitions of \1 ", text, count=1),
    )


def _with_coordinator(timeline: LogTimeline, one: Incident) -> Incident:
    events = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not events:
        return one
    group = one.subject.get("group", "")
    first = min(events, key=time_of)
    near = timeline.log_between(first, one.t_start_ms - _NEAR_MS, one.t_end_ms, ("COORDINATOR_UNAVAILABLE",))
    own = [event for event in (*near, *events) if event.fields.get("group", group) == group]
    found = {named: event for event in own if (named := _coordinator_in(event.message))}
    if len(found) != 1:
        return one
    (address, node), event = next(iter(found.items()))
    if not node:
        return one
    # A client that found another coordinator meanwhile did not use the one that it had lost.
    later = timeline.log_between(first, time_of(event), one.t_start_ms, ("COORDINATOR_DISCOVERED",))
    own_later = [found for found in later if found.fields.get("group", group) == group]
    if own_later and (named := _coordinator_in(own_later[-1].message)) and named[1]:
        (address, node), event = named, own_later[-1]
    text = one.explanation
    with_coordinator = one._replace(
        subject={**one.subject, "coordinator": node},
        explanation=f"{text} The coordinator that it used is broker {node} ({address}).",
        evidence=joined_evidence(one.evidence, evidence_of([event])),
    )
    failed = {coordinating_node(match["id"]) for event in own if (match := _UNREACHED.search(event.message))}
    if node not in failed:
        return with_coordinator
    return with_coordinator._replace(
        root_cause=NOT_REACHED,
        explanation=_NO_COORDINATOR.sub(f"could not reach its coordinator (broker {node} at {address})", text, count=1),
        next_step=f"Check that broker {node} runs and is reachable at {address}. If it is down, another broker "
        "coordinates the group only where its partition of __consumer_offsets has a second in-sync replica.",
    )


def _coordinator_in(message: str) -> tuple[str, str] | None:
    """Return the address and the broker's id of a group's coordinator in the words of a client; None without one.

    >>> _coordinator_in("Heartbeat failed due to coordinator (10.0.0.3:9092/3) no longer available")
    ('10.0.0.3:9092', '3')
    """
    if found := _COORDINATOR.search(message):
        return found["address"], coordinating_node(found["id"])
    found = _OF_LIBRDKAFKA.search(message)
    return (found["address"], found["id"]) if found else None
