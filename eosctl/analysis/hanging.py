"""Which open transactions hang, and why: KIP-664's definition, made race-free by a second look.

A look asks the partition leaders first (L) and the coordinators afterwards (C). One look cannot tell a hanging
transaction from one that ended between L and C. Two looks can: what a leader shows open with the same first offset and
epoch in L1 and L2 was open all the time between, hence also when the coordinators were asked in C1. A transaction that
is alive is known to its coordinator, with the partition, from before its first record until after its marker. So
what C1 does not know, and C2 does not know either, nobody will ever end. No client timestamp takes part in this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from eosctl.analysis.abort_safety import marker_may_have_been_skipped, why_not_abort
from eosctl.analysis.blast_radius import BlastRadiusFinder
from eosctl.analysis.coordinators import (
    CoordinatorView,
    may_hide_transactional_ids,
    unheard_coordinators,
    view_of,
)
from eosctl.analysis.lifetime import PREPARED, Watch, evidence_of, judge_transaction, watch_of
from eosctl.analysis.partitions import partitions_by_name
from eosctl.analysis.state_log import record_of
from eosctl.analysis.wording import duration_text
from eosctl.model.finding import Confidence, Evidence
from eosctl.model.hang import HangCause, HangStatus, HangVerdict, OpenTransaction
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import PartitionProducers, ProducerState, TopicPartition, Transaction, TransactionState

IDLE_STATES: Final = frozenset(
    {
        TransactionState.EMPTY,
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
        TransactionState.DEAD,
    }
)


class Relation(Enum):
    """How one look's coordinators stand to a transaction that is open on a leader."""

    UNKNOWN = "no transactional id has its producer id"
    NOT_IN_SET = "the coordinator's transaction does not hold the partition"
    SUPERSEDED = "the coordinator's transaction has a later epoch"
    MARKERS_DUE = "its outcome is decided and the marker is due"
    MEMBER = "it belongs to the coordinator's open transaction"
    UNCLEAR = "the coordinator's answer is missing"


ORPHANED: Final = frozenset({Relation.UNKNOWN, Relation.NOT_IN_SET, Relation.SUPERSEDED})
_CAUSES: Final = {
    Relation.UNKNOWN: HangCause.UNKNOWN_TO_COORDINATOR,
    Relation.NOT_IN_SET: HangCause.PARTITION_NOT_IN_TRANSACTION,
    Relation.SUPERSEDED: HangCause.COORDINATOR_AT_HIGHER_EPOCH,
}


@dataclass(frozen=True, slots=True)
class _Sighting:
    """One producer with an open transaction on one leader, in the newest look."""

    partition: TopicPartition
    broker_id: int
    state: ProducerState
    first_offset: int


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything that the verdicts share."""

    snapshot: ClusterSnapshot
    watch: Watch
    before: CoordinatorView | None
    now: CoordinatorView
    partitions: Mapping[TopicPartition, PartitionInfo]
    seen_before: Mapping[TopicPartition, PartitionProducers]
    unheard: tuple[str, ...]
    ids_may_be_hidden: bool


def classify_open_transactions(snapshot: ClusterSnapshot, limits: Limits | None = None) -> tuple[HangVerdict, ...]:
    """Judge every transaction that is open on a partition leader.

    Args:
        snapshot: Evidence with one or two looks; with one, nothing that could be a race is called hanging.
        limits: Thresholds.

    Returns:
        One verdict per open transaction, by partition and first offset.
    """
    if not snapshot.looks:
        return ()
    scene = _set(snapshot, limits or Limits())
    find_radius = BlastRadiusFinder(snapshot)
    verdicts = []
    for sighting in _sightings(snapshot):
        verdict = _judge(sighting, scene)
        radius = find_radius.of(verdict.transaction)
        verdict = replace(verdict, blast_radius=radius)
        if verdict.status is HangStatus.HANGING:
            refusal = why_not_abort(verdict, snapshot, scene.watch.history, ids_may_be_hidden=scene.ids_may_be_hidden)
            verdict = replace(verdict, can_abort=not refusal, abort_refusal=refusal)
        verdicts.append(verdict)
    return tuple(sorted(verdicts, key=lambda v: (v.transaction.partition, v.transaction.first_offset)))


def _set(snapshot: ClusterSnapshot, limits: Limits) -> _Scene:
    two = len(snapshot.looks) > 1
    return _Scene(
        snapshot=snapshot,
        watch=watch_of(snapshot, limits),
        before=view_of(snapshot.looks[0]) if two else None,
        now=view_of(snapshot.looks[-1]),
        partitions=partitions_by_name(snapshot),
        seen_before={where.partition: where for where in snapshot.looks[0].producers} if two else {},
        unheard=unheard_coordinators(snapshot),
        ids_may_be_hidden=may_hide_transactional_ids(snapshot),
    )


def _sightings(snapshot: ClusterSnapshot) -> Iterator[_Sighting]:
    for where in snapshot.producers:
        for state in where.producers:
            if state.current_txn_start_offset is not None:
                yield _Sighting(where.partition, where.broker_id, state, state.current_txn_start_offset)


def _judge(sighting: _Sighting, scene: _Scene) -> HangVerdict:
    now, owner = _relate(sighting, scene.now, scene.unheard)
    transaction = _join(sighting, owner)
    info = scene.partitions.get(sighting.partition)
    if info is not None and info.leader_id is not None and info.leader_id != sighting.broker_id:
        # Any replica answers DescribeProducers, and one that lags shows what has long ended.
        reason = f"Broker {sighting.broker_id} answered, but broker {info.leader_id} leads the partition."
        return _undecided(transaction, reason, sighting, owner)

    where_before = scene.seen_before.get(sighting.partition)
    if scene.before is None or where_before is None:
        return _judge_one_look(sighting, now, owner, transaction, scene)
    if not _was_open(sighting, where_before):
        return _verdict(
            transaction,
            HangStatus.OPEN,
            HangCause.IN_FLIGHT,
            "It began between the two looks: it is being worked on.",
            sighting,
            owner,
        )
    before, _ = _relate(sighting, scene.before, scene.unheard)
    if Relation.UNCLEAR in (before, now) and not {before, now} & {Relation.MEMBER, Relation.MARKERS_DUE}:
        return _undecided(transaction, _why_unclear(scene, owner), sighting, owner)
    if now in ORPHANED and before in ORPHANED:
        return _hanging(sighting, now, owner, transaction, scene)
    if now in ORPHANED:
        return _verdict(
            transaction,
            HangStatus.OPEN,
            HangCause.IN_FLIGHT,
            "Its coordinator ended it during the second look; a third look will not show it any more.",
            sighting,
            owner,
        )
    return _alive(sighting, now, owner, transaction, scene)


def _was_open(sighting: _Sighting, before: PartitionProducers) -> bool:
    """Return whether the earlier look shows the same transaction: same producer, epoch and first offset."""
    return any(
        state.producer_id == sighting.state.producer_id
        and state.producer_epoch == sighting.state.producer_epoch
        and state.current_txn_start_offset == sighting.first_offset
        for state in before.producers
    )


def _relate(
    sighting: _Sighting, view: CoordinatorView, unheard: tuple[str, ...]
) -> tuple[Relation, Transaction | None]:
    candidates = view.by_producer_id.get(sighting.state.producer_id, ())
    if not candidates:
        return (Relation.UNCLEAR if unheard else Relation.UNKNOWN), None
    related = [(_relate_to(sighting, candidate), candidate) for candidate in candidates]
    # Where two ids share a producer id, the one that may still end the transaction counts.
    return min(related, key=lambda pair: (pair[0] in ORPHANED, pair[1].transactional_id))


def _relate_to(sighting: _Sighting, transaction: Transaction) -> Relation:
    if transaction.state in IDLE_STATES:
        return Relation.NOT_IN_SET
    if not transaction.described:
        return Relation.UNCLEAR
    prepared = transaction.state in PREPARED
    if not prepared and transaction.state != TransactionState.ONGOING:
        return Relation.UNCLEAR
    if sighting.partition not in transaction.partitions:
        return Relation.NOT_IN_SET
    if prepared:
        return Relation.MARKERS_DUE
    if transaction.producer_epoch == sighting.state.producer_epoch:
        return Relation.MEMBER
    return Relation.SUPERSEDED if transaction.producer_epoch > sighting.state.producer_epoch else Relation.UNCLEAR


def _judge_one_look(
    sighting: _Sighting, now: Relation, owner: Transaction | None, transaction: OpenTransaction, scene: _Scene
) -> HangVerdict:
    if now is Relation.UNCLEAR:
        return _undecided(transaction, _why_unclear(scene, owner), sighting, owner)
    if now not in ORPHANED:
        return _alive(sighting, now, owner, transaction, scene)
    if owner is not None and _ended_before_the_look(owner, scene):
        return _hanging(sighting, now, owner, transaction, scene)
    return _undecided(
        transaction,
        "It was seen in one look only: it may have ended after the leader and before the coordinator was asked.",
        sighting,
        owner,
    )


def _ended_before_the_look(owner: Transaction, scene: _Scene) -> bool:
    """Return whether the log proves that the coordinator had reached its idle state before the leaders were asked.

    A transaction begun and ended in between would have another start time, which ``record_of`` compares.
    """
    if owner.state not in IDLE_STATES or owner.start_time_ms is None:
        return False
    record = record_of(owner, scene.watch.history.get(owner.transactional_id, ()))
    started_at_ms = scene.snapshot.looks[-1].started_at_ms
    return record is not None and record.written_at_ms + scene.watch.limits.clock_tolerance_ms < started_at_ms


def _hanging(
    sighting: _Sighting, relation: Relation, owner: Transaction | None, transaction: OpenTransaction, scene: _Scene
) -> HangVerdict:
    confidence = Confidence.CERTAIN
    if owner is None:
        explanation = (
            f"No coordinator knows producer id {sighting.state.producer_id}: its transactional id expired, got another "
            "producer id, or was lost with the state log. Nobody is left to write a marker."
        )
        if scene.ids_may_be_hidden:
            confidence = Confidence.LIKELY
            explanation += " Brokers leave out ids that the principal may not describe; that was not ruled out."
    elif relation is Relation.SUPERSEDED:
        explanation = (
            f"{owner.transactional_id} is at epoch {owner.producer_epoch}, the records are of epoch "
            f"{sighting.state.producer_epoch}: they belong to an instance that was fenced. The next marker of the new "
            "instance would end them with the outcome of its own transaction."
        )
    else:
        origin = "were appended outside of any transaction, as a late Produce request does"
        if marker_may_have_been_skipped(transaction, scene.snapshot):
            origin += ", or the coordinator skipped their marker while the partition had no leader (KAFKA-20734)"
        explanation = (
            f"The coordinator has {owner.transactional_id} in state {owner.state} without this partition. The records "
            f"{origin}. Nobody is left to write a marker."
        )
    return _verdict(transaction, HangStatus.HANGING, _CAUSES[relation], explanation, sighting, owner, confidence)


def _alive(
    sighting: _Sighting, relation: Relation, owner: Transaction | None, transaction: OpenTransaction, scene: _Scene
) -> HangVerdict:
    if owner is None or relation not in (Relation.MEMBER, Relation.MARKERS_DUE):
        # The newest answer is missing, the one before it knew the transaction.
        return _undecided(transaction, _why_unclear(scene, owner), sighting, owner)
    earlier = None if scene.before is None else scene.before.by_transactional_id.get(owner.transactional_id)
    judged = judge_transaction(owner, earlier, scene.watch, scene.snapshot)
    return HangVerdict(
        replace(transaction, age_ms=judged.age_ms),
        judged.status,
        judged.cause,
        judged.confidence,
        judged.explanation,
        _leader_evidence(sighting) + judged.evidence,
        coordinator_acts_at_ms=judged.coordinator_acts_at_ms,
    )


def _why_unclear(scene: _Scene, owner: Transaction | None) -> str:
    if owner is not None:
        return f"The coordinator did not describe {owner.transactional_id}, or its epoch lies behind the leader's."
    missing = "; ".join(scene.unheard) or "one of the looks lacks the answer"
    return f"Not every coordinator was heard ({missing}), so it may be alive."


def _undecided(
    transaction: OpenTransaction, reason: str, sighting: _Sighting, owner: Transaction | None
) -> HangVerdict:
    return _verdict(transaction, HangStatus.UNDECIDED, HangCause.UNDECIDED, reason, sighting, owner)


def _verdict(
    transaction: OpenTransaction,
    status: HangStatus,
    cause: HangCause,
    explanation: str,
    sighting: _Sighting,
    owner: Transaction | None,
    confidence: Confidence = Confidence.CERTAIN,
) -> HangVerdict:
    evidence = _leader_evidence(sighting) + (evidence_of(owner) if owner is not None else ())
    return HangVerdict(transaction, status, cause, confidence, explanation, evidence)


def _leader_evidence(sighting: _Sighting) -> tuple[Evidence, ...]:
    source = f"DescribeProducers broker {sighting.broker_id}"
    state = sighting.state
    return (
        Evidence("partition", str(sighting.partition), source),
        Evidence("producer id", str(state.producer_id), source),
        Evidence("producer epoch", str(state.producer_epoch), source),
        Evidence("open since offset", str(sighting.first_offset), source),
        Evidence("coordinator epoch of the last marker", str(state.coordinator_epoch), source),
    )


def _join(sighting: _Sighting, owner: Transaction | None) -> OpenTransaction:
    state = sighting.state
    described = owner is not None and owner.described
    return OpenTransaction(
        partition=sighting.partition,
        broker_id=sighting.broker_id,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        coordinator_epoch=state.coordinator_epoch,
        first_offset=sighting.first_offset,
        last_timestamp_ms=state.last_timestamp_ms,
        transactional_id=None if owner is None else owner.transactional_id,
        coordinator_id=None if owner is None else owner.coordinator_id,
        coordinator_state="" if owner is None else owner.state,
        coordinator_producer_epoch=owner.producer_epoch if owner is not None and described else None,
        timeout_ms=owner.timeout_ms if owner is not None and described else None,
    )


def describe_looks(snapshot: ClusterSnapshot) -> str:
    """Say how many looks there were and how far apart."""
    if len(snapshot.looks) < 2:
        return "one look"
    gap_ms = snapshot.looks[-1].started_at_ms - snapshot.looks[0].finished_at_ms
    return f"two looks, {duration_text(max(0, gap_ms))} apart"
