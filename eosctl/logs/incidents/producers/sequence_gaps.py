"""Detect batches whose sequence number was not the next one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.producers.lost_writes import (
    elections_before,
    lost_by_election,
    lost_by_restart,
    restart_before,
)
from eosctl.logs.incidents.producers.reused_sequences import are_used_again, used_again
from eosctl.logs.incidents.producers.shown_in_log import partition_in_words, shown_in_log
from eosctl.logs.incidents.producers.stuck_sequences import stuck_sequences
from eosctl.logs.incidents.producers.write_owners import EPISODE_MS, has_client, owner_of
from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.timeline.backoffs import retries
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text

RETRIED_MS = 2_000
"""Maximum time between a broker's refusal and the client's record of it."""
ANSWER_MS: Final = 100
"""Maximum time from a broker's refusal to its client's record of the answer."""
_EXPIRED_MS: Final = 120_000
_IDEMPOTENT_ONLY: Final = (
    "No record names a transactional id. Create a new producer and send the unacknowledged records again; if it has "
    "transactions after all, abort this one first and repeat its work."
)
_TRANSACTIONAL: Final = (
    "Check the producer's errors before it; abort the transaction and send the records again. An idempotent producer "
    "without transactions is created anew."
)


def find_sequence_gaps(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield batches whose sequence was not the next one.

    If only a broker logs a gap, the client may have sent the missing batch again, as after a change of leaders.
    """
    gaps = timeline.of("OUT_OF_ORDER_SEQUENCE")
    retried = by_key((_partition(event), event) for event in gaps if _is_retried(event))
    of_clients = by_key((timeline.log_of(event), event) for event in gaps if _is_retried(event))
    answers = {(event.file, event.offset) for one in stuck_sequences(timeline) for event in one.answers}
    events = [
        event
        for event in gaps
        if _is_gap(event)
        and (event.file, event.offset) not in answers
        and not _is_near(event, retried.get(_partition(event), ()))
        # A record without a partition is about the same batch if its client sends one again.
        and (_partition(event) or not _is_near(event, of_clients.get(timeline.log_of(event), ())))
    ]
    names = StreamsNames(timeline)
    keyed = ((_writer(timeline, event), event) for event in events)
    for owner, group in by_key(keyed).items():
        for episode in (part for one in retries(group, EPISODE_MS) for part in _by_partition(one)):
            fields = {**shown_in_log(timeline, episode), **_merged_fields(episode)}
            partition = fields.get("partition", "").rpartition(":")[2]
            producers = tuple(dict.fromkeys(one for event in episode if (one := event.fields.get("producer_id"))))
            is_streams = "stream_thread" in fields
            # A broker does not log whether a producer has transactions.
            is_plain = not owner and not is_streams and has_client(timeline, episode)
            subject: dict[str, str | tuple[str, ...]] = {
                "transactional.id": owner,
                "application.id": names.of(episode) if is_streams and not owner else "",
                "producerId": fields.get("producer_id", "") if len(producers) < 2 else "",
                "producerIds": producers if len(producers) > 1 else (),
                "topic-partition": partition,
                "topic": "" if partition else fields.get("topic", ""),
                "task": fields.get("task", ""),
            }
            if are_used_again(episode):
                yield used_again(subject, fields, episode)
                continue
            if elections := elections_before(timeline, partition, episode[0]):
                yield lost_by_election(subject, fields, elections, episode)
                continue
            if started := restart_before(timeline, episode):
                yield lost_by_restart(subject, timeline.node_of(started.application), started, episode)
                continue
            yield incident(
                "out_of_order_sequence",
                "sequence-gap",
                subject,
                episode,
                _gap_in_words(timeline, episode, fields),
                _IDEMPOTENT_ONLY if is_plain else _TRANSACTIONAL,
                confidence=0.85 if has_client(timeline, episode) else 0.65,
            )


def _gap_in_words(timeline: LogTimeline, episode: Sequence[LogEvent], fields: Mapping[EventField, str]) -> str:
    """Describe a refused sequence number."""
    partition = partition_in_words(fields)
    if sequence := fields.get("sequence"):
        numbers = f"{sequence} after {fields.get('current_sequence', '?')}"
        others = len({one for event in episode if (one := event.fields.get("producer_id"))}) - 1
        also = f" The broker also refused batches of {count_text(others, 'other producer')}." if others > 0 else ""
        return (
            f"A batch for {partition} came with sequence {numbers}: those in between are missing on the leader.{also}"
        )
    reason = "one before it is missing, or the broker lost the producer's state."
    if _has_expired(timeline, episode[0]):
        reason = "messages before it timed out in the client while they were in flight, which left a gap."
    effect = ""
    if any("Fatal error:" in event.message for event in episode):
        effect = (
            " The error is fatal: the producer refuses all further messages until the application creates a new one."
        )
    elif any("thread is going to shut down" in event.message for event in episode):
        effect = " The stream thread that sent it died."
    return f"A broker refused a batch for {partition} for its sequence number: {reason}{effect}"


def _has_expired(timeline: LogTimeline, gap: LogEvent) -> bool:
    """Return whether messages of the same program timed out shortly before a gap."""
    return any(
        event.category == "TIMEOUT_SEND" or "essage timed out" in event.message
        for event in timeline.log_between(gap, time_of(gap) - _EXPIRED_MS, time_of(gap))
    )


def _merged_fields(episode: Sequence[LogEvent]) -> dict[EventField, str]:
    """Return the fields of a refusal: the broker's first, then those that the client adds."""
    ordered = sorted(episode, key=lambda event: not event.fields.get("sequence"))
    fields: dict[EventField, str] = {}
    for event in ordered:
        for name, value in event.fields.items():
            if value:
                fields.setdefault(name, value)
    return fields


def _writer(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the transactional id of a write; empty for a producer that was initialized without one."""
    producer_id = event.fields.get("producer_id", "")
    if owner := owner_of(timeline, event):
        return owner
    if event.application in timeline.servers():
        return event.fields.get("transactional_id", "")
    if not producer_id and not event.fields.get("transactional_id") and (answered := _refusal_of(timeline, event)):
        return owner_of(timeline, answered)
    is_known = bool(producer_id and timeline.with_value("producer_id", producer_id, "INIT_PRODUCER_ID"))
    return "" if is_known else timeline.transactional_id(event)


def _refusal_of(timeline: LogTimeline, event: LogEvent) -> LogEvent | None:
    """Return the broker's record of the refusal that a client reports in the same moment with its topic alone."""
    near = within(
        timeline.server_events("OUT_OF_ORDER_SEQUENCE"), time_of(event) - ANSWER_MS, time_of(event) + ANSWER_MS
    )
    own = (one for one in near if _partition(one).rpartition("-")[0] == event.fields.get("topic"))
    return min(own, key=lambda one: abs(time_of(one) - time_of(event)), default=None)


def _is_gap(event: LogEvent) -> bool:
    """Return whether a batch is missing, not only late; a batch whose partition is not verified yet has arrived."""
    if event.fields.keys() & {"expected_sequence", "earliest_sequence"} or event.fields.get("current_sequence") == "-1":
        return False
    return not _is_retried(event)


def _is_retried(event: LogEvent) -> bool:
    """Return whether a client resends a batch; it does so while an earlier one is in flight, which is not a gap."""
    return "retrying (" in event.message or "recovering and retrying" in event.message


def _by_partition(episode: Sequence[LogEvent]) -> Iterator[Sequence[LogEvent]]:
    """Split gaps by their partitions; a client's record without one is about the first of them."""
    named = [partition for event in episode if (partition := _partition(event))]
    first = named[0] if named else ""
    yield from by_key((_partition(event) or first, event) for event in episode).values()


def _partition(event: LogEvent) -> str:
    return event.fields.get("partition", "").rpartition(":")[2]


def _is_near(event: LogEvent, retried: Sequence[LogEvent]) -> bool:
    """Return whether a client logged at about that time that it resends a batch of the same partition."""
    first = bisect_left(retried, time_of(event) - RETRIED_MS, key=time_of)
    return first < len(retried) and time_of(retried[first]) <= time_of(event) + RETRIED_MS
