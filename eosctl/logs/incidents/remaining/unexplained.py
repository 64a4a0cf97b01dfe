"""Find records that call for action and that no incident explains: faults that no detector judges."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from eosctl.logs.classifier.throwable import PANIC
from eosctl.logs.incidents.explained import AFTER_MS, BEFORE_MS, EXPLANATIONS, spans_of
from eosctl.logs.incidents.remaining.lasting import is_final
from eosctl.logs.incidents.servers.coordinators import has_other_coordinator, node_of
from eosctl.logs.incidents.servers.shortages import returns_to_isr, stays_below_minimum
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import ERROR_LEVELS, UNCLASSIFIED, LogEvent
from eosctl.model.severity import Severity

ECHOES: Final = frozenset(
    {
        *("CLIENT_FATAL", "COMMIT_FAILED", "CONNECTOR_TXN_FAILURE", "FRAMEWORK_ROLLBACK", "GROUP_FENCED"),
        *("INVALID_PID_MAPPING", "INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE", "NOT_ENOUGH_REPLICAS", "STORAGE_ERROR"),
        *("OUT_OF_ORDER_SEQUENCE", "POLL_TIMEOUT", "PRODUCER_FENCED", "READER_STUCK", "STREAMS_PROCESSING_FAILED"),
        *("STREAM_CLIENT_ERROR", "STREAM_THREAD_DEATH", "TASK_MIGRATED", "TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN"),
        *("TIMEOUT_INIT_PID", "TIMEOUT_METADATA", "TIMEOUT_SEND", "TXN_LATE_COMMIT", "TXN_STATE_ERROR"),
        *("TXN_TIMEOUT_ABORT", "UNKNOWN_PRODUCER_ID", "ZK_SESSION", "CONCURRENT_TRANSACTIONS", "HANGING_TXN_HINT"),
        "ZK_CONNECTION_LOST",
        *("CONTROLLER_RESIGNED", "COORDINATOR_UNAVAILABLE", "NOT_LEADER", "TXN_MARKER_RETRY"),
        *("CONNECT_OFFSETS_NOT_FLUSHED", "CONNECT_SEND_FAILED", "TXN_ABORTABLE", "TXN_OFFSETS_REFUSED"),
        *(
            "UNKNOWN_TOPIC",
            "PRODUCER_BUFFER_FULL",
            "PRODUCER_MISUSED",
            "TIMEOUT_OFFSETS",
            "TIMEOUT_POSITION",
            "HOST_NOT_RESOLVED",
        ),
        *(
            "BROKER_SILENT",
            "RECORDS_LEFT",
            "LEADER_NOT_ELECTED",
            "TXN_FENCE_NOT_WRITTEN",
            "BROKERS_UNREACHED",
            "STORAGE_ECHO",
            "MEMBER_EVICTED",
        ),
        "TASK_CORRUPTED",
    }
)
"""Categories that follow from other faults. All others are causes, which no incident next to them explains."""

_BEYOND_AN_OUTAGE: Final = frozenset(
    {
        *("CLIENT_FATAL", "INVALID_PID_MAPPING", "POLL_TIMEOUT", "STREAMS_PROCESSING_FAILED", "STREAM_CLIENT_ERROR"),
        "UNKNOWN_PRODUCER_ID",
    }
)
"""What outlasts an outage of brokers, or does not come from one."""
_LOST_QUORUM: Final = "controller_quorum_lost"
_OF_A_LOST_QUORUM: Final = frozenset({"BROKERS_UNREACHED", "BROKER_SILENT", "CONTROLLER_NOT_FOUND"})
_OF_A_RESTART: Final = frozenset(
    {
        *("COMMIT_FAILED", "CONCURRENT_TRANSACTIONS", "CONTROLLER_RESIGNED", "COORDINATOR_UNAVAILABLE", "GROUP_FENCED"),
        *("HANGING_TXN_HINT", "NOT_ENOUGH_REPLICAS", "NOT_LEADER", "TASK_MIGRATED", "TXN_ABORTABLE"),
        *("TXN_FENCE_NOT_WRITTEN", "TXN_MARKER_RETRY", "UNKNOWN_TOPIC", "ZK_SESSION", "BROKERS_UNREACHED"),
        "ZK_CONNECTION_LOST",
        *("BROKER_SILENT", "MEMBER_EVICTED", "TASK_CORRUPTED"),
    }
)
"""What a planned restart explains: clients retry through it, and none fails."""

RETRY_MS: Final = 5_000
GIVE_UP_MS: Final = 600_000
"""Longer than any usual delivery.timeout.ms."""
_WIDE: Final = frozenset(rule.cause for rule in EXPLANATIONS if not rule.same_subject)
"""Faults of the cluster that affect every application."""
_NAMES: Final[Mapping[EventField, str]] = {
    "transactional_id": "transactional.id",
    "producer_id": "producerId",
    "group": "group",
    "application_id": "application.id",
    "partition": "topic-partition",
}
_OWNERS: Final = frozenset({"application.id", "group"})
_RETRIED: Final = re.compile(r"\bretrying \([1-9]\d* attempts? left\)|\brecovering and retrying\b")
"""Messages of the Java client and librdkafka about an error that they retry."""

_NOT_WRITTEN: Final = re.compile(
    r"\b(?:[Ff]ailed|[Ff]ailure|[Uu]nable|[Cc]ould not|[Cc]annot) to (?:write|store|save|send|publish|produce)\b"
)
"""A program's words about a write that its client did not complete."""
_OF_PROGRAM: Final = "its program"

_OF_COORDINATORS: Final = "__transaction_state-"
_Key: TypeAlias = tuple[str, str]
_CLUSTER: Final[_Key] = ("cluster", "")


def find_unexplained(
    timeline: LogTimeline, events: Iterable[LogEvent], incidents: Sequence[Incident], serious: frozenset[str]
) -> Iterator[LogEvent]:
    """Yield serious records, final failures, and unknown errors that no incident explains, in the order of the scan.

    An incident explains its evidence. During its time, it also explains records of the same cluster, program, or name
    that are echoes or share a category with its evidence, which is a sample. A client that retries has not failed.

    Args:
        timeline: The events in the order of time.
        events: All events of the scan, including those without a time.
        incidents: All incidents, including those that another one explains.
        serious: The categories that call for action.
    """
    wanted = [one for one in events if one.category in serious or is_unknown_error(one) or is_final(one)]
    if not wanted:
        return
    known = timeline.by_place
    evidence = {(place.file, place.offset) for one in incidents for place in one.evidence}
    explained = _Explained(timeline, incidents, known)
    given_up = _GivenUp(timeline, (known.get((event.file, event.offset), event) for event in wanted))
    retried = (known.get((event.file, event.offset), event) for event in wanted if _is_retried(event))
    retries = _retries(event for event in retried if not given_up.has(event))
    for event in wanted:
        place = event.file, event.offset
        timed = known.get(place)
        if place in evidence or (timed and explained.has(timed)):
            continue
        if timed and _is_refused_at_the_end(timeline, timed, retries):
            yield timed
            continue
        if _is_retried(event) and not (timed and given_up.has(timed)):
            continue
        is_retried = timed is not None and _is_near(retries.get(_refusal(timed), ()), time_of(timed))
        if timed and is_retried and not stays_below_minimum(timeline, timed):
            continue
        yield timed or event


class _GivenUp:
    """Whether a client failed later with what it retried: its records expired, or the same error was final."""

    def __init__(self, timeline: LogTimeline, events: Iterable[LogEvent]) -> None:
        self._timeline = timeline
        self._failures: dict[tuple[str, str, str], list[int]] = {}
        for event in events:
            if event.time_ms is not None and not _is_retried(event):
                key = timeline.log_of(event), event.category, event.fields.get("partition", "")
                self._failures.setdefault(key, []).append(event.time_ms)
            if event.time_ms is not None and event.level in ERROR_LEVELS and _NOT_WRITTEN.search(event.message):
                self._failures.setdefault((timeline.log_of(event), _OF_PROGRAM, ""), []).append(event.time_ms)
        for moments in self._failures.values():
            moments.sort()

    def has(self, event: LogEvent) -> bool:
        """Return whether the program of a retried event gave up within ``GIVE_UP_MS``."""
        if event.time_ms is None or not self._failures or not _is_retried(event):
            return False
        log, start_ms = self._timeline.log_of(event), event.time_ms
        keys = (
            (log, category, partition)
            for category in ("TIMEOUT_SEND", event.category, _OF_PROGRAM)
            for partition in ("", event.fields.get("partition", ""))
        )
        return any(_is_within(self._failures.get(key, ()), start_ms, start_ms + GIVE_UP_MS) for key in keys)


def _is_retried(event: LogEvent) -> bool:
    # The literal rejects most messages in a fraction of the expression's time.
    return "retrying" in event.message and _RETRIED.search(event.message) is not None


def _is_within(moments: Sequence[int], start_ms: int, end_ms: int) -> bool:
    place = bisect_left(moments, start_ms)
    return place < len(moments) and moments[place] <= end_ms


def _retries(events: Iterable[LogEvent]) -> dict[_Key, list[int]]:
    """Return the times at which clients retried each refusal, earliest first; brokers log the same refusals."""
    found: dict[_Key, list[int]] = {}
    for event in events:
        if event.time_ms is not None and _is_retried(event):
            found.setdefault(_refusal(event), []).append(event.time_ms)
    return {refusal: sorted(moments) for refusal, moments in found.items()}


def _is_refused_at_the_end(timeline: LogTimeline, event: LogEvent, retries: Mapping[_Key, Sequence[int]]) -> bool:
    """Return whether a partition still had too few in-sync replicas when the log of a repeated refusal ended."""
    if event.category != "NOT_ENOUGH_REPLICAS" or timeline.log_end_ms(event) > time_of(event) + RETRY_MS:
        return False
    grown = returns_to_isr(timeline, event.fields.get("partition", ""))
    if grown and time_of(grown[-1]) >= time_of(event):
        return False
    count = len(retries.get(_refusal(event), ()))
    return count > 1 or (count == 1 and not _is_retried(event))


def _is_near(moments: Sequence[int], moment: int) -> bool:
    place = bisect_left(moments, moment - RETRY_MS)
    return place < len(moments) and moments[place] <= moment + RETRY_MS


def _refusal(event: LogEvent) -> _Key:
    return event.category, event.fields.get("partition", "")


class _Explained:
    """The categories that incidents explain, by name and time."""

    def __init__(
        self, timeline: LogTimeline, incidents: Sequence[Incident], known: Mapping[tuple[str, int], LogEvent]
    ) -> None:
        self._timeline = timeline
        self._servers = timeline.servers()
        found: dict[str, dict[_Key, list[Incident]]] = {}
        for one in incidents:
            records = [known[place.file, place.offset] for place in one.evidence if (place.file, place.offset) in known]
            keys = (
                {_CLUSTER}
                if one.kind in _WIDE or one.kind == _LOST_QUORUM
                else _names_of(one) | {key for record in records for key in self._logs(record)}
            )
            categories = _echoes_of(one) | {UNCLASSIFIED} | {record.category for record in records}
            for category in _OF_A_LOST_QUORUM if one.kind == _LOST_QUORUM else categories:
                of_category = found.setdefault(category, {})
                for key in keys:
                    of_category.setdefault(key, []).append(one)
        self._spans = {
            category: {key: spans_of(ones) for key, ones in of_category.items()}
            for category, of_category in found.items()
        }

    def has(self, event: LogEvent) -> bool:
        """Return whether an incident explains an event."""
        of_category = self._spans.get(event.category)
        if of_category is None:
            return False
        moment = time_of(event)
        for key in (_CLUSTER, *self._logs(event), *_keys_of(event)):
            spans = of_category.get(key)
            if spans is None or not spans.has(moment - AFTER_MS, moment + BEFORE_MS):
                continue
            if key != _CLUSTER or not self._is_elsewhere(event, spans.touching(moment - AFTER_MS, moment + BEFORE_MS)):
                return True
        return False

    def _is_elsewhere(self, event: LogEvent, near: Sequence[Incident]) -> bool:
        """Return whether all of some incidents are about coordinators, and an event about a client of another one.

        A producer that no coordinator's log names has a fault of its own if its error is fatal: a request that is not
        served only times out.
        """
        return event.application not in self._servers and all(
            str(one.subject.get("topic-partition", "")).startswith(_OF_COORDINATORS)
            and (
                has_other_coordinator(self._timeline, event, node_of(self._timeline, one))
                or (event.fields.get("error_state") == "fatal" and _names_another(one, event))
            )
            for one in near
        )

    def _logs(self, event: LogEvent) -> tuple[_Key, ...]:
        """Return the program of an event; none for a server, whose log concerns all programs."""
        return () if event.application in self._servers else (("log", self._timeline.log_of(event)),)


def _names_another(one: Incident, event: LogEvent) -> bool:
    """Return whether an event names a transactional id, and an incident names only other ones."""
    named = (one.subject.get("transactional.id", ""), *one.subject.get("transactional.ids", ()))
    return bool(own := event.fields.get("transactional_id")) and any(named) and own not in named


def _echoes_of(one: Incident) -> frozenset[str]:
    """Return the categories of records that follow from an incident."""
    if one.kind not in _WIDE:
        return ECHOES
    return _OF_A_RESTART if one.severity is Severity.INFO else ECHOES - _BEYOND_AN_OUTAGE


def _names_of(one: Incident) -> set[_Key]:
    owners = {("prefix", str(one.subject[name])) for name in _OWNERS if one.subject.get(name)}
    return owners | {(name, str(one.subject[name])) for name in _NAMES.values() if one.subject.get(name)}


def _keys_of(event: LogEvent) -> Iterator[_Key]:
    """Yield an event's names; the ids of Streams threads begin with the application's id."""
    for field, name in _NAMES.items():
        if value := event.fields.get(field):
            yield name, value
            if field == "transactional_id":
                yield from (("prefix", value[:place]) for place, sign in enumerate(value) if sign == "-")


def is_unknown_error(event: LogEvent) -> bool:
    """Return whether an event is an error without a category.

    A throwable without a level came from standard error, and so did a panic, even below a record with a level.
    """
    if event.category != UNCLASSIFIED:
        return False
    if event.exception is not None and (not event.level or event.exception.root_class == PANIC):
        return True
    return event.level in ERROR_LEVELS
