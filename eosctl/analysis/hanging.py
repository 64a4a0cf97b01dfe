"""Find open transactions that hang, and why: KIP-664's definition, made race-free by a second reading.

A reading queries the partition leaders first (L), then the coordinators (C). One reading cannot separate a hanging
transaction from one that ended between L and C. Two readings can: a transaction that a leader shows with the same first
offset and epoch in L1 and L2 was open in between, and therefore also at C1. A coordinator knows a live transaction and
its partition from before the first record until after the marker. A transaction that neither C1 nor C2 knows hangs: no
coordinator will ever complete it. Client timestamps are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.analysis.blast_radius import BlastRadiusFinder
from eosctl.analysis.coordinators import (
    cannot_list_transactions,
    hides_transactional_ids,
    may_hide_transactional_ids,
    missing_coordinators,
)
from eosctl.analysis.lifetime import Watch, evidence_of, judge_transaction, skewed_clock, watch_of
from eosctl.analysis.marker_decision import Marker, MarkerDecision, decide_marker, leader_changed
from eosctl.analysis.relation import IDLE_STATES, ORPHANED, OWNED, Relation, Sighting, relate, sightings, was_open
from eosctl.analysis.state_log import present_owners, record_of, was_read, was_read_whole
from eosctl.model.hang import HangCause, HangStatus, HangVerdict, OpenTransaction, TransactionVerdict
from eosctl.model.history import RECORDS_PER_PARTITION, TransactionLogEntry
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import PartitionProducers, TopicPartition, Transaction, TransactionLook
from eosctl.model.verdict import Confidence, Evidence

_CAUSES: Final = {
    Relation.UNKNOWN: HangCause.UNKNOWN_TO_COORDINATOR,
    Relation.NOT_IN_SET: HangCause.PARTITION_NOT_IN_TRANSACTION,
    Relation.SUPERSEDED: HangCause.COORDINATOR_AT_HIGHER_EPOCH,
}


_REPORTED: Final = (
    "kafka-transactions.sh find-hanging lists it: no coordinator had an ongoing transaction with this partition. A "
    "principal that may not describe every transactional id sees live transactions in this list, too."
)


class _Scene(msgspec.Struct, frozen=True):
    """The data shared by the verdicts."""

    snapshot: ClusterSnapshot
    watch: Watch
    before: TransactionLook | None
    now: TransactionLook
    partitions: Mapping[TopicPartition, PartitionInfo]
    seen_before: Mapping[TopicPartition, PartitionProducers]
    reported: frozenset[TopicPartition]
    unheard: tuple[str, ...]
    ids_may_be_hidden: bool
    ids_are_hidden: bool
    log_was_read: bool
    log_was_read_whole: bool
    log_stands_in: bool
    logged_owners: Mapping[int, TransactionLogEntry]
    radius: BlastRadiusFinder
    judged: Mapping[str, TransactionVerdict] | None
    earlier: Mapping[str, Transaction]


class _Ruling(NamedTuple):
    """A verdict without its evidence."""

    status: HangStatus
    cause: HangCause
    explanation: str
    confidence: Confidence = Confidence.CERTAIN
    age_ms: int | None = None
    coordinator_acts_at_ms: int | None = None


def classify_open_transactions(
    snapshot: ClusterSnapshot,
    limits: Limits | None = None,
    *,
    judged: Mapping[str, TransactionVerdict] | None = None,
) -> tuple[HangVerdict, ...]:
    """Judge every transaction that is open at a partition leader.

    Args:
        snapshot: Evidence with one or two readings; with one, nothing that could be a race is called hanging.
        limits: Thresholds.
        judged: The verdicts on what coordinators hold open, by transactional id, for a caller that has them: they are
            not made again, and only what hangs gets evidence.

    Returns:
        One verdict per open transaction, by partition and first offset.
    """
    if not snapshot.looks:
        return ()
    scene = _set(snapshot, limits or Limits(), judged)
    related = [(sighting, *relate(sighting, scene.now, scene.unheard)) for sighting in sightings(snapshot.producers)]
    if scene.before is not None:
        owners = {owner.transactional_id for _, relation, owner in related if owner is not None and relation in OWNED}
        scene = replace(scene, earlier=scene.before.with_ids(owners.difference(judged or ())))
    verdicts = [
        _verdict(sighting, owner, _judge(sighting, relation, owner, scene), scene)
        for sighting, relation, owner in related
    ]
    return tuple(sorted(verdicts, key=lambda v: (v.transaction.partition, v.transaction.first_offset)))


class MarkerQuestion(NamedTuple):
    """A partition to search for a producer's markers, from a time (milliseconds since the epoch) to an offset."""

    partition: TopicPartition
    producer_id: int
    since_ms: int
    before_offset: int


def marker_questions(snapshot: ClusterSnapshot) -> tuple[MarkerQuestion, ...]:
    """Return the searches that would decide which marker ends a hanging transaction."""
    history = snapshot.history_by_id
    hidden = may_hide_transactional_ids(snapshot)
    found = []
    for verdict in classify_open_transactions(snapshot):
        if verdict.status is HangStatus.HANGING and verdict.outcome_unknown:
            transaction = verdict.transaction
            decision = decide_marker(transaction, snapshot, history, ids_may_be_hidden=hidden)
            if decision.search_since_ms is not None:
                where, owner = transaction.partition, transaction.producer_id
                found.append(MarkerQuestion(where, owner, decision.search_since_ms, transaction.first_offset))
    return tuple(found)


def _set(snapshot: ClusterSnapshot, limits: Limits, judged: Mapping[str, TransactionVerdict] | None) -> _Scene:
    two = len(snapshot.looks) > 1
    watch = watch_of(snapshot, limits)
    log_was_read = was_read(snapshot)
    return _Scene(
        snapshot=snapshot,
        watch=watch,
        before=snapshot.looks[0] if two else None,
        now=snapshot.looks[-1],
        partitions=snapshot.partitions_by_name,
        seen_before={where.partition: where for where in snapshot.looks[0].producers} if two else {},
        reported=frozenset(where.partition for where in snapshot.producers if where.is_reported_hanging),
        unheard=missing_coordinators(snapshot),
        ids_may_be_hidden=may_hide_transactional_ids(snapshot),
        ids_are_hidden=hides_transactional_ids(snapshot),
        log_was_read=log_was_read,
        log_was_read_whole=was_read_whole(snapshot),
        log_stands_in=log_was_read and cannot_list_transactions(snapshot),
        logged_owners=present_owners(watch.history),
        radius=BlastRadiusFinder(snapshot),
        judged=judged,
        earlier={},
    )


def _judge(sighting: Sighting, now: Relation, owner: Transaction | None, scene: _Scene) -> _Ruling:
    if sighting.partition in scene.reported and not _is_part_of(sighting, now, owner):
        return _Ruling(HangStatus.HANGING, HangCause.UNKNOWN_TO_COORDINATOR, _REPORTED, Confidence.LIKELY)
    info = scene.partitions.get(sighting.partition)
    if info is not None and info.leader_id is not None and info.leader_id != sighting.broker_id:
        # Any replica responds to DescribeProducers, and a lagging one lists completed transactions.
        return _undecided(f"Broker {sighting.broker_id} answered, but broker {info.leader_id} leads the partition.")
    logged = scene.logged_owners.get(sighting.state.producer_id) if owner is None else None
    if owner is None and not scene.unheard:
        if logged is not None and logged.state in IDLE_STATES and scene.log_was_read:
            # The coordinator hides the id from this principal; its log does not.
            return _judge_by_log(sighting, logged, scene)
        hidden = _why_it_may_be_hidden(sighting, scene)
        if hidden:
            return _undecided(hidden)
    if scene.log_stands_in and logged is not None:
        return _judge_by_log(sighting, logged, scene)
    where_before = scene.seen_before.get(sighting.partition)
    if scene.before is None or where_before is None:
        return _judge_one_reading(sighting, now, owner, scene)
    if not was_open(sighting, where_before):
        return _in_flight("It began between the two readings: it is being worked on.")
    before, _ = relate(sighting, scene.before, scene.unheard)
    if Relation.UNCLEAR in (before, now) and not {before, now} & OWNED:
        return _unclear(sighting, scene, owner)
    if now in ORPHANED and before in ORPHANED:
        return _hanging(sighting, now, owner, scene)
    if now in ORPHANED:
        return _in_flight("Its coordinator ended it during the second reading; a third reading will no longer show it.")
    return _alive(sighting, now, owner, scene)


def _is_part_of(sighting: Sighting, now: Relation, owner: Transaction | None) -> bool:
    """Return whether the open records belong to the transaction that its coordinator has, and not to one before it."""
    if now not in OWNED or owner is None or owner.start_time_ms is None:
        return False
    return owner.start_time_ms <= sighting.state.last_timestamp_ms


def _judge_by_log(sighting: Sighting, logged: TransactionLogEntry, scene: _Scene) -> _Ruling:
    """Judge by the newest record of the id, which coordinators before 3.0, or for this principal, do not list.

    The log is read after the leaders, and a coordinator writes Complete* behind the last marker. So a leader that still
    had the transaction open a while after that record will never get a marker for it.
    """
    known = f"The transaction log has {logged.transactional_id} with this producer id, last in state {logged.state}"
    if logged.state in IDLE_STATES:
        since_ms = logged.written_at_ms + scene.watch.limits.clock_tolerance_ms
        if since_ms >= scene.snapshot.looks[-1].started_at_ms:
            return _undecided(f"{known}, written while the leaders were asked: its marker may have come since.")
        explanation = f"{known}. The records were appended outside of any transaction, or their marker is missing."
        return _Ruling(HangStatus.HANGING, HangCause.PARTITION_NOT_IN_TRANSACTION, explanation, Confidence.LIKELY)
    if sighting.partition in logged.partitions and logged.producer_epoch == sighting.state.producer_epoch:
        return _in_flight(f"{known} and with this partition: its coordinator will end it.")
    return _undecided(f"{known}, without this partition or with another epoch.")


def _why_it_may_be_hidden(sighting: Sighting, scene: _Scene) -> str:
    """Return why the id may exist although no coordinator listed it; empty if it cannot."""
    logged = scene.logged_owners.get(sighting.state.producer_id)
    if logged is not None:
        return (
            f"The transaction log has {logged.transactional_id} with this producer id, last in state {logged.state}, "
            "but no coordinator listed it: this principal may not describe the id, so the transaction may be alive."
        )
    if scene.ids_may_be_hidden and not scene.log_was_read:
        return (
            "No coordinator listed an id with this producer id, but an authorizer may hide ids from this principal, "
            "and "
            "the transaction log, which would name it, could not be read."
        )
    if scene.ids_are_hidden and not scene.log_was_read_whole:
        return (
            "No coordinator listed an id with this producer id, but brokers hide ids from this principal, and only the "
            f"last {RECORDS_PER_PARTITION:,} records of each partition of the transaction log were read, which do not "
            "name it."
        )
    return ""


def _judge_one_reading(sighting: Sighting, now: Relation, owner: Transaction | None, scene: _Scene) -> _Ruling:
    if now is Relation.UNCLEAR:
        return _unclear(sighting, scene, owner)
    if now not in ORPHANED:
        return _alive(sighting, now, owner, scene)
    if owner is not None and _ended_before_the_reading(owner, scene):
        return _hanging(sighting, now, owner, scene)
    return _undecided(
        "It was seen in one reading only: it may have ended after the leader and before the coordinator was asked."
    )


def _ended_before_the_reading(owner: Transaction, scene: _Scene) -> bool:
    """Return whether the log proves that the coordinator was idle before the leaders were queried.

    A transaction that started and ended in between would have another start time, which `record_of` compares.
    """
    if owner.state not in IDLE_STATES or owner.start_time_ms is None:
        return False
    record = record_of(owner, scene.watch.history.get(owner.transactional_id, ()))
    started_at_ms = scene.snapshot.looks[-1].started_at_ms
    return record is not None and record.written_at_ms + scene.watch.limits.clock_tolerance_ms < started_at_ms


def _hanging(sighting: Sighting, relation: Relation, owner: Transaction | None, scene: _Scene) -> _Ruling:
    confidence = Confidence.CERTAIN
    if owner is None:
        explanation = (
            f"No coordinator knows producer id {sighting.state.producer_id}: its transactional id expired, got another "
            "producer id, or was lost with the state log. No coordinator will write its marker."
        )
        if scene.ids_may_be_hidden:
            confidence = Confidence.LIKELY
            explanation += " An authorizer may hide ids from this principal; the transaction log does not name one."
    elif relation is Relation.SUPERSEDED:
        explanation = (
            f"{owner.transactional_id} is at epoch {owner.producer_epoch}, the records are of epoch "
            f"{sighting.state.producer_epoch}: they belong to an instance that was fenced. The next marker of the new "
            "instance would end them with the outcome of its own transaction."
        )
    else:
        origin = "were appended outside of any transaction, as a late Produce request does"
        if leader_changed(sighting.partition, sighting.first_offset, scene.snapshot):
            origin += (
                ", or their marker is missing: skipped while the partition had no leader (KAFKA-20734), or lost in an "
                "unclean election"
            )
        explanation = (
            f"The coordinator has {owner.transactional_id} in state {owner.state} without this partition. The records "
            f"{origin}. No coordinator will write its marker."
        )
    return _Ruling(HangStatus.HANGING, _CAUSES[relation], explanation, confidence)


def _alive(sighting: Sighting, relation: Relation, owner: Transaction | None, scene: _Scene) -> _Ruling:
    if owner is None or relation not in OWNED:
        # The newest response is missing; the previous one contained the transaction.
        return _unclear(sighting, scene, owner)
    judged = None if scene.judged is None else scene.judged.get(owner.transactional_id)
    if judged is None:
        judged = judge_transaction(owner, scene.earlier.get(owner.transactional_id), scene.watch, scene.snapshot)
    skewed = skewed_clock(sighting.state.last_timestamp_ms, owner, judged, scene.watch)
    return _Ruling(
        judged.status,
        HangCause.CLIENT_CLOCK_SKEWED if skewed else judged.cause,
        f"{judged.explanation} {skewed}".rstrip(),
        judged.confidence,
        judged.age_ms,
        judged.coordinator_acts_at_ms,
    )


def _in_flight(explanation: str) -> _Ruling:
    return _Ruling(HangStatus.OPEN, HangCause.IN_FLIGHT, explanation)


def _undecided(explanation: str) -> _Ruling:
    return _Ruling(HangStatus.UNDECIDED, HangCause.UNDECIDED, explanation)


def _unclear(sighting: Sighting, scene: _Scene, owner: Transaction | None) -> _Ruling:
    cause = HangCause.COORDINATOR_UNAVAILABLE if owner is None and scene.unheard else HangCause.UNDECIDED
    return _Ruling(HangStatus.UNDECIDED, cause, _why_unclear(sighting, scene, owner))


def _why_unclear(sighting: Sighting, scene: _Scene, owner: Transaction | None) -> str:
    if owner is not None:
        return f"The coordinator did not describe {owner.transactional_id}, or its epoch lies behind the leader's."
    missing = "; ".join(scene.unheard) or "one of the readings lacks the response"
    logged = scene.logged_owners.get(sighting.state.producer_id)
    known = "" if logged is None else (
        f" The transaction log has its producer id for {logged.transactional_id}, last in state {logged.state}."
    )  # fmt: skip
    return f"Not every coordinator answered ({missing}), so it may be alive.{known}"


def _verdict(sighting: Sighting, owner: Transaction | None, ruling: _Ruling, scene: _Scene) -> HangVerdict:
    transaction = _join(sighting, owner, ruling.age_ms)
    evidence: tuple[Evidence, ...] = ()
    decision: MarkerDecision | None = None
    if ruling.status is HangStatus.HANGING or (scene.judged is None and ruling.status is not HangStatus.OPEN):
        evidence = _leader_evidence(sighting) + (evidence_of(owner, scene.watch) if owner is not None else ())
    if ruling.status is HangStatus.HANGING:
        decision = decide_marker(
            transaction, scene.snapshot, scene.watch.history, ids_may_be_hidden=scene.ids_may_be_hidden
        )
        evidence += decision.evidence
    can_abort = decision is not None and decision.marker is Marker.ABORT
    return HangVerdict(
        transaction=transaction,
        status=ruling.status,
        cause=ruling.cause,
        confidence=ruling.confidence,
        explanation=ruling.explanation,
        evidence=evidence,
        blast_radius=scene.radius.of(transaction),
        coordinator_acts_at_ms=ruling.coordinator_acts_at_ms,
        can_abort=can_abort,
        abort_refusal="" if decision is None or can_abort else decision.why,
        can_complete=decision is not None and decision.marker is Marker.COMMIT,
        outcome_unknown=decision is not None and decision.marker is Marker.UNKNOWN,
    )


def _leader_evidence(sighting: Sighting) -> tuple[Evidence, ...]:
    source = f"DescribeProducers broker {sighting.broker_id}"
    state = sighting.state
    return (
        Evidence("partition", str(sighting.partition), source),
        Evidence("producer id", str(state.producer_id), source),
        Evidence("producer epoch", str(state.producer_epoch), source),
        Evidence("open since offset", str(sighting.first_offset), source),
        Evidence("coordinator epoch of the last marker", str(state.coordinator_epoch), source),
    )


def _join(sighting: Sighting, owner: Transaction | None, age_ms: int | None) -> OpenTransaction:
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
        age_ms=age_ms,
    )
