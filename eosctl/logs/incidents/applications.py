"""Detect faults within applications: slow polls, records they cannot handle, corrupt stores, and abrupt exits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Final

from eosctl.logs.incidents.broken_stores import broken_store
from eosctl.logs.incidents.index import last_before, within
from eosctl.logs.incidents.names import PROCESS, application_of_id
from eosctl.logs.incidents.program_names import opening, program_of
from eosctl.logs.incidents.restorations import is_without_checkpoint, restoration_after
from eosctl.logs.incidents.second_categories import category_of_cause
from eosctl.logs.incidents.timeline import LogTimeline, by_key, episodes, incident, time_of
from eosctl.logs.incidents.trouble import TROUBLE
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

AROUND_MS: Final = 30_000
FAILURE_SPREAD_MS: Final = 3_000
_REFUSED_WRITES: Final = (
    *("INVALID_PID_MAPPING", "UNKNOWN_PRODUCER_ID", "RECORD_TOO_LARGE", "TIMEOUT_SEND", "TIMEOUT_INIT_PID"),
    *("NOT_ENOUGH_REPLICAS", "AUTHZ_OTHER", "AUTHZ_TXN_ID", "AUTHZ_CLUSTER", "TIMEOUT_METADATA"),
)
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
_STOPS: Final = (
    *("CLIENT_STOP", "APPLICATION_SIGNAL", "APPLICATION_STOP", "APPLICATION_KILLED"),
    *("PRODUCER_FENCED", "CLIENT_FATAL"),
)
_COMMIT: Final = "ommit"
_THREAD: Final = re.compile(r"-StreamThread-\d+$")
_CLIENT: Final = re.compile(rf"{PROCESS}(?:-StreamThread-\d+)?.*$")


def find_slow_processing(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members that left their group because they did not poll in time, and the Streams tasks that moved."""
    owned = [(_group_of(timeline, event), event) for event in timeline.of("POLL_TIMEOUT")]
    for group, timeouts in by_key((group, event) for group, event in owned if group).items():
        for episode in episodes(timeouts, AROUND_MS):
            yield _slow(timeline, episode, group)
    # An application, such as a Streams thread, repeats what its own client has already logged.
    named = {event.application for group, event in owned if group}
    alone = ((event.application, event) for _, event in owned if event.application not in named)
    for timeouts in by_key(alone).values():
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
            if around:
                continue
            streams = first.category == "TASK_MIGRATED"
            group = timeline.value_in_log(first, "group") or (names.of(episode) if streams else "")
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
    allowed = timeline.value_in_log(timed_out, "max_poll_interval_ms")
    is_refused = any(
        event.category in ("COMMIT_FAILED", "GROUP_FENCED") and _COMMIT in event.message for event in around
    )
    lost = " and left the group" + ("; its offsets were refused." if is_refused else ".")
    return incident(
        "task_migrated" if streams else "poll_interval_exceeded",
        "slow-processing",
        {"group": group, "transactional.id": named, "application": "" if group else timed_out.application},
        [
            *episode,
            *_first_of_each_file(around),
            *(event for event in around if event.category != "REBALANCE_TRIGGER"),
            *late,
        ],
        f"A member of {group or 'its group'} did not poll within max.poll.interval.ms"
        + (f" ({allowed})" if allowed else "")
        + (", left the group, and lost its tasks." if streams else lost),
        "Process fewer records per poll (max.poll.records), process faster, or raise max.poll.interval.ms.",
        confidence=0.95 if timed_out.application not in timeline.servers() else 0.75,
    )


def find_failed_streams(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the exceptions that reached a Streams application's uncaught exception handler, and corrupt stores."""
    names = StreamsNames(timeline)
    failures = timeline.client_events("STREAMS_PROCESSING_FAILED", "STREAM_THREAD_DEATH", "STATE_STORE_CORRUPT")
    for events in by_key(_parted(timeline, failures)).values():
        for episode in episodes(events, FAILURE_SPREAD_MS):
            application = names.of(episode)
            if any(event.category == "STATE_STORE_CORRUPT" for event in episode):
                yield broken_store(application, episode)
            elif not _is_of_kafka(timeline, episode) and any(
                event.fields.get("answer") or "Failed to process stream task" in event.message for event in episode
            ):
                yield _uncaught(application, episode)


def _is_of_kafka(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    """Return whether every exception of an episode is an error of Kafka, which is an incident of its own."""
    thrown = [event for event in episode if event.exception is not None]
    return bool(thrown) and all(category_of_cause(event) or _repeats(timeline, event) for event in thrown)


def _repeats(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a record without its last cause follows the record of a refused write of the same program."""
    if event.exception is None or not event.exception.root_class.endswith((".StreamsException", ".TimeoutException")):
        return False
    moment = time_of(event)
    return bool(timeline.log_between(event, moment - FAILURE_SPREAD_MS, moment, _REFUSED_WRITES))


def _parted(timeline: LogTimeline, events: Sequence[LogEvent]) -> Iterator[tuple[str, LogEvent]]:
    """Yield events with their log and application; an event without an application gets the one before it."""
    last: dict[str, str] = {}
    for event in events:
        log = timeline.log_of(event)
        if log not in last:
            last[log] = next(filter(None, map(_speaker, timeline.log_with(event))), "")
        last[log] = _speaker(event) or last[log]
        yield f"{log}\0{last[log]}", event


def _speaker(event: LogEvent) -> str:
    """Return the Streams application that an event names; empty if it names none."""
    names = (event.fields.get("stream_client"), event.fields.get("stream_thread"), event.thread)
    return next((_CLIENT.sub("", name) for name in names if name and _CLIENT.search(name)), "")


def _uncaught(application: str, episode: Sequence[LogEvent]) -> Incident:
    record = next((event.fields for event in episode if event.fields.get("source_offset")), None)
    cause = next((event.exception for event in episode if event.exception), None)
    where = f"{record['topic']}-{record['source_partition']}" if record else ""
    offset = record["source_offset"] if record else ""
    poison = record is not None or any(event.category == "STREAMS_PROCESSING_FAILED" for event in episode)
    reason = f" ({cause.root_class})" if cause else ""
    return incident(
        "streams_uncaught_exception",
        "poison-record" if poison else "unexplained",
        {"application.id": application, "topic-partition": where, "offset": offset},
        episode,
        f"A thread of {application} died"
        + (f" of the record in {where} at offset {offset}" if where else " of an exception")
        + f"{reason}. {_after_death(episode)}",
        "Handle the record in code, or skip it with processing.exception.handler.",
        confidence=0.95 if poison else 0.5,
    )


def _after_death(episode: Sequence[LogEvent]) -> str:
    """Return what Streams did after an exception: the answer of the application's handler, if it is logged."""
    answers = {event.fields.get("answer", "") for event in episode}
    if answers & {"SHUTDOWN_APPLICATION", "sent shutdown request for the entire application"}:
        return "Every instance of the application shuts down, and nothing is processed until they are restarted."
    if "SHUTDOWN_CLIENT" in answers:
        return "The instance shuts down; another one that takes its tasks receives the record again."
    return "A thread that replaces it receives the record again."


def find_unclean_stops(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield applications that exited without a clean shutdown and were started again."""
    starts = [event for event in timeline.client_events("CLIENT_START") if event.fields.get("transactional_id")]
    names = StreamsNames(timeline)
    wiped = [event for event in timeline.client_events("TASK_CORRUPTED") if is_without_checkpoint(timeline, event)]
    for events in by_key((timeline.log_of(event), event) for event in wiped).values():
        for episode in episodes(events, AROUND_MS):
            application = names.of(episode)
            end_ms = time_of(episode[-1]) + AROUND_MS
            echoes = timeline.log_between(
                episode[0], time_of(episode[0]), end_ms, ("TASK_CORRUPTED", "STATE_RESTORE_END")
            )
            tasks = tuple(sorted({event.fields["task"] for event in episode if event.fields.get("task")}))
            restored = restoration_after(timeline, episode[-1], time_of(episode[0]), inf).record_count
            yield incident(
                "task_corrupted",
                "unclean-stop-wipes-store",
                {"application.id": application, "tasks": tasks},
                [*episode, *echoes],
                f"{application} found local stores without a checkpoint, as after a kill; under exactly-once it wiped "
                "and restored them" + (f" ({restored:,} records)." if restored else "."),
                "Nothing if it happens once. Shut instances down cleanly so that they keep their stores. Kafka Streams "
                "4.4 and later keep the flushed part of them with enable.transactional.statestores=true.",
                severity=Severity.WARNING,
                confidence=0.9,
            )
    restarts = sorted(_silent_restarts(timeline, starts), key=lambda pair: time_of(pair[1]))
    for name, pairs in _by_instance(restarts).items():
        is_streams = name != pairs[0][0].fields["transactional_id"]
        # The threads of a Streams instance start together, each with its own transactional id.
        for before, after in _apart(pairs) if is_streams else pairs:
            stores = _kept_stores(timeline, after) if is_streams else ""
            yield incident(
                "unclean_stop",
                "unclean-stop",
                {"application.id" if is_streams else "transactional.id": name},
                [before, after],
                f"{opening(program_of(timeline, before))} exited without a clean shutdown and was started again. "
                f"The new instance aborted its open transaction.{stores}",
                "Nothing was lost. If the restart was not planned, find what killed the process.",
                severity=Severity.INFO,
                confidence=0.8,
                t_start_ms=_last_sign(timeline, before, after),
                t_end_ms=time_of(after),
            )


def _kept_stores(timeline: LogTimeline, start: LogEvent) -> str:
    """Return a sentence on the stores that a restart kept; empty where the log does not report any."""
    next_ms = next(
        (
            time_of(event)
            for event in timeline.log_between(start, time_of(start) + 1, inf, ("CLIENT_START",))
            if event.fields.get("transactional_id") == start.fields["transactional_id"]
        ),
        inf,
    )
    restored = restoration_after(timeline, start, time_of(start), next_ms)
    if not restored.kept:
        return ""
    all_count = len(restored.kept | restored.emptied)
    return (
        f" It kept the stores of {len(restored.kept)} of {count_text(all_count, 'changelog')}, and restored "
        f"{count_text(restored.record_count, 'record')}."
    )


def _silent_restarts(timeline: LogTimeline, starts: Sequence[LogEvent]) -> Iterator[tuple[LogEvent, LogEvent]]:
    """Yield each start of a transactional id with the start before it that never said it ended."""
    ends = _Ends(timeline)
    for events in by_key((event.fields["transactional_id"], event) for event in starts).values():
        for before, after in pairwise(events):
            if time_of(after) - time_of(before) <= RESTART_WITHIN_MS and not ends.between(before, after):
                yield before, after


def _apart(pairs: Sequence[tuple[LogEvent, LogEvent]]) -> Iterator[tuple[LogEvent, LogEvent]]:
    """Yield the first start of each group."""
    last_ms = -FAILURE_SPREAD_MS
    for before, after in pairs:
        if time_of(after) - last_ms >= FAILURE_SPREAD_MS:
            yield before, after
            last_ms = time_of(after)


def _by_instance(pairs: Sequence[tuple[LogEvent, LogEvent]]) -> dict[str, list[tuple[LogEvent, LogEvent]]]:
    groups: dict[str, list[tuple[LogEvent, LogEvent]]] = {}
    for before, after in pairs:
        groups.setdefault(_instance(before), []).append((before, after))
    return groups


def _instance(event: LogEvent) -> str:
    """Return the instance that starts: a transactional id, or the Streams application that generated the id."""
    return application_of_id(event.fields["transactional_id"])


class _Ends:
    """The ends of clients' sessions, as their logs report them."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._last_fenced: dict[str, dict[str, int]] = {}

    def between(self, before: LogEvent, after: LogEvent) -> bool:
        """Return whether a session reports its end, or continues next to the following one."""
        name = before.fields["transactional_id"]
        stops = self._timeline.log_between(before, time_of(before), time_of(after), _STOPS)
        if any(event.fields.get("transactional_id", name) == name for event in stops):
            return True
        if self._timeline.log_of(before) != self._timeline.log_of(after):
            return time_of(self._timeline.log_with(before)[-1]) > time_of(after)
        # Two sessions share a log, and the later one fences the other.
        return self._fenced_ms(before, name) > time_of(after)

    def _fenced_ms(self, event: LogEvent, name: str) -> float:
        """Return when the log of an event last reports that an id was fenced."""
        log = self._timeline.log_of(event)
        if log not in self._last_fenced:
            fenced = self._timeline.log_between(event, -inf, inf, ("PRODUCER_FENCED",))
            self._last_fenced[log] = {self._timeline.transactional_id(one): time_of(one) for one in fenced}
        return self._last_fenced[log].get(name, -inf)


def _last_sign(timeline: LogTimeline, before: LogEvent, after: LogEvent) -> int:
    last = last_before(timeline.log_with(before), time_of(after))
    return time_of(last or before)


def _concerns(timeline: LogTimeline, event: LogEvent, group: str, application: str) -> bool:
    if not group:
        return event.application == application
    if named := event.fields.get("group"):
        return named == group
    return event.application not in timeline.servers() and group in timeline.values_in_log(event, "group")


def _first_of_each_file(events: Sequence[LogEvent]) -> list[LogEvent]:
    return [group[0] for group in by_key((event.file, event) for event in events).values()]


class StreamsNames:
    """The Streams applications that wrote logs, by the names of their clients and threads."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._firsts: dict[str, str] = {}
        self._clients: dict[str, list[tuple[str, str]]] = {}

    def of(self, episode: Sequence[LogEvent]) -> str:
        """Return the application that wrote events of one log; the program's name if the log does not name one."""
        first = episode[0]
        if named := self._timeline.value_in_log(first, "application_id"):
            return named
        log = self._timeline.log_of(first)
        if log not in self._firsts:
            self._firsts[log] = next(filter(None, map(_identity, self._timeline.log_with(first))), "")
        identity = next(filter(None, map(_identity, episode)), self._firsts[log])
        if not identity:
            return first.application
        return self._named_by(first, identity) or _THREAD.sub("", _CLIENT.sub("", identity))

    def _named_by(self, event: LogEvent, identity: str) -> str:
        """Return the application whose settings give a Streams client its name; the two names may differ."""
        log = self._timeline.log_of(event)
        if log not in self._clients:
            names = (
                (one.fields.get("client_id"), one.fields.get("application_id"))
                for one in self._timeline.log_with(event)
            )
            self._clients[log] = list(dict.fromkeys((client, owner) for client, owner in names if client and owner))
        return next((owner for client, owner in self._clients[log] if identity.startswith(f"{client}-")), "")


def _identity(event: LogEvent) -> str:
    return event.fields.get("stream_client") or event.fields.get("stream_thread") or ""
