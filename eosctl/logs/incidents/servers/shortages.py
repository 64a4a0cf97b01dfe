"""Detect partitions that could not be written during outages: they had fewer in-sync replicas than they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from math import inf
from typing import Final

from eosctl.logs.incidents.explained import CERTAIN
from eosctl.logs.incidents.servers.coordinators import has_other_coordinator
from eosctl.logs.incidents.servers.outages import Outage, first_of_each
from eosctl.logs.incidents.servers.quorum import FAILOVER_MS
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, evidence_of, incident
from eosctl.logs.incidents.timeline.index import Intervals, last_before, within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import episodes, time_of
from eosctl.logs.incidents.timeline.trouble import FELT
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, is_problem
from eosctl.text import name_some, time_text

SHORTAGE_GAP_MS = 30_000
SHORTAGE_MIN_MS = 3_000
FELT_MS = 60_000
"""Default of max.block.ms and of many other limits: a client reports a shortage this long after its last refusal."""
_OF_REFUSALS: Final = "fewer-replicas-in-sync-than-min-isr"
_OUT_OF_SYNC: Final = "replicas-out-of-sync"
"""The cause where replicas left the ISR and no record shows that their brokers were down."""
WITHOUT_CAUSE: Final = frozenset({_OF_REFUSALS, _OUT_OF_SYNC})
"""Causes without a record of brokers that were down."""
NAMED_PARTITIONS: Final = 10
"""Maximum number of partitions that a subject names; of more, it names the topics."""
LEFT_MS = 3_600_000
"""Maximum time between the loss of a replica and the first write that was refused for it."""
_RESTART: Final = "Restart the brokers."
_CATCH_UP: Final = (
    "Find which replicas are out of sync, and whether their brokers run: no log here shows one that is down. A broker "
    "that runs may be slow, or cut off from the leader."
)
_STATES: Final = "__transaction_state"
_REFUSALS: Final[tuple[EventCategory, ...]] = ("TXN_LOG_APPEND_FAILED", "COORDINATOR_UNAVAILABLE")
MOMENT_MS: Final = 5_000
_THEN: Final = " Waiting transactions then end by themselves; those that timed out were aborted."


def find_shortages(timeline: LogTimeline, outages: Sequence[Outage]) -> Iterator[Incident]:
    """Yield the periods in which partitions had fewer in-sync replicas than min.insync.replicas."""
    events = timeline.of("NOT_ENOUGH_REPLICAS")
    order = {id(outage): place for place, outage in enumerate(outages)}
    brokers_away = Intervals(
        (outage.down_ms - SHORTAGE_GAP_MS, _back_ms(outage) + FAILOVER_MS, outage)
        for outage in outages
        if outage.is_broker
    )
    for episode in _without_return(timeline, episodes(events, SHORTAGE_GAP_MS)):
        start, end = time_of(episode[0]), time_of(episode[-1])
        away = sorted(brokers_away.touching(start, end), key=lambda outage: order[id(outage)])
        # A broker that returned earlier may still have to catch up; a broker that was down is the likelier cause.
        away = [outage for outage in away if (outage.up_ms or end) >= start] or away
        crashed = [outage for outage in away if not outage.planned]
        if not crashed and end - start < SHORTAGE_MIN_MS:
            continue
        # A rolling restart does not leave partitions below min.insync.replicas for long; this shortage lasted.
        causes = crashed or _away_together(away)
        brokers = tuple(sorted({outage.node for outage in causes or away}))
        shrunk = within(timeline.of("ISR_SHRINK"), start - SHORTAGE_GAP_MS, end)
        alone = [event for event in shrunk if "," not in event.fields.get("isr_after", ",")]
        topics = sorted({topic for event in (*episode, *alone) if (topic := _topic(event))})
        partitions = {partition for event in (*episode, *alone) if (partition := event.fields.get("partition"))}
        only = next(iter(partitions)) if len(partitions) == 1 else ""
        what = only or f"Partitions of {', '.join(topics) or 'some topics'}"
        felt = [event for event in within(timeline.client_events(*FELT), start, end + FELT_MS) if is_problem(event)]
        refused = _refused_ids(timeline, start, end) if topics == [_STATES] else frozenset()
        if topics == [_STATES]:
            node = timeline.node_of(episode[0].application) if episode[0].application in timeline.servers() else ""
            felt = [event for event in felt if _waits_for(timeline, event, refused, node)]
        left = () if brokers else _left_before(timeline, partitions, start)
        # The requests of these clients wait for a coordinator that cannot write.
        waiting = {name for event in felt if (name := timeline.transactional_id(event))}
        ids = (refused or waiting) if topics == [_STATES] else set()
        lost_ms = (*(outage.down_ms for outage in causes), *map(time_of, left))
        yield incident(
            "not_enough_replicas",
            "brokers-down-below-min-isr" if brokers else _OUT_OF_SYNC if left else _OF_REFUSALS,
            {
                "transactional.id": next(iter(ids)) if len(ids) == 1 else "",
                "transactional.ids": tuple(sorted(ids))[:NAMED_PARTITIONS] if len(ids) > 1 else (),
                "brokers": brokers,
                "out-of-sync": _nodes_that_left(one for last in left for one in _in_a_row(timeline, last)),
                "topics": tuple(topics),
                "topic-partition": only,
                "topic-partitions": tuple(sorted(partitions)) if 1 < len(partitions) <= NAMED_PARTITIONS else (),
            },
            [
                *left,
                *episode,
                *(event for outage in causes for event in outage.events if time_of(event) <= end + FELT_MS),
                *first_of_each(timeline, felt),
                *first_of_each(timeline, felt[::-1]),
            ],
            f"{what} had fewer in-sync replicas than min.insync.replicas"
            + (f": {name_some('broker', brokers)} down." if brokers else f"{_lost_replicas(timeline, left)}.")
            + _expired(felt),
            (_RESTART if brokers else _CATCH_UP) + (_THEN if any(map(_is_transactional, (*episode, *felt))) else ""),
            confidence=0.95 if crashed else 0.9 if causes else 0.8 if left else 0.6,
            # A broker that has long been down was not missed before.
            t_start_ms=min([start, *(ms for ms in lost_ms if start - ms <= LEFT_MS)]),
            t_end_ms=max([end, *map(time_of, felt)]),
        )


def _refused_ids(timeline: LogTimeline, start_ms: int, end_ms: int) -> frozenset[str]:
    """Return the transactional ids whose requests coordinators refused in a period, as their logs name them."""
    near = within(timeline.server_events(*_REFUSALS), start_ms - MOMENT_MS, end_ms + MOMENT_MS)
    return frozenset(name for event in near if (name := event.fields.get("transactional_id")))


def _waits_for(timeline: LogTimeline, event: LogEvent, refused: Set[str], node: str) -> bool:
    """Return whether a client's record may be about a coordinator that refuses some ids on a node."""
    name = timeline.transactional_id(event)
    return not (name and refused and name not in refused) and not has_other_coordinator(timeline, event, node)


def _without_return(timeline: LogTimeline, found: Iterable[Sequence[LogEvent]]) -> Iterator[Sequence[LogEvent]]:
    """Yield episodes of refusals; those of one partition whose replicas did not come back in between are one.

    A producer retries seldom once it backs off, so the refusals of one shortage can be minutes apart.
    """
    current: list[LogEvent] = []
    for episode in found:
        if current and not _lasts(timeline, current, episode):
            yield current
            current = []
        current.extend(episode)
    if current:
        yield current


def _lasts(timeline: LogTimeline, before: Sequence[LogEvent], after: Sequence[LogEvent]) -> bool:
    """Return whether a partition's replicas had left the ISR before some refusals, and not come back before others."""
    partitions = {event.fields.get("partition", "") for event in (*before, *after)}
    if len(partitions) > 1:
        return False
    left = _left_before(timeline, partitions, time_of(before[0]))
    return bool(left) and left == _left_before(timeline, partitions, time_of(after[0]))


def name_lagging(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a shortage that only refused writes show gets the brokers whose replicas had left the ISR."""
    for one in incidents:
        partition = one.subject.get("topic-partition", "")
        is_open = one.kind == "not_enough_replicas" and one.root_cause == _OF_REFUSALS
        names = (partition,) if is_open and isinstance(partition, str) and partition else ()
        left = _left_before(timeline, names, one.t_start_ms)
        nodes = _nodes_that_left(left)
        if not nodes:
            yield one
            continue
        named = name_some("broker", nodes)
        yield one._replace(
            subject={**one.subject, "out-of-sync": nodes},
            evidence=tuple(dict.fromkeys((*evidence_of(left), *one.evidence)))[:MAX_EVIDENCE_COUNT],
            explanation=f"{one.explanation} The replicas on {named} left its ISR at "
            f"{time_text(time_of(min(left, key=time_of)))}.",
            next_step=f"Find why {named} fell behind or stopped: whether they run, their disks, network, and their "
            "logs of this time. Writes are accepted again when enough replicas have caught up.",
        )


def lost_replicas(timeline: LogTimeline, one: Incident) -> tuple[str, ...]:
    """Return the brokers that were down or had left the ISR of the partitions of a shortage."""
    named = one.subject.get("topic-partition", "")
    partitions = {event.fields.get("partition", "") for event in timeline.evidence(one)} - {""}
    if named:
        partitions = {named} if isinstance(named, str) else set(named)
    left = _nodes_that_left(_left_before(timeline, partitions, one.t_start_ms))
    return (
        left
        or _nodes_that_left(event for event in timeline.evidence(one) if event.category == "ISR_SHRINK")
        or tuple(one.subject.get("brokers", ()))
    )


def changes_of_isr(timeline: LogTimeline, partition: str) -> Sequence[LogEvent]:
    """Return the records of replicas that left a partition's ISR or came back to it.

    "ISR updated" follows either change, so it is left out unless the ISR has more replicas than before.
    """
    found: list[LogEvent] = []
    size = inf
    for event in timeline.with_value("partition", partition, "ISR_SHRINK", "ISR_EXPAND"):
        after = event.fields.get("isr_after", "")
        count = len(after.split(",")) if after else inf
        if event.category == "ISR_SHRINK" or count > size or count == inf:
            found.append(event)
        size = count
    return found


def returns_to_isr(timeline: LogTimeline, partition: str) -> Sequence[LogEvent]:
    """Return the records of replicas that brought a partition back to its minimum of in-sync replicas."""
    grown = (event for event in changes_of_isr(timeline, partition) if event.category == "ISR_EXPAND")
    return [event for event in grown if "(under-min-isr)" not in event.message]


def _left_before(timeline: LogTimeline, partitions: Iterable[str], start_ms: int) -> Sequence[LogEvent]:
    """Return, for each partition, the record of the replicas that left its ISR, if that was its last change."""
    found = []
    for partition in sorted(partitions):
        changes = changes_of_isr(timeline, partition)
        last = last_before(changes, start_ms + 1)
        if last is not None and last.category == "ISR_SHRINK" and start_ms - time_of(last) <= LEFT_MS:
            found.append(last)
    return found


def _lost_replicas(timeline: LogTimeline, left: Sequence[LogEvent]) -> str:
    """Return the brokers whose replicas left the ISR, as the end of a sentence; empty if no record names them."""
    names = _nodes_that_left(one for last in left for one in _in_a_row(timeline, last))
    if not names:
        return ""
    first = time_of(min(left, key=time_of))
    preposition = "at" if names == _nodes_that_left(left) else "by"
    return f", because the replicas on {name_some('broker', names)} left the ISR {preposition} {time_text(first)}"


def _in_a_row(timeline: LogTimeline, last: LogEvent) -> Iterator[LogEvent]:
    """Yield a record of replicas that left an ISR, and those before it, back to the last one that came back."""
    before = [
        one for one in changes_of_isr(timeline, last.fields.get("partition", "")) if time_of(one) <= time_of(last)
    ]
    for one in reversed(before):
        if one.category != "ISR_SHRINK" or time_of(last) - time_of(one) > LEFT_MS:
            return
        yield one


def _nodes_that_left(left: Iterable[LogEvent]) -> tuple[str, ...]:
    nodes: set[str] = set()
    for event in left:
        after = set(event.fields.get("isr_after", "").split(","))
        nodes |= set(event.fields.get("isr_before", "").split(",")) - after
    return tuple(sorted(nodes - {""}))


def _is_transactional(event: LogEvent) -> bool:
    """Return whether a record shows transactions that wait for a partition."""
    return bool(event.fields.get("transactional_id")) or _topic(event) == _STATES


def _expired(felt: Sequence[LogEvent]) -> str:
    """Return a sentence on the records that clients gave up during a shortage; empty if none did."""
    expired = any(event.category == "TIMEOUT_SEND" for event in felt)
    return " Records that waited for it expired in their client and were not written." if expired else ""


def stays_below_minimum(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a refused write's partition had too few in-sync replicas and no record of more afterwards."""
    partition, needed = event.fields.get("partition", ""), event.fields.get("min_isr", "")
    if not partition or not needed.isdecimal():
        return False
    changes = changes_of_isr(timeline, partition)
    last = changes[-1] if changes else None
    if last is None or last.category != "ISR_SHRINK" or time_of(last) > time_of(event):
        return False
    left = [node for node in last.fields.get("isr_after", "").split(",") if node.strip()]
    return 0 < len(left) < int(needed)


def without_shortage(outages: Iterable[Outage], shortages: Iterable[Incident]) -> list[Outage]:
    """Return the stops that are not the certain cause of a shortage; the shortage already reports the others."""
    made: dict[str, list[tuple[float, float, Incident]]] = {}
    for one in shortages:
        for node in one.subject.get("brokers", ()) if one.confidence >= CERTAIN else ():
            made.setdefault(node, []).append((one.t_start_ms, one.t_end_ms, one))
    spans = {node: Intervals(found) for node, found in made.items()}
    return [
        outage
        for outage in outages
        if outage.node not in spans or not spans[outage.node].has(outage.down_ms, outage.down_ms)
    ]


def _away_together(outages: Sequence[Outage]) -> list[Outage]:
    """Return the brokers whose outages overlapped for longer than a handover takes."""
    return [
        outage
        for outage in outages
        if any(
            other.node != outage.node
            and min(_back_ms(outage), _back_ms(other)) - max(outage.down_ms, other.down_ms) >= SHORTAGE_MIN_MS
            for other in outages
        )
    ]


def _back_ms(outage: Outage) -> float:
    return inf if outage.up_ms is None else outage.up_ms


def _topic(event: LogEvent) -> str:
    return event.fields.get("partition", "").rpartition("-")[0]
