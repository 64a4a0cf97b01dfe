"""Find epochs of the metadata quorum without a leader, as brokers and other nodes learn of them (KIP-595).

An election that fails ends its epoch, and the next one begins another. A node that is only an observer does not stand
for election, but it goes from one leaderless epoch to the next (``QuorumState``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.servers.outages import Outage
from eosctl.logs.incidents.servers.quorum import FAILOVER_MS, leader_named
from eosctl.logs.incidents.timeline.evidence import evidence_of, incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

EPOCHS: Final = 3
"""Minimum number of elections in a row that failed, up to the end of a log; one or two are usual when votes split."""
ENDED_MS: Final = 10_000
"""Maximum time from the last of them to the end of the log."""
_LEADERS: Final[tuple[EventCategory, ...]] = ("CONTROLLER_LEADER", "CONTROLLER_ACTIVE")
_MOVES: Final[tuple[EventCategory, ...]] = (
    *("BROKER_FENCED", "BROKER_ROLE", "BROKER_SIGNAL", "BROKER_START", "BROKER_STOPPED"),
)
"""Records of servers that start, end, or are taken for ended."""
_HEARTBEAT: Final[EventCategory] = "STALE_BROKER_EPOCH"
_JUDGED: Final = "processBrokerHeartbeat: event failed with StaleBrokerEpochException"


def with_leaderless_epochs(
    timeline: LogTimeline, lost: Iterable[Incident], outages: Sequence[Outage]
) -> Iterator[Incident]:
    """Yield lost quorums with what other nodes report of them, or one quorum that only such nodes report.

    Elections next to the start or the end of a server are a part of that.
    """
    found = tuple(lost)
    seen = [events for events in _of_logs(timeline) if events]
    if not found and seen:
        yield _incident(timeline, max(seen, key=len))
    for one in found:
        near = [events for events in seen if _is_near(one, events)]
        yield _with(timeline, one, max(near, key=len)) if near else one
    if not found and not seen:
        yield from (one for one in _overcome(timeline) if not _is_of_outage(timeline, one, outages))


def _of_logs(timeline: LogTimeline) -> Iterator[Sequence[LogEvent]]:
    """Yield the leaderless epochs with which a server's log ends, if they are enough for an incident."""
    epochs = timeline.server_events("QUORUM_WITHOUT_LEADER")
    for events in by_key((timeline.log_of(one), one) for one in epochs).values():
        led = timeline.log_between(events[-1], -inf, inf, _LEADERS)
        since_ms = time_of(led[-1]) if led else -inf
        open_ones = [one for one in events if time_of(one) > since_ms]
        is_at_end = timeline.log_end_ms(events[-1]) - time_of(events[-1]) <= ENDED_MS
        if len(open_ones) >= EPOCHS and is_at_end:
            yield open_ones


def _is_of_outage(timeline: LogTimeline, one: Incident, outages: Sequence[Outage]) -> bool:
    begin, end = one.t_start_ms - FAILOVER_MS, one.t_end_ms + FAILOVER_MS
    is_away = any(out.down_ms <= end and begin <= (inf if out.up_ms is None else out.up_ms) for out in outages)
    return is_away or bool(within(timeline.of(*_MOVES), begin, end))


def _overcome(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the elections that failed in a row between two leaders, once where several nodes report them."""
    until_ms = -inf
    for run, leader in sorted(_overcome_in_logs(timeline), key=lambda pair: time_of(pair[0][0])):
        if time_of(run[0]) > until_ms:
            until_ms = time_of(leader) + FAILOVER_MS
            yield _short(timeline, run, leader)


def _overcome_in_logs(timeline: LogTimeline) -> Iterator[tuple[Sequence[LogEvent], LogEvent]]:
    """Yield the leaderless epochs in a row of each server's log that had known a leader, and its next leader."""
    epochs = timeline.server_events("QUORUM_WITHOUT_LEADER")
    for events in by_key((timeline.log_of(one), one) for one in epochs).values():
        leaders = timeline.log_between(events[0], -inf, inf, _LEADERS)
        since_ms = -inf
        for after in leaders:
            run = within(events, since_ms + 1, time_of(after))
            gone = within(timeline.of("CONTROLLER_RESIGNED"), time_of(after) - FAILOVER_MS, time_of(after))
            if len(run) >= EPOCHS and (since_ms > -inf or gone):
                yield run, after
            since_ms = time_of(after)


def _short(timeline: LogTimeline, events: Sequence[LogEvent], leader: LogEvent) -> Incident:
    resigned = timeline.of("CONTROLLER_RESIGNED")
    near = within(resigned, time_of(events[0]) - FAILOVER_MS, time_of(leader))
    start_ms = min(map(time_of, (*near, events[0])))
    first, last = (one.fields.get("controller_epoch", "") for one in (events[0], leader))
    former = next((name for one in near if (name := one.fields.get("controller") or one.fields.get("broker"))), "")
    lost = f"controller {former} gave up its leadership, and " if former else ""
    return incident(
        "unstable_controller",
        "several-elections-without-a-leader",
        {"controller": leader_named(leader)},
        [*near, *events, leader],
        f"The metadata quorum had no leader for {duration_text(time_of(leader) - start_ms)}: {lost}"
        f"{count_text(len(events), 'epoch')} ended without one before controller {leader_named(leader)} was elected"
        f"{f' (epochs {first} to {last})' if first and last else ''}. The quorum works again. Meanwhile no partition "
        "got a new leader, and the heartbeats of brokers had no answer.",
        "Nothing if it happens once. If it returns, find what held the controllers up: the latency of their disks, "
        "their pauses and CPU, and the network between them; controller.quorum.fetch.timeout.ms is what a follower "
        "waits.",
        severity=Severity.WARNING,
        confidence=0.75,
        t_start_ms=start_ms,
        t_end_ms=time_of(leader),
    )


def _is_near(one: Incident, events: Sequence[LogEvent]) -> bool:
    return one.t_start_ms <= time_of(events[-1]) + FAILOVER_MS and time_of(events[0]) - FAILOVER_MS <= one.t_end_ms


def _text(timeline: LogTimeline, events: Sequence[LogEvent]) -> str:
    first = events[0]
    node = timeline.node_of(first.application)
    led = timeline.log_between(first, time_of(first) - FAILOVER_MS, time_of(first), _LEADERS)
    known = (
        f", after it knew node {leader_named(led[-1])} as the leader at {time_text(time_of(led[-1]))}" if led else ""
    )
    last = events[-1].fields.get("controller_epoch", "")
    later = _led_later(timeline, events[-1])
    led_by = leader_named(later) or later.fields.get("broker", "") if later else ""
    elected = (
        f" Another log names node {led_by} as the active controller at {time_text(time_of(later))}: a leader had been "
        "elected by then."
        if later
        else ""
    )
    return (
        f"{f'Node {node}' if node else 'A node'} went through {count_text(len(events), 'epoch')} without a leader"
        f"{f', up to epoch {last}' if last else ''}{known}; no leader followed before its log ends.{elected}"
    )


def _led_later(timeline: LogTimeline, last: LogEvent) -> LogEvent | None:
    """Return the first record of another log after a leaderless epoch that shows a leader of the quorum.

    Only the active controller judges the heartbeats of brokers (``QuorumController.processBrokerHeartbeat``).
    """
    found = within(timeline.of(*_LEADERS, _HEARTBEAT), time_of(last) + 1, inf)
    return next((one for one in found if one.category != _HEARTBEAT or _JUDGED in one.message), None)


def _with(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Incident:
    return one._replace(
        evidence=(*one.evidence, *evidence_of(events)),
        explanation=f"{one.explanation} {_text(timeline, events)}",
        t_end_ms=max(one.t_end_ms, time_of(events[-1])),
    )


def _incident(timeline: LogTimeline, events: Sequence[LogEvent]) -> Incident:
    return incident(
        "controller_quorum_lost",
        "elections-fail-again-and-again",
        {timeline.role_of(events[0].application): timeline.node_of(events[0].application)},
        events,
        f"The elections of the metadata quorum fail one after the other. {_text(timeline, events)} "
        "Without a controller, no partition gets a new leader, no topic is created, and no producer ids are allocated.",
        "Read the logs of the controllers: check their processes, their disks, and the network between them. "
        "eosctl doctor shows who answers.",
        severity=Severity.CRITICAL,
        confidence=0.7,
    )
