"""Count the expulsions of a group's member, and find what they follow: a fixed time, or a rebalance that it missed.

A client without a thread for heartbeats, as KafkaJS, cannot send them while a handler blocks its event loop. The
coordinator then removes it after ``session.timeout.ms``; it rejoins, reads the same records, and blocks again. A fixed
time alone does not show that: a client that is refused at each first heartbeat has one, too. A client
that learns of a rebalance from a heartbeat joins it after its handler has returned. The coordinator removes the member
if that takes longer than the rebalance timeout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.timeline.evidence import evidence_of
from eosctl.logs.incidents.timeline.program_names import client_id_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import episodes, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text, time_text

SAME_MOMENT_MS: Final = 2_000
"""A client logs one expulsion several times: the response, and what it does about it."""
LEAST: Final = 2
"""Minimum number of expulsions, each after a rejoin, for a cycle."""
SHORTEST_MS: Final = 5_000
"""Minimum time from a rejoin to an expulsion that a blocked handler explains; session.timeout.ms is not shorter."""
SESSION_MS: Final = 30_000
"""The default session timeout of KafkaJS and ruby-kafka: before it has passed, silence does not expel a member."""
SHARE: Final = 10
"""Expulsions come at a fixed time if the times since the rejoin differ by at most this part."""
_KIND: Final = "member_fenced"
_FAULTS: Final = frozenset(
    {(_KIND, "member-not-in-its-generation"), ("group_not_stable", "members-refused-after-each-rejoin")}
)
"""Expulsions of members, a few or as a loop, without a cause."""
_CAUSE: Final = "handler-blocks-heartbeats"
_JOINED: Final = "REBALANCE_DONE"
_AT_WORK: Final[tuple[EventCategory, ...]] = ("SLOW_STEP", "THREAD_BLOCKED")
"""Records of a program whose work took long."""
_ONE_THREAD: Final = re.compile(r"^\[(?:Connection|Consumer|ConsumerGroup|Runner)\] |\bKafka::[A-Z]\w")
"""The words of KafkaJS and ruby-kafka, which send heartbeats in the thread of the handler."""
_OF_REBALANCES: Final[tuple[EventCategory, ...]] = ("REBALANCE_TRIGGER", "REBALANCE_DONE")
_MISSED: Final = "member-does-not-rejoin"
_TIMES: Final = re.compile(r" \(\d[\d,]* times\)")


def name_cycles(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; expulsions count once each, and those of a fixed cycle have its cause."""
    for one in incidents:
        own = [event for event in timeline.evidence(one) if event.category == "GROUP_FENCED"]
        is_one_log = len({timeline.log_of(event) for event in own}) == 1
        is_one_member = one.kind == _KIND or len({client_id_of(event) for event in own} - {""}) <= 1
        is_open = (one.kind, one.root_cause) in _FAULTS and is_one_log and is_one_member
        yield _counted(timeline, one, own[0]) if is_open else one


def _counted(timeline: LogTimeline, one: Incident, first: LogEvent) -> Incident:
    group = str(one.subject.get("group", ""))
    near = timeline.log_between(first, one.t_start_ms, one.t_end_ms, ("GROUP_FENCED",))
    refused = [event for event in near if timeline.group_of(event) in (group, "")]
    moments = [time_of(burst[0]) for burst in episodes(refused, SAME_MOMENT_MS)]
    if not moments:
        return one
    times = f" ({count_text(len(moments), 'time')})" if len(moments) > 1 else ""
    text = _TIMES.sub(times, one.explanation, count=1)
    if (missed := _missed(timeline, first, group, moments)) and all(missed):
        return _with_rebalances(timeline, one._replace(explanation=text), refused[-1], group, missed)
    waits = _waits(timeline, first, moments)
    if len(waits) < LEAST or len(waits) != len(moments) or (max(waits) - min(waits)) * SHARE > max(waits):
        return one._replace(explanation=text)
    cycle = (
        f"It rejoined and was removed again in a fixed cycle, each time about {duration_text(sum(waits) // len(waits))}"
    )
    if not _is_handler_at_work(timeline, refused, moments, waits):
        return one._replace(
            explanation=f"{text} {cycle} after the join. No record shows what it did meanwhile: a handler that blocks "
            "heartbeats, a session timeout that is too short for them, another client in the same group, and a "
            "coordinator that does not keep the member all look like this.",
            next_step="Read the coordinator's log of this time for the reason of each removal. Compare the session "
            "timeout with the heartbeat interval and with the longest run of the handler, and look for other clients "
            "with this group.",
        )
    return one._replace(
        kind=_KIND,
        root_cause=_CAUSE,
        confidence=max(one.confidence, 0.7),
        explanation=f"{text} {cycle} after the join. Most likely its handler, or its event loop, is blocked for longer "
        "than session.timeout.ms, so no heartbeat is sent. The same records are processed again.",
        next_step="Find the handler that runs that long: split its work, send heartbeats within it (as heartbeat() in "
        "KafkaJS), or raise the session timeout above its duration.",
    )


def _is_handler_at_work(
    timeline: LogTimeline, refused: Sequence[LogEvent], moments: Sequence[int], waits: Sequence[int]
) -> bool:
    """Return whether a program shows long work before each expulsion, or its client has one thread and was silent."""
    is_silent = min(waits) >= SESSION_MS and any(_ONE_THREAD.search(event.message) for event in refused)
    spans = ((moment - wait, moment) for moment, wait in zip(moments, waits, strict=True))
    return is_silent or all(timeline.log_between(refused[0], *span, _AT_WORK) for span in spans)


def _waits(timeline: LogTimeline, first: LogEvent, moments: Sequence[int]) -> list[int]:
    """Return the times from a join to the expulsion after it, in ms, for each one with a join of its own before it."""
    joins = timeline.log_between(first, timeline.log_start_ms(first), moments[-1], ("REBALANCE_DONE",))
    waits: list[int] = []
    before_ms = timeline.log_start_ms(first) - 1
    for moment in moments:
        joined = [time_of(event) for event in joins if before_ms < time_of(event) < moment]
        if joined and moment - joined[-1] >= SHORTEST_MS:
            waits.append(moment - joined[-1])
        before_ms = moment
    return waits


def _rebalances(timeline: LogTimeline, event: LogEvent, group: str, start_ms: float, end_ms: float) -> list[LogEvent]:
    """Return the records of rebalances and joins of a group in a period, as the program of an event logs them."""
    found = timeline.log_between(event, start_ms, end_ms, _OF_REBALANCES)
    return [one for one in found if timeline.group_of(one) in (group, "")]


def _missed(timeline: LogTimeline, first: LogEvent, group: str, moments: Sequence[int]) -> list[LogEvent | None]:
    """Return the first record of a rebalance since the last join before each expulsion; None where one is missing."""
    known = _rebalances(timeline, first, group, timeline.log_start_ms(first), moments[-1])
    found: list[LogEvent | None] = []
    after_ms = timeline.log_start_ms(first) - 1
    for moment in moments:
        since = [event for event in known if after_ms < time_of(event) <= moment - SHORTEST_MS]
        joined = max((place for place, event in enumerate(since) if event.category == _JOINED), default=-1)
        found.append(next(iter(since[joined + 1 :]), None))
        after_ms = moment
    return found


def _with_rebalances(
    timeline: LogTimeline, one: Incident, last: LogEvent, group: str, missed: Sequence[LogEvent | None]
) -> Incident:
    """Return an incident of expulsions that each followed a rebalance which the member knew of and did not join."""
    known = [event for event in missed if event is not None]
    later = _rebalances(timeline, last, group, time_of(last), inf)
    joined = max((place for place, event in enumerate(later) if event.category == _JOINED), default=-1)
    again = later[joined + 1 :][:1]
    end = (
        f" At {time_text(time_of(again[0]))}, its group rebalances again, and its log ends before it has joined."
        if again
        else ""
    )
    rounds = "Each time, it" if len(known) > 1 else "It"
    return one._replace(
        kind=_KIND,
        root_cause=_MISSED,
        confidence=max(one.confidence, 0.75),
        t_start_ms=min(one.t_start_ms, *map(time_of, known)),
        t_end_ms=max([one.t_end_ms, *map(time_of, again)]),
        evidence=evidence_of([*known, *timeline.evidence(one), *again]),
        explanation=f"{one.explanation} {rounds} had learned from a heartbeat that its group rebalances, first at "
        f"{time_text(time_of(known[0]))}, and did not join within the rebalance timeout: most likely its handler was "
        f"still at work. The same records are processed again.{end}",
        next_step="Find the handler that runs that long: split its work, or hand it to another thread and pause the "
        "consumer. Raise the rebalance timeout (rebalanceTimeout in KafkaJS, max.poll.interval.ms in Java) above the "
        "longest work between two joins.",
    )
