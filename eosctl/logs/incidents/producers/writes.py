"""Detect writes that arrived late or out of order, and hanging transactions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.producers.lost_writes import (
    elections_before,
    lost_by_election,
    lost_by_restart,
    restart_before,
)
from eosctl.logs.incidents.producers.markers import RefusedMarkers
from eosctl.logs.incidents.producers.outlived import outlived
from eosctl.logs.incidents.producers.shown_in_log import partition_in_words, shown_in_log
from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.timeline.durations import overdue_before
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import last_before, within
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline, speaks_protocol
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text

STUCK_GAP_MS = 15_000
STUCK_MIN_S = 8
EPISODE_MS = 60_000
_WRITE: Final = re.compile(
    r"\b(?:produc(?:e|ing)|writ(?:e|ing)|append|send|batch|late\b|delayed|belated|straggl)", re.IGNORECASE
)
_ENDING: Final = re.compile(
    r"\b(?:end(?:ing)?[ _-]?(?:of )?(?:the )?(?:txn|transaction)|EndTxn|commit\w*|abort\w*)\b", re.IGNORECASE
)
_EXPIRED_MS: Final = 120_000
CLOCKS_MS: Final = 1_500
"""Maximum difference between the clocks of a client and a broker."""
LOOK_BACK_MS: Final = 600_000
RETRIED_MS = 2_000
"""Maximum time between a broker's refusal and the client's record of it."""


def find_hanging_transactions(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the partitions on which a read_committed reader stalled while the log grew.

    Brokers log nothing about an append after the end of its transaction. The evidence is the reader's log and the list
    of open transactions. A transaction that ended at its timeout explains a pause and does not hang.
    """
    for partition, events in by_key(
        (event.fields.get("partition", ""), event) for event in timeline.of("READER_STUCK")
    ).items():
        for episode in _stands(events):
            last = episode[-1]
            if int(last.fields.get("stuck_s", STUCK_MIN_S)) < STUCK_MIN_S or not _grew(episode):
                continue
            offset = last.fields.get("last_stable_offset", "")
            held = timeline.with_value("start_offset", offset, "OPEN_TRANSACTION")
            ended = _ended_by_timeout(timeline, episode)
            if ended and not held:
                continue
            producer = held[0].fields if held else {}
            inits = _named_producers(timeline, producer.get("producer_id", ""), time_of(episode[0]))
            owner = inits[-1].fields["transactional_id"] if inits else ""
            owner = owner or timeline.owners_of_producers.get(producer.get("producer_id", ""), "")
            yield incident(
                "hanging_transaction",
                "late-append-after-end-of-transaction",
                {
                    "transactional.id": owner,
                    "producerId": producer.get("producer_id", ""),
                    "producerEpoch": producer.get("producer_epoch", ""),
                    "topic-partition": partition,
                    "startOffset": offset,
                },
                [*episode, *held, *inits[-1:]],
                f"Readers of {partition or 'a partition'} stopped at offset {offset}, the start of a transaction that "
                "no coordinator completes"
                + (f" (producer {producer['producer_id']} of {owner or 'an unknown id'})." if held else "."),
                "Find and abort it: eosctl txn hanging. Set transaction.partition.verification.enable=true.",
                confidence=0.95 if held else 0.7,
                t_end_ms=max(time_of(event) for event in episode),
            )


def _stands(events: Sequence[LogEvent]) -> Iterator[list[LogEvent]]:
    """Split readers' reports about a partition where the readers advanced; some report once in many minutes."""
    current: list[LogEvent] = []
    for episode in episodes(events, STUCK_GAP_MS):
        offset = episode[0].fields.get("last_stable_offset")
        if current and (not offset or current[-1].fields.get("last_stable_offset") != offset):
            yield current
            current = []
        current += episode
    if current:
        yield current


def _grew(episode: Sequence[LogEvent]) -> bool:
    marks = [event.fields.get("high_watermark", "") for event in episode]
    stable = [event.fields.get("last_stable_offset", "") for event in episode]
    return not marks[-1] or int(marks[-1]) > int(stable[-1] or 0)


def _ended_by_timeout(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    start, end = time_of(episode[0]) - STUCK_GAP_MS, time_of(episode[-1]) + STUCK_GAP_MS
    rollbacks = within(timeline.of("TXN_TIMEOUT_ABORT"), start, end)
    return bool(rollbacks) and time_of(episode[-1]) <= time_of(rollbacks[-1]) + STUCK_GAP_MS


def find_refused_writes(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the late writes that partition verification rejected, from the log of the client that sent them."""
    answers = timeline.client_events("INVALID_TXN_STATE", "TXN_ABORTABLE")
    refused = [event for event in answers if speaks_protocol(timeline, event) and _is_of_write(event)]
    for transactional_id, events in by_key((timeline.transactional_id(event), event) for event in refused).items():
        for episode in episodes(events, EPISODE_MS):
            yield incident(
                "late_append_refused",
                "late-append-after-end-of-transaction",
                {
                    "transactional.id": transactional_id,
                    **_producer(timeline, transactional_id, episode),
                    "topic-partition": episode[0].fields.get("partition", ""),
                },
                episode,
                f"{opening(program_of(timeline, episode[0]))} wrote for {transactional_id or 'a transaction'} "
                "after its end and was refused.",
                "The data is safe. Find the writer that is not aware that its transaction has ended.",
                severity=Severity.WARNING,
                confidence=0.8,
            )


def _is_of_write(event: LogEvent) -> bool:
    """Return whether a broker refused data; since 3.8 it answers newer clients that the transaction must be aborted.

    Both errors also answer other requests, such as one that ends a transaction and writes nothing.
    """
    if event.category == "INVALID_TXN_STATE":
        return _ENDING.search(event.message) is None
    return _WRITE.search(event.message) is not None


def find_zombie_writers(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield writes with an epoch older than the producer's current one."""
    markers = RefusedMarkers(timeline)
    broker = [
        event
        for event in timeline.server_events("INVALID_PRODUCER_EPOCH")
        if event.fields.keys() & {"producer_id", "current_epoch"} and not markers.have(event)
    ]
    client = [event for event in timeline.client_events("INVALID_PRODUCER_EPOCH") if speaks_protocol(timeline, event)]
    keyed = [(_owner(timeline, event), event) for event in broker]
    keyed += [(timeline.transactional_id(event), event) for event in client]
    for transactional_id, events in by_key(sorted(keyed, key=lambda pair: time_of(pair[1]))).items():
        for episode in episodes(events, EPISODE_MS):
            producer = _producer(timeline, transactional_id, episode)
            partition = next(filter(None, (event.fields.get("partition") for event in episode)), "")
            subject = {"transactional.id": transactional_id, **producer, "topic-partition": partition}
            subject = subject if any(subject.values()) else {"application": episode[0].application}
            known = timeline.server_events_about(transactional_id, "INIT_PRODUCER_ID", "TXN_TIMEOUT_ABORT")
            is_open = not known and not _is_known_to_brokers(timeline, episode)
            if is_open and (overdue := overdue_before(timeline, episode[0])):
                yield outlived(timeline, transactional_id, overdue, episode, partition)
                continue
            who = transactional_id or producer.get("producerId", "")
            explanation, next_step, confidence = _epoch_is_over(timeline, episode, who)
            yield incident(
                "invalid_producer_epoch",
                "zombie-writer",
                subject,
                episode,
                explanation,
                next_step,
                confidence=confidence,
            )


def _is_known_to_brokers(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    return any(event.application in timeline.servers() for event in episode)


def _epoch_is_over(timeline: LogTimeline, episode: Sequence[LogEvent], producer: str) -> tuple[str, str, float]:
    """Return the description of a refused epoch, the next step, and the confidence."""
    who = f"the producer {producer}" if producer else f"a producer of {program_of(timeline, episode[0])}"
    if _is_known_to_brokers(timeline, episode):
        refused = f"A process still writes for {who} with an old epoch; the broker refused it."
        if _has_client(timeline, episode):
            return refused, "Find the process with the old epoch and stop it.", 0.85
        both = (
            f"{refused} Another instance has taken its transactional id, or the coordinator aborted its transaction at "
            "transaction.timeout.ms: a broker's log of the write does not show which."
        )
        return (
            both,
            "Find the process with the old epoch. Add its log and the transaction coordinator's server.log.",
            0.5,
        )
    why = (
        f"A broker refused {who} for its epoch: another instance has taken its transactional id, or the coordinator "
        "aborted its transaction at transaction.timeout.ms. Both look alike to the client."
    )
    look = "Add the transaction coordinator's server.log of this time, and look for a second instance with the same id."
    return why, look, 0.5


def _producer(timeline: LogTimeline, transactional_id: str, episode: Sequence[LogEvent]) -> dict[str, str]:
    """Return the producer that wrote: the one that the broker names, or else the last one that its client received."""
    got = timeline.client_events_about(
        transactional_id, "TRANSACTIONAL_ID_NAMED", "INIT_PRODUCER_ID", having="producer_id"
    )
    given = timeline.server_events_about(transactional_id, "INIT_PRODUCER_ID", having="producer_id")
    before = last_before(got, time_of(episode[0]) + 1)
    for event in (*episode, *([before] if before else ()), *given[:1]):
        if producer_id := event.fields.get("producer_id"):
            # The epoch that a coordinator assigned may be a later one.
            epoch = "" if event.category == "INIT_PRODUCER_ID" else event.fields.get("producer_epoch", "")
            return {"producerId": producer_id, "producerEpoch": epoch}
    return {}


def _has_client(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    """Return whether an application logged the refusal, not only brokers."""
    return any(event.application not in timeline.servers() for event in episode)


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
    events = [
        event
        for event in gaps
        if _is_gap(event)
        and not _is_near(event, retried.get(_partition(event), ()))
        # A record without a partition is about the same batch if its client sends one again.
        and (_partition(event) or not _is_near(event, of_clients.get(timeline.log_of(event), ())))
    ]
    names = StreamsNames(timeline)
    keyed = ((_writer(timeline, event), event) for event in events)
    for owner, group in by_key(keyed).items():
        for episode in (part for one in episodes(group, EPISODE_MS) for part in _by_partition(one)):
            fields = {**shown_in_log(timeline, episode), **_merged_fields(episode)}
            partition = fields.get("partition", "").rpartition(":")[2]
            producers = tuple(dict.fromkeys(one for event in episode if (one := event.fields.get("producer_id"))))
            is_streams = "stream_thread" in fields
            # A broker does not log whether a producer has transactions.
            is_plain = not owner and not is_streams and _has_client(timeline, episode)
            subject: dict[str, str | tuple[str, ...]] = {
                "transactional.id": owner,
                "application.id": names.of(episode) if is_streams and not owner else "",
                "producerId": fields.get("producer_id", "") if len(producers) < 2 else "",
                "producerIds": producers if len(producers) > 1 else (),
                "topic-partition": partition,
                "topic": "" if partition else fields.get("topic", ""),
                "task": fields.get("task", ""),
            }
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
                confidence=0.85 if _has_client(timeline, episode) else 0.65,
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
    if owner := _owner(timeline, event):
        return owner
    if event.application in timeline.servers():
        return event.fields.get("transactional_id", "")
    is_known = bool(producer_id and timeline.with_value("producer_id", producer_id, "INIT_PRODUCER_ID"))
    return "" if is_known else timeline.transactional_id(event)


def _owner(timeline: LogTimeline, event: LogEvent) -> str:
    # Redpanda's coordinator names the id itself.
    if named := event.fields.get("transactional_id"):
        return named
    inits = _named_producers(timeline, event.fields.get("producer_id", ""), time_of(event))
    return inits[-1].fields["transactional_id"] if inits else _owner_of_epoch(timeline, event)


def _owner_of_epoch(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the only id that was initialized with the epoch of a refusal, which up to 2.4 has no producer id."""
    epoch = event.fields.get("current_epoch")
    if event.fields.get("producer_id") or not epoch:
        return ""
    inits = within(timeline.server_events("INIT_PRODUCER_ID"), time_of(event) - LOOK_BACK_MS, time_of(event))
    owners = {one.fields.get("transactional_id", "") for one in inits if one.fields.get("producer_epoch") == epoch}
    return owners.pop() if len(owners) == 1 else ""


def _named_producers(timeline: LogTimeline, producer_id: str, moment: int) -> Sequence[LogEvent]:
    """Return the events that name a producer id's transactional id: all until a moment, else the first one after it.

    The logs may come from several clusters, and every cluster assigns the same producer ids.
    """
    for category in ("INIT_PRODUCER_ID", "TRANSACTIONAL_ID_NAMED") if producer_id else ():
        if named := timeline.with_value("producer_id", producer_id, category, having="transactional_id"):
            return [one for one in named if time_of(one) <= moment + CLOCKS_MS] or named[:1]
    return ()


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
