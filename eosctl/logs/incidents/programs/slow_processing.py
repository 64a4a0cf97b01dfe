"""Detect members that left their group because they did not poll in time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.trouble import TROUBLE
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

AROUND_MS: Final = 30_000
RESTART_WITHIN_MS: Final = 600_000
_REASONS: Final = (
    *("POLL_TIMEOUT", "MEMBER_EVICTED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE"),
    *TROUBLE,
)
"""Categories that explain why a member is out of its group, or that fence it for another reason."""
_FENCED: Final = frozenset(
    {
        "ProducerFencedException",
        "InvalidProducerEpochException",
        "InvalidPidMappingException",
        "InvalidTxnStateException",
    }
)
_COMMIT: Final = "ommit"
_LOOP_ENDED: Final = re.compile(
    r"(?i:\b(?:loop|consumer|consuming|poller|worker)\b[^\n]{0,40}\b(?:ended|stopped|exited|idle|shut ?down)\b)"
)
"""A program's words for the end of the loop in which it polls."""
_JOINED: Final = ("ASSIGNMENT_CHANGE", "CLIENT_START", "REBALANCE_DONE")
_WORKER: Final = "[Worker clientId="
_STOPPED: Final = " and left the group: its connectors and tasks stop until a rebalance gives it some again."
_OF_WORKER: Final = (
    "Find what held the thread of the worker's herder: a connector that starts, stops, or is validated slowly, a slow "
    "read of the configuration topic, or a pause of the process. Add workers, or raise rebalance.timeout.ms."
)
_INTERVAL: Final = re.compile(r"Application maximum poll interval \((\d{1,10})ms\) exceeded")
_TRANSACTION_FAILED: Final = "Current transaction failed in state "
"""librdkafka's words about an error after which a transaction can only be aborted."""


def find_slow_processing(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members that left their group because they did not poll in time, and the Streams tasks that moved."""
    owned = [(_group_of(timeline, event), event) for event in timeline.of("POLL_TIMEOUT")]
    for group, timeouts in by_key((group, event) for group, event in owned if group).items():
        for episode in episodes(timeouts, AROUND_MS):
            yield _slow(timeline, episode, group)
    # An application, such as a Streams thread, repeats what its own client has already logged.
    named = {event.application for group, event in owned if group}
    alone = (event for _, event in owned if event.application not in named)
    clients = ((f"{event.application}\0{event.fields.get('rdkafka_client', '')}", event) for event in alone)
    for timeouts in by_key(clients).values():
        for episode in episodes(timeouts, AROUND_MS):
            yield _slow(timeline, episode, "")
    yield from _dropped_out(timeline)


def _dropped_out(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members that were removed from their groups for a reason that is older than their logs."""
    names = StreamsNames(timeline)
    learned = [event for event in timeline.client_events("COMMIT_FAILED") if event.fields.get("exceeded")]
    learned += [
        event
        for event in timeline.client_events("TASK_MIGRATED")
        if "dropped out of the" in event.message and not _is_fenced(event)
    ]
    for events in by_key((timeline.log_of(event), event) for event in sorted(learned, key=time_of)).values():
        for episode in episodes(events, AROUND_MS):
            first = episode[0]
            around = timeline.log_between(
                first, time_of(first) - RESTART_WITHIN_MS, time_of(first) + AROUND_MS, _REASONS
            )
            streams = first.category == "TASK_MIGRATED"
            group = timeline.value_in_log(first, "group") or (names.of(episode) if streams else "")
            if around or _is_evicted(timeline, group, first):
                continue
            yield incident(
                "task_migrated" if streams else "poll_interval_exceeded",
                "slow-processing",
                {"group": group, "application": "" if group else first.application},
                episode,
                f"A member of {group or 'its group'} was no longer in it when it resumed, most likely because it had "
                "not polled within max.poll.interval.ms. Its log begins later.",
                "Process fewer records per poll (max.poll.records), process faster, or raise max.poll.interval.ms.",
                confidence=0.5,
            )


def _is_evicted(timeline: LogTimeline, group: str, learned: LogEvent) -> bool:
    """Return whether a coordinator's log has the removal of a member before the member learns of it."""
    removals = [one for one in timeline.server_events("MEMBER_EVICTED") if group and one.fields.get("group") == group]
    return bool(within(removals, time_of(learned) - RESTART_WITHIN_MS, time_of(learned) + AROUND_MS))


def _is_fenced(event: LogEvent) -> bool:
    """Return whether a thread's producer was fenced: Streams reports this as a missed rebalance, too."""
    return event.exception is not None and event.exception.root_class.rpartition(".")[2] in _FENCED


def _group_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the group of a member that did not poll; for librdkafka, which prints none, brokers name it."""
    if named := event.fields.get("group") or timeline.value_in_log(event, "group"):
        return named
    client = event.fields.get("rdkafka_client", "").rpartition("#")[0]
    triggers = timeline.with_value("member_client", client, "REBALANCE_TRIGGER", having="group") if client else ()
    near = within(triggers, time_of(event) - AROUND_MS, time_of(event) + AROUND_MS)
    return next((other.fields["group"] for other in near), "")


def _slow(timeline: LogTimeline, episode: Sequence[LogEvent], group: str) -> Incident:
    start, end = time_of(episode[0]), time_of(episode[-1]) + AROUND_MS
    consequences = timeline.of("TASK_MIGRATED", "COMMIT_FAILED", "GROUP_FENCED", "REBALANCE_TRIGGER", "MEMBER_EVICTED")
    near = within(consequences, start - 1_000, end)
    around = [event for event in near if _concerns(timeline, event, group, episode[0].application)]
    streams = any("StreamThread" in f"{event.thread}{event.message}" for event in episode)
    timed_out = next((event for event in episode if event.application not in timeline.servers()), episode[0])
    # The thread learns that it was removed only when its processing ends.
    late = timeline.log_between(timed_out, end, end + RESTART_WITHIN_MS, ("TASK_MIGRATED",))
    late = [event for event in late if "missed a rebalance" in event.message and not _is_fenced(event)][:1]
    named = "" if streams else timeline.value_in_log(timed_out, "transactional_id")
    allowed = timeline.value_in_log(timed_out, "max_poll_interval_ms") or _interval_of(timed_out)
    is_refused = any(
        event.category in ("COMMIT_FAILED", "GROUP_FENCED") and _COMMIT in event.message for event in around
    )
    lost = " and left the group" + ("; its offsets were refused." if is_refused else ".")
    noticed = timeline.log_between(timed_out, start, end + RESTART_WITHIN_MS, ("GROUP_FENCED",))
    failed = [] if streams else [event for event in noticed if _TRANSACTION_FAILED in event.message][:1]
    ended = _loop_end(timeline, timed_out)
    member = timed_out.fields.get("rdkafka_client", "")
    is_worker = any(_WORKER in event.message for event in episode)
    who = member if member and not group else f"A {'worker' if is_worker else 'member'} of {group or 'its group'}"
    setting = "rebalance.timeout.ms" if is_worker else "max.poll.interval.ms"
    return incident(
        "task_migrated" if streams else "poll_interval_exceeded",
        "slow-processing",
        {
            "group": group,
            "transactional.id": named,
            "application": "" if group else timed_out.application,
            "client": "" if group else member,
        },
        [
            *episode,
            *_first_of_each_file(around),
            *(event for event in around if event.category != "REBALANCE_TRIGGER"),
            *late,
            *failed,
            *ended,
        ],
        f"{who} did not poll within {setting}"
        + (f" ({allowed})" if allowed else "")
        + (", left the group, and lost its tasks." if streams else _STOPPED if is_worker else lost)
        + "".join(
            f" The open transaction of {_producer_of(event)} failed with that and must be aborted." for event in failed
        )
        + (" Its program then ended the loop that polls: it reads nothing until it is started again." * len(ended)),
        _OF_WORKER
        if is_worker
        else "Process fewer records per poll (max.poll.records), process faster, or raise max.poll.interval.ms.",
        confidence=0.95 if timed_out.application not in timeline.servers() else 0.75,
    )


def _interval_of(event: LogEvent) -> str:
    """Return the interval that librdkafka's record names, milliseconds; empty for another one's record."""
    found = _INTERVAL.search(event.message)
    return found[1] if found else ""


def _loop_end(timeline: LogTimeline, timed_out: LogEvent) -> Sequence[LogEvent]:
    """Return the record with which a program ended its loop after a late poll; none if it joined its group again."""
    start_ms = time_of(timed_out)
    stops = timeline.log_between(timed_out, start_ms, start_ms + RESTART_WITHIN_MS, ("APPLICATION_STOP",))
    ended = [event for event in stops if _LOOP_ENDED.search(event.message) and event.line > timed_out.line][:1]
    joined = timeline.log_between(timed_out, start_ms, inf, _JOINED) if ended else ()
    return [] if any(event.line > timed_out.line or time_of(event) > start_ms for event in joined) else ended


def _producer_of(event: LogEvent) -> str:
    return event.fields.get("rdkafka_client") or "its producer"


def _concerns(timeline: LogTimeline, event: LogEvent, group: str, application: str) -> bool:
    if not group:
        return event.application == application
    if named := event.fields.get("group"):
        return named == group
    return event.application not in timeline.servers() and group in timeline.values_in_log(event, "group")


def _first_of_each_file(events: Sequence[LogEvent]) -> list[LogEvent]:
    return [group[0] for group in by_key((event.file, event) for event in events).values()]
