"""Detect exceptions that ended a thread of Kafka Streams, and state stores that cannot be opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.programs.broken_stores import broken_store
from eosctl.logs.incidents.programs.streams_names import CLIENT, StreamsNames
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.second_categories import category_of_cause
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

FAILURE_SPREAD_MS: Final = 3_000
_REFUSED_WRITES: Final = (
    *("INVALID_PID_MAPPING", "UNKNOWN_PRODUCER_ID", "RECORD_TOO_LARGE", "TIMEOUT_SEND", "TIMEOUT_INIT_PID"),
    *("NOT_ENOUGH_REPLICAS", "AUTHZ_OTHER", "AUTHZ_TXN_ID", "AUTHZ_CLUSTER", "TIMEOUT_METADATA"),
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
    return next((CLIENT.sub("", name) for name in names if name and CLIENT.search(name)), "")


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
