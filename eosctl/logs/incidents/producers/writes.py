"""Detect writes that arrived late, and hanging transactions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.producers.markers import RefusedMarkers
from eosctl.logs.incidents.producers.outlived import outlived
from eosctl.logs.incidents.producers.write_owners import (
    EPISODE_MS,
    has_client,
    is_of_coordinator,
    named_producers,
    owner_of,
)
from eosctl.logs.incidents.timeline.durations import overdue_before
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import last_before, within
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline, speaks_protocol
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

EXPIRED_MS: Final = 90_000
"""Maximum time from the end of a transaction at its timeout to the refusal of its producer for one incident."""
STUCK_GAP_MS = 15_000
STUCK_MIN_S = 8
_WRITE: Final = re.compile(
    r"\b(?:produc(?:e|ing)|writ(?:e|ing)|append|send|batch|late\b|delayed|belated|straggl)", re.IGNORECASE
)
_OTHER_REQUEST: Final = re.compile(
    r"\b(?:(?:end|finish)(?:ing)?[ _-]?(?:of )?(?:the )?(?:txn|transaction)|EndTxn|commit\w*|abort\w*"
    r"|roll(?:ing)?[ -]?back|init(?:ializ\w+)?[ _-]?(?:the )?(?:transactions?|producer[ _-]?id)"
    r"|Add(?:Offsets|Partitions)ToTxn|TxnOffsetCommit"
    r"|(?:send|add)(?:ing)?[ _-]?(?:the )?(?:consumer )?(?:offsets|partitions))",
    re.IGNORECASE,
)


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
            inits = named_producers(timeline, producer.get("producer_id", ""), time_of(episode[0]))
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

    Both errors also answer requests that write nothing, such as one that ends a transaction.
    """
    if _OTHER_REQUEST.search(event.message) is not None:
        return False
    return bool(event.fields.get("partition")) or _WRITE.search(event.message) is not None


def find_zombie_writers(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield writes with an epoch older than the producer's current one."""
    markers = RefusedMarkers(timeline)
    broker = [
        event
        for event in timeline.server_events("INVALID_PRODUCER_EPOCH")
        if event.fields.keys() & {"producer_id", "current_epoch"} and not markers.have(event)
    ]
    client = [event for event in timeline.client_events("INVALID_PRODUCER_EPOCH") if speaks_protocol(timeline, event)]
    keyed = [(owner_of(timeline, event), event) for event in broker]
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
            if expired := _expired_before(timeline, episode):
                yield _ended_at_its_timeout(subject, who, expired, episode)
                continue
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


def _expired_before(timeline: LogTimeline, episode: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the coordinator's records that it expired the transaction of a producer just before it was refused."""
    first = episode[0]
    producer = first.fields.get("producer_id", "")
    if not producer or first.application not in timeline.servers() or has_client(timeline, episode):
        return ()
    # Its client may report the refusal without a name.
    refused = timeline.client_events("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "INVALID_TXN_STATE")
    if within(refused, time_of(first) - EXPIRED_MS, time_of(first) + EXPIRED_MS):
        return ()
    own = timeline.with_value("producer_id", producer, "TXN_TIMEOUT_ABORT")
    return within(own, time_of(first) - EXPIRED_MS, time_of(first))


def _ended_at_its_timeout(
    subject: Mapping[str, str], who: str, expired: Sequence[LogEvent], episode: Sequence[LogEvent]
) -> Incident:
    epoch = episode[0].fields.get("current_epoch", "")
    raised = f" and raised its epoch to {epoch}" if epoch else ""
    return incident(
        "transaction_timeout",
        "transaction-longer-than-its-timeout",
        subject,
        [*expired, *episode],
        f"The coordinator expired the transaction of {who} at {time_text(time_of(expired[0]))}{raised}: what its "
        "client sends with the old one is refused. No client's log here shows what took so long.",
        "Add the client's log of this time, and find what made the transaction long. Raise transaction.timeout.ms only "
        "if one may take that long.",
        confidence=0.8,
    )


def _is_known_to_brokers(timeline: LogTimeline, episode: Sequence[LogEvent]) -> bool:
    return any(event.application in timeline.servers() for event in episode)


def _epoch_is_over(timeline: LogTimeline, episode: Sequence[LogEvent], producer: str) -> tuple[str, str, float]:
    """Return the description of a refused epoch, the next step, and the confidence."""
    who = f"the producer {producer}" if producer else f"a producer of {program_of(timeline, episode[0])}"
    if _is_known_to_brokers(timeline, episode):
        refused = f"A process still writes for {who} with an old epoch; the broker refused it."
        if has_client(timeline, episode):
            return refused, "Find the process with the old epoch and stop it.", 0.85
        if any(map(is_of_coordinator, episode)):
            why = (
                f"A client used {who} with an old epoch; the broker refused it as transaction coordinator. Another "
                "instance has taken its transactional id, or the coordinator raised the epoch itself when the "
                "transaction expired: this record does not show which."
            )
            look = "Add the client's log, and look for the expiration of its transaction in the coordinator's log."
            return why, look, 0.5
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
