"""Test the usual reason of a fault against the rest of the input: what its client did before, what it got afterwards.

One record often has the same text for several reasons, so the catalog words the usual one. Its alternatives name an
observation of this module. An input that shows it refutes the usual reason, which is then not reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from eosctl.logs.classifier.catalog import Alternative, CatalogedIncident
from eosctl.logs.incidents.remaining.connection_stages import (
    is_first_request_unanswered,
    is_server_not_resolved,
    is_without_local_address,
)
from eosctl.logs.incidents.remaining.coordinator_answers import (
    is_answered_by_coordinator,
    is_asked_elsewhere,
    is_asked_to_rejoin,
    is_commit_timed_out,
    is_coordinator_found,
    is_found_each_time,
    is_group_loaded_before,
    is_loading,
)
from eosctl.logs.incidents.remaining.external_systems import is_system_unreached
from eosctl.logs.incidents.remaining.memory_sorts import (
    does_server_end,
    is_of_classes,
    is_of_dedupe_buffer,
    is_of_direct_memory,
    is_of_threads,
)
from eosctl.logs.incidents.remaining.own_words import (
    do_writes_fail,
    does_fail_again,
    has_few_outstanding,
    is_abort_required,
    is_ahead_of_log,
    is_beyond_a_gap,
    is_disk_of_another_program,
    is_expired_before_2_1,
    is_expired_unsent,
    is_feature_unsupported,
    is_group_not_joined,
    is_led_elsewhere,
    is_minimum_above_replicas,
    is_not_dialed,
    is_of_connector,
    is_of_consumer,
    is_of_librdkafka,
    is_of_listener,
    is_of_other_form,
    is_of_program,
    is_of_sink,
    is_of_topic_id,
    is_of_zookeeper,
    is_producer_fenced,
    is_refused_at_write,
    is_refused_commit,
    is_sink_commit_timed_out,
    is_table_of_host_full,
    is_without_broker,
)
from eosctl.logs.incidents.remaining.positions import has_no_reset_policy, is_reset_by_client
from eosctl.logs.incidents.remaining.sentences import INTERNAL_TOPICS
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.restorations import RESTORED_MS, restored_after_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import ERROR_LEVELS, LogEvent, is_error
from eosctl.model.severity import Severity
from eosctl.text import duration_text, time_text

Observation: TypeAlias = Callable[[LogTimeline, Sequence[LogEvent]], Mapping[str, str] | None]
"""Returns the values that an alternative's sentences can have; None if the input does not show the observation."""

IDLE_MS: Final = 7 * 86_400_000
"""The default of transactional.id.expiration.ms."""
NEAR_MS: Final = 3_600_000
"""Maximum time from a fault to the record of an answer that refutes a lasting reason."""
RENEWED_MS: Final = 10_000
"""Maximum time from a refused renewal of a session to the new one: clients connect again immediately."""
PASSING: Final = 2
"""Maximum number of refused handshakes of one client that do not show a fault of it."""
AROUND_MS: Final = 5_000
"""Maximum time between a refused handshake and the error of its client."""
LOCKED_MS: Final = 60_000
STOPPING_MS: Final = 60_000
"""Maximum time from the request to stop a server until its clients miss it."""
CLOSED_MS: Final = 300_000
"""Maximum time from the last attempt of such a client until it is closed: one that runs on misses its server."""
WAITED_MS: Final = 120_000
"""Twice the default ``throttled.unprocessed-record-max-age.ms``, after which SmallRye reports a record."""
ENDED_PAUSES: Final = 5
_SOCKETS: Final = "[SocketServer "
"""The beginning of what a broker's network layer logs."""
_USES: Final[tuple[EventCategory, ...]] = (
    *("CONCURRENT_TRANSACTIONS", "INIT_PRODUCER_ID", "NOT_ENOUGH_REPLICAS", "OUT_OF_ORDER_SEQUENCE", "TIMEOUT_SEND"),
    *("TIMEOUT_COMMIT_TXN", "TXN_RETRIED", "TXN_TIMEOUT_ABORT"),
)
"""Records of a producer that has a producer id and uses it."""
_ANSWERS: Final[tuple[EventCategory, ...]] = (
    *("ASSIGNMENT_CHANGE", "INIT_PRODUCER_ID", "METADATA_RECEIVED", "REBALANCE_DONE"),
)
"""Records of a client after an answer of a broker that had admitted it."""
_WITHOUT_TOPIC: Final = frozenset({"INTERNAL_TOPIC_NOT_CREATED", "UNKNOWN_TOPIC", "TIMEOUT_METADATA"})
_PLAIN: Final = re.compile(r"\[Producer clientId=[^\],\n]{1,300}\]")
_WITH_ID: Final = re.compile(r"\[Producer clientId=[^\]\n]{1,300}, transactionalId=")
_RENEWAL: Final = re.compile(r"\bsasl reauth failed, retrying once on new connection; broker: (-?\d{1,10}),")
_ENDED_EARLY: Final = re.compile(r"terminated during authentication|Bootstrap broker [^\n]{1,200} disconnected")


def judged_by_evidence(
    timeline: LogTimeline, known: CatalogedIncident, events: Sequence[LogEvent]
) -> tuple[CatalogedIncident, Mapping[str, str]]:
    """Return the verdict on records that the input does not refute, and the values for its sentences.

    Args:
        timeline: The logs.
        known: The usual verdict, with its alternatives.
        events: The records of one category, in order of time.
    """
    for one in known.alternatives:
        if (values := OBSERVATIONS[one.shown](timeline, events)) is not None:
            return _replaced(known, one), values
    return known, {}


def is_harmless(timeline: LogTimeline, known: CatalogedIncident, events: Sequence[LogEvent]) -> bool:
    """Return whether the input shows that records of a fault have no effect."""
    if all(one.severity is not Severity.INFO for one in known.alternatives):
        return False
    return judged_by_evidence(timeline, known, events)[0].severity is Severity.INFO


def _replaced(known: CatalogedIncident, one: Alternative) -> CatalogedIncident:
    return known._replace(
        kind=one.kind,
        cause=one.cause,
        severity=one.severity,
        confidence=one.confidence,
        unfinished="",
        what=one.what,
        next_step=one.next_step,
    )


def _is_without_transactional_id(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a Java producer that is not transactional, which names a transactional id in all of its records."""
    if any(event.application in timeline.servers() or timeline.transactional_id(event) for event in events):
        return None
    texts = [event.message for event in timeline.log_with(events[0])]
    is_plain = any(map(_PLAIN.search, texts)) and not any(map(_WITH_ID.search, texts))
    return {} if is_plain else None


def _is_used_before(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a transactional id in use less than ``IDLE_MS`` before the coordinator did not know it."""
    first = events[0]
    named = next(filter(None, (timeline.transactional_id(event) for event in events)), "")
    own = timeline.with_value("transactional_id", named, *_USES) if named else ()
    before = [event for event in own if time_of(event) < time_of(first)]
    if not before or time_of(first) - time_of(before[-1]) >= IDLE_MS:
        return None
    used_ms = time_of(before[-1])
    return {"used-at": time_text(used_ms), "idle": duration_text(time_of(first) - used_ms)}


def _is_topic_served_later(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a topic that the same client got, or the same broker used, after brokers had refused to create it."""
    last = events[-1]
    topic = last.fields.get("topic") or INTERNAL_TOPICS.get(last.fields.get("limit_setting", ""), "")
    is_server = last.application in timeline.servers()
    if not topic or topic.startswith("__") is not is_server:
        return None
    later = (event for event in timeline.log_between(last, time_of(last) + 1, time_of(last) + NEAR_MS))
    found = next((event for event in later if _is_of_topic(event, topic)), None)
    return {"served-at": time_text(time_of(found))} if found else None


def _is_of_topic(event: LogEvent, topic: str) -> bool:
    names = [event.fields.get("topic", ""), event.fields.get("partition", "").rpartition("-")[0]]
    if event.category == "REBALANCE_DONE" and f"({topic}-" in event.message:
        names.append(topic)
    return event.category not in _WITHOUT_TOPIC and topic in names


def _is_admitted_otherwise(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe brokers that admitted the same client before or after they ended its connections without a reason."""
    first, last = events[0], events[-1]
    if not all(_ENDED_EARLY.search(event.message) for event in events) or first.application in timeline.servers():
        return None
    clients = {client for event in events if (client := event.fields.get("client_id"))}
    near = timeline.log_between(first, time_of(first) - NEAR_MS, time_of(last) + NEAR_MS, _ANSWERS)
    own = [event for event in near if not clients or event.fields.get("client_id", "") in (*clients, "")]
    if later := [event for event in own if time_of(event) > time_of(last)]:
        return {"when": f"it was admitted again at {time_text(time_of(later[0]))}"}
    if before := [event for event in own if time_of(event) < time_of(first)]:
        return {"when": f"it had been admitted at {time_text(time_of(before[-1]))}"}
    return None


def _is_authenticated_anew(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a client of franz-go that got a session on a new connection soon after each refused renewal of one."""
    anew_ms = 0
    for event in events:
        renewal = _RENEWAL.search(event.message)
        later = timeline.log_between(event, time_of(event), time_of(event) + RENEWED_MS, ("AUTHENTICATED",))
        own = [one for one in later if renewal and f"; broker: {renewal[1]}," in one.message and _is_behind(one, event)]
        if not own:
            return None
        anew_ms = time_of(own[0])
    return {"authenticated-at": time_text(anew_ms)}


def _is_behind(one: LogEvent, event: LogEvent) -> bool:
    return one.file != event.file or one.offset > event.offset


def _is_handshake_in_passing(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a broker that notes one or two refused handshakes as information, while no client here fails."""
    is_of_server = all(event.application in timeline.servers() or _SOCKETS in event.message for event in events)
    if len(events) > PASSING or not is_of_server:
        return None
    if any(event.level != "INFO" for event in events) or timeline.log_end_ms(events[-1]) <= time_of(events[-1]):
        return None
    near = within(timeline.events, time_of(events[0]) - AROUND_MS, time_of(events[-1]) + AROUND_MS)
    clients = (event for event in near if event.application not in timeline.servers() and event not in events)
    return None if any(is_error(event) or event.exception is not None for event in clients) else {}


def _is_lock_released(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a stream thread that runs its tasks soon after it waited for the lock of a state directory."""
    last = events[-1]
    thread = last.fields.get("stream_thread") or last.thread
    if any(event.level in ERROR_LEVELS for event in events):
        return None
    later = timeline.log_between(last, time_of(last), time_of(last) + LOCKED_MS, ("STREAM_STATE",))
    running = [event for event in later if event.fields.get("to_state") == "RUNNING" and _is_of_thread(event, thread)]
    return {"running-at": time_text(time_of(running[0]))} if running else None


def _is_of_thread(event: LogEvent, thread: str) -> bool:
    return bool(thread) and thread in (event.fields.get("stream_thread"), event.thread)


def _is_slow_work(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a program that reports a blocked thread, or a step of ten seconds or more, while a record waits."""
    first = events[0]
    slow = timeline.log_between(first, time_of(first) - WAITED_MS, time_of(events[-1]), ("SLOW_STEP", "THREAD_BLOCKED"))
    return {"slow-at": time_text(time_of(slow[0]))} if slow else None


def _is_server_stopped(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a server that ends on request in the file of its client, and does not start before the client is closed.

    A test with an embedded broker stops that first. Clients of a server that runs elsewhere write to other files.
    """
    first, last = events[0], events[-1]
    stops = [one for one in timeline.server_events("BROKER_SIGNAL") if _is_before(one, first)]
    since_ms = max(map(time_of, stops), default=time_of(first))
    clients = {client for event in events if (client := event.fields.get("client_id"))}
    closed = timeline.log_between(last, time_of(last), time_of(last) + CLOSED_MS, ("CLIENT_STOP",))
    closed = [event for event in closed if event.fields.get("client_id", "") in clients]
    if not stops or not clients or {event.fields["client_id"] for event in closed} != clients:
        return None
    until_ms = time_of(closed[-1])
    ended = within(timeline.server_events("BROKER_STOPPED", "BROKER_START"), since_ms, until_ms)
    own = [event.category for event in ended if event.file == first.file]
    stopped_at, closed_at = time_text(since_ms), time_text(until_ms)
    return {"stopped-at": stopped_at, "closed-at": closed_at} if set(own) == {"BROKER_STOPPED"} else None


def _is_before(event: LogEvent, first: LogEvent) -> bool:
    return event.file == first.file and time_of(first) - STOPPING_MS <= time_of(event) <= time_of(first)


def _is_ended_before_its_log(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe records that returned regularly, and then not for ``ENDED_PAUSES`` times their usual pause."""
    first, last = time_of(events[0]), time_of(events[-1])
    left_ms = timeline.log_end_ms(events[-1]) - last
    usual_ms = (last - first) / max(1, len(events) - 1)
    if left_ms < max(AROUND_MS, ENDED_PAUSES * usual_ms):
        return None
    return {"ended-at": time_text(last), "left": duration_text(left_ms)}


def _is_restored_after_long(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe corrupted tasks of one moment that were restored, but not soon."""
    took_ms = restored_after_ms(timeline, events)
    return {"took": duration_text(took_ms)} if took_ms >= RESTORED_MS else None


OBSERVATIONS: Final[Mapping[str, Observation]] = {
    "admitted-otherwise": _is_admitted_otherwise,
    "ahead-of-the-log": is_ahead_of_log,
    "answered-by-coordinator": is_answered_by_coordinator,
    "asked-elsewhere": is_asked_elsewhere,
    "authenticated-anew": _is_authenticated_anew,
    "commits-refused": is_refused_commit,
    "commit-timed-out": is_commit_timed_out,
    "coordinator-loading": is_loading,
    "coordinator-found": is_coordinator_found,
    "dedupe-buffer": is_of_dedupe_buffer,
    "direct-memory": is_of_direct_memory,
    "ended-before-its-log": _is_ended_before_its_log,
    "external-system-unreached": is_system_unreached,
    "expired-before-2-1": is_expired_before_2_1,
    "expired-unsent": is_expired_unsent,
    "fails-again": does_fail_again,
    "feature-unsupported": is_feature_unsupported,
    "few-outstanding": has_few_outstanding,
    "form-not-valid": is_of_other_form,
    "first-request-unanswered": is_first_request_unanswered,
    "found-each-time": is_found_each_time,
    "files-of-the-host": is_table_of_host_full,
    "group-not-joined": is_group_not_joined,
    "group-loaded-before": is_group_loaded_before,
    "handshake-in-passing": _is_handshake_in_passing,
    "led-elsewhere": is_led_elsewhere,
    "lock-released": _is_lock_released,
    "minimum-above-replicas": is_minimum_above_replicas,
    "memory-of-classes": is_of_classes,
    "must-abort": is_abort_required,
    "native-threads": is_of_threads,
    "no-local-address": is_without_local_address,
    "no-broker-left": is_without_broker,
    "not-dialed": is_not_dialed,
    "of-a-connector": is_of_connector,
    "of-a-consumer": is_of_consumer,
    "of-librdkafka": is_of_librdkafka,
    "of-another-program": is_disk_of_another_program,
    "of-zookeeper": is_of_zookeeper,
    "of-a-sink": is_of_sink,
    "sink-commit-timed-out": is_sink_commit_timed_out,
    "listener-threw": is_of_listener,
    "offset-without-a-record": is_beyond_a_gap,
    "producer-fenced": is_producer_fenced,
    "reset-by-the-client": is_reset_by_client,
    "refused-at-write": is_refused_at_write,
    "restored-after-long": _is_restored_after_long,
    "server-ends": does_server_end,
    "server-stopped-on-purpose": _is_server_stopped,
    "servers-not-resolved": is_server_not_resolved,
    "slow-work": _is_slow_work,
    "asked-to-rejoin": is_asked_to_rejoin,
    "topic-id-differs": is_of_topic_id,
    "topic-of-a-program": is_of_program,
    "topic-served-later": _is_topic_served_later,
    "used-before": _is_used_before,
    "without-reset-policy": has_no_reset_policy,
    "without-transactional-id": _is_without_transactional_id,
    "writes-fail": do_writes_fail,
}
"""The observations by their names in ``incidents.toml``."""
