"""Transactions ended by someone other than their producer, derived from the transaction log.

A client's EndTxn and the coordinator's abort leave different records. Below TV2, only the coordinator bumps the epoch
when it aborts (the fence), so PrepareAbort with a later epoch than Ongoing is the coordinator's: after the timeout, or
because an InitProducerId found the transaction open. With TV2, every end of a transaction bumps the epoch, and a fence
shows only in the next record: the InitProducerId that caused it is retried until the abort is complete, so an Empty
record of the next epoch directly follows CompleteAbort. A fence of eosctl itself is recognized by the epoch that its
audit file contains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.fencing import AbortedRange, FencingCause, FencingEvent
from eosctl.model.history import TransactionLogEntry
from eosctl.model.limits import Limits
from eosctl.model.own_fence import OwnFence
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Confidence, Evidence
from eosctl.text import duration_text, time_text

TV2: Final = 2
# Admin.fenceProducers sent this timeout up to Kafka 3.7 (KAFKA-16047).
ADMIN_FENCE_TIMEOUT_MS: Final = 1


class _Abort(NamedTuple):
    """The records of an aborted transaction; `complete` and `successor` if present."""

    ongoing: TransactionLogEntry
    prepare: TransactionLogEntry
    complete: TransactionLogEntry | None
    successor: TransactionLogEntry | None


def find_fencings(snapshot: ClusterSnapshot, limits: Limits | None = None) -> tuple[FencingEvent, ...]:
    """Find transactions aborted by the coordinator instead of their producer, oldest first.

    Args:
        snapshot: The snapshot, with `transaction_history`; collected aborted ranges, coordinators, and own fences are
            included.
        limits: Thresholds.
    """
    limits = limits or Limits()
    histories = snapshot.history_by_id
    coordinators = {
        t.transactional_id: t.coordinator_id for t in snapshot.transactions if t.transactional_id in histories
    }
    events = [
        replace(
            event,
            coordinator_id=coordinators.get(transactional_id),
            aborted_ranges=_ranges_of(event, snapshot.aborted_ranges),
        )
        for transactional_id, entries in histories.items()
        for abort in _aborts(entries)
        if (event := _explain(abort, snapshot.own_fences, limits)) is not None
    ]
    return tuple(sorted(events, key=lambda e: (e.aborted_at_ms or 0, e.transactional_id)))


def _aborts(entries: Sequence[TransactionLogEntry]) -> Iterator[_Abort]:
    """Yield every sequence Ongoing, PrepareAbort, CompleteAbort, Empty in an id's records."""
    for index, prepare in enumerate(entries):
        if prepare.state != TransactionState.PREPARE_ABORT or index == 0:
            continue
        ongoing = entries[index - 1]
        if ongoing.state != TransactionState.ONGOING or ongoing.producer_id != prepare.producer_id:
            continue
        following = entries[index + 1 : index + 3]
        complete = following[0] if following and following[0].state == TransactionState.COMPLETE_ABORT else None
        successor = following[1] if complete is not None and len(following) == 2 else None
        yield _Abort(ongoing, prepare, complete, successor)


def own_fence_text(fence: OwnFence) -> str:
    """Return who made a fence, with what, and when."""
    return f"{fence.command}, run by {fence.who} at {time_text(fence.at_ms)}"


def own_fence_evidence(fence: OwnFence) -> Evidence:
    """Return the line of the audit file as evidence."""
    value = f"{own_fence_text(fence)}, which got epoch {fence.successor_epoch}"
    return Evidence("own fence", value, f"audit.jsonl of {fence.host or 'an unnamed machine'}")


def find_own_fence(
    fences: Iterable[OwnFence], successor: TransactionLogEntry, fenced_producer_id: int
) -> OwnFence | None:
    """Return the fence of eosctl that wrote a record of a transactional id; None if it did not.

    Args:
        fences: From the audit file.
        successor: The record that an InitProducerId left.
        fenced_producer_id: The producer id of the record before.
    """
    if successor.state != TransactionState.EMPTY:
        return None
    wanted = (successor.transactional_id, fenced_producer_id, successor.producer_epoch)
    return next(
        (
            fence
            for fence in fences
            if (fence.transactional_id, fence.fenced_producer_id, fence.successor_epoch) == wanted
        ),
        None,
    )


def _explain(abort: _Abort, own_fences: Sequence[OwnFence], limits: Limits) -> FencingEvent | None:
    raised = abort.prepare.producer_epoch > abort.ongoing.producer_epoch
    if not raised:
        return None
    # The coordinator's own abort has the cluster's level; a client of a lower level never bumps the epoch.
    by_coordinator = abort.ongoing.client_transaction_version < TV2
    if _lasted_to_its_timeout(abort):
        return _timed_out(abort)
    successor = abort.successor
    reinitialised = (
        successor is not None
        and successor.state == TransactionState.EMPTY
        and abort.complete is not None
        and successor.written_at_ms - abort.complete.written_at_ms <= limits.reinit_within_ms
    )
    own = None if successor is None else find_own_fence(own_fences, successor, abort.ongoing.producer_id)
    # Under TV2 the producer may have aborted the transaction itself just before.
    if own is not None and (by_coordinator or (reinitialised and own.found_open)):
        return _fenced_by_eosctl(abort, own)
    if by_coordinator:
        return _fenced(abort, Confidence.CERTAIN, certain=True)
    if reinitialised:
        return _fenced(abort, Confidence.POSSIBLE, certain=False)
    return None


def _lasted_to_its_timeout(abort: _Abort) -> bool:
    started = abort.ongoing.start_time_ms
    return started is not None and abort.prepare.updated_at_ms - started >= abort.ongoing.timeout_ms > 0


def _timed_out(abort: _Abort) -> FencingEvent:
    explanation = (
        f"The transaction reached its timeout of {duration_text(abort.ongoing.timeout_ms)}; the coordinator aborted it "
        f"and raised the epoch to {abort.prepare.producer_epoch}, so the producer's next request is refused as fenced."
    )
    return _event(abort, FencingCause.TIMEOUT, Confidence.CERTAIN, explanation)


def _fenced_by_eosctl(abort: _Abort, own: OwnFence) -> FencingEvent:
    explanation = (
        f"eosctl fenced the id {_lasted(abort)} after the transaction began ({own_fence_text(own)}); the coordinator "
        "aborted it."
    )
    event = _event(abort, FencingCause.ADMIN_FENCE, Confidence.CERTAIN, explanation)
    return replace(event, own_fence=own, evidence=(*event.evidence, own_fence_evidence(own)))


def _fenced(abort: _Abort, confidence: Confidence, *, certain: bool) -> FencingEvent:
    successor = abort.successor
    lasted = _lasted(abort)
    if successor is not None and successor.timeout_ms == ADMIN_FENCE_TIMEOUT_MS != abort.ongoing.timeout_ms:
        explanation = (
            f"An administrator fenced the id (Admin.fenceProducers) {lasted} after the transaction began; the "
            "coordinator aborted it."
        )
        return _event(abort, FencingCause.ADMIN_FENCE, Confidence.LIKELY, explanation)
    who = "Another producer initialized with the same transactional id"
    if certain:
        explanation = (
            f"{who} {lasted} after the transaction began, well before its timeout: the coordinator raised the epoch "
            f"from {abort.ongoing.producer_epoch} to {abort.prepare.producer_epoch} and aborted it. "
            "The earlier instance is a zombie: brokers refuse all its later requests."
        )
    else:
        explanation = (
            f"{who} right after the transaction was aborted, {lasted} after it began. Under TV2 this is the trace of a "
            "newer instance that fences an older one, or of a producer that aborts and restarts immediately."
        )
    return _event(abort, FencingCause.NEWER_INSTANCE, confidence, explanation)


def _lasted(abort: _Abort) -> str:
    started = abort.ongoing.start_time_ms
    return "some time" if started is None else duration_text(max(0, abort.prepare.updated_at_ms - started))


def _event(abort: _Abort, cause: FencingCause, confidence: Confidence, explanation: str) -> FencingEvent:
    records = [record for record in abort if record is not None]
    successor = abort.successor if abort.successor and abort.successor.state == TransactionState.EMPTY else None
    return FencingEvent(
        transactional_id=abort.ongoing.transactional_id,
        cause=cause,
        confidence=confidence,
        producer_id=abort.ongoing.producer_id,
        fenced_epoch=abort.ongoing.producer_epoch,
        abort_epoch=abort.prepare.producer_epoch,
        successor_epoch=None if successor is None else successor.producer_epoch,
        partitions=abort.prepare.partitions,
        explanation=explanation,
        started_at_ms=abort.ongoing.start_time_ms,
        aborted_at_ms=abort.prepare.written_at_ms,
        log_partition=abort.prepare.log_partition,
        log_offsets=tuple(record.offset for record in records),
        evidence=tuple(_evidence(record) for record in records),
    )


def _evidence(record: TransactionLogEntry) -> Evidence:
    partitions = ", ".join(str(partition) for partition in record.partitions)
    value = f"producer id {record.producer_id}, epoch {record.producer_epoch}, {time_text(record.written_at_ms)}"
    if partitions:
        value += f", {partitions}"
    source = f"__transaction_state-{record.log_partition} offset {record.offset}"
    return Evidence(record.state or "expired", value, source)


def _ranges_of(event: FencingEvent, ranges: Sequence[AbortedRange]) -> tuple[AbortedRange, ...]:
    """Return the aborted ranges with a marker of this abort's epoch, or without a read marker."""
    return tuple(
        found
        for found in ranges
        if found.producer_id == event.producer_id
        and found.partition in event.partitions
        and found.producer_epoch in (event.abort_epoch, -1)
    )
