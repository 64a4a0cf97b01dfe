"""Abort a hanging transaction by writing the marker that its coordinator will never write.

If the coordinator still knew the transaction, the marker would split it: this partition aborted, the others committed.
Therefore only transactions that the analysis classifies as hanging are aborted, without an override, and the evidence
is collected again immediately before the marker is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Final, NamedTuple

from eosctl.actions.marker import MARKER_EVIDENCE
from eosctl.actions.protocol import Cluster
from eosctl.analysis.applications import permanent_loss
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.partitions import require_partition
from eosctl.errors import EosctlError, PlanRefused, UsageError
from eosctl.findings.bootstrap import target_words
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangCause, HangStatus, HangVerdict
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Evidence


class Target(NamedTuple):
    """The transaction to abort: a partition, and a transactional id or offset if several are open there."""

    partition: TopicPartition
    producer_id: int | None = None
    start_offset: int | None = None


async def prepare_abort(cluster: Cluster, target: Target, *, accept_data_loss: str | None = None) -> MarkerPlan:
    """Collect evidence and plan the abort of a hanging transaction; see `plan_abort`."""
    snapshot = await cluster.collect(MARKER_EVIDENCE)
    return plan_abort(snapshot, classify_open_transactions(snapshot), target, accept_data_loss=accept_data_loss)


def plan_abort(
    snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target, *, accept_data_loss: str | None = None
) -> MarkerPlan:
    """Plan the abort of a hanging transaction.

    Args:
        snapshot: The evidence, with two passes over transactions.
        verdicts: The result of `analysis.hanging`.
        target: The transaction to abort.
        accept_data_loss: The transactional id, typed by a user who accepts the permanent loss of its records; required
            if the application does not repeat its work.

    Raises:
        UsageError: The topic, partition, or transaction is unknown, or several transactions match.
        PlanRefused: The transaction is not hanging; the message contains its state and what to do instead.
    """
    verdict = choose(snapshot, verdicts, target)
    if verdict.status is not HangStatus.HANGING:
        raise refuse_open(verdict)
    transaction = verdict.transaction
    owner = transaction.transactional_id
    if not verdict.can_abort and not (verdict.outcome_unknown and owner is not None):
        raise _refuse_hanging(verdict)
    loss = "" if owner is None else permanent_loss(owner, transaction.timeout_ms)
    if verdict.outcome_unknown:
        loss = f"{verdict.abort_refusal} {loss}".rstrip()
    if loss and accept_data_loss != owner:
        raise PlanRefused(
            f"{owner} may have committed what an ABORT marker on {transaction.partition} would erase: nothing was "
            "changed.",
            loss,
            f"Find out from its application first. If the records may be lost, add: --accept-data-loss {owner}",
        )
    return plan_marker(snapshot, verdict, warnings=_warnings(verdict) + ((loss,) if loss else ()))


def plan_marker(
    snapshot: ClusterSnapshot,
    verdict: HangVerdict,
    *,
    warnings: tuple[str, ...] = (),
    committed: bool = False,
    producer_epoch: int | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> MarkerPlan:
    """Plan a marker with the epochs that the leader reports.

    Args:
        snapshot: The partition's leader and offsets.
        verdict: The hanging transaction.
        warnings: Warnings to show with the plan.
        committed: COMMIT instead of ABORT.
        producer_epoch: The marker's epoch; by default that of the records.
        evidence: The evidence for the marker.

    Raises:
        PlanRefused: The partition has no leader.
    """
    transaction = verdict.transaction
    info = snapshot.partition(transaction.partition)
    if info is None or info.leader_id is None:
        raise PlanRefused(
            f"{transaction.partition} has no leader.",
            "Only a leader can write a marker.",
            "Bring a replica back first.",
        )
    radius = verdict.blast_radius
    return MarkerPlan(
        cluster_id=snapshot.cluster_id,
        partition=transaction.partition,
        leader_id=info.leader_id,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch if producer_epoch is None else producer_epoch,
        coordinator_epoch=max(transaction.coordinator_epoch, 0),
        first_offset=transaction.first_offset,
        last_stable_offset=info.last_stable_offset,
        invisible_offsets=radius.invisible_offsets if radius else None,
        invisible_records=radius.invisible_records if radius else None,
        cause=verdict.cause.value,
        explanation=verdict.explanation,
        warnings=warnings,
        committed=committed,
        evidence=evidence,
    )


def choose(snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target) -> HangVerdict:
    """Return the verdict on the target transaction.

    Raises:
        UsageError: The topic, partition, or transaction is unknown, or several transactions match.
        EosctlError: The partition's leader did not answer.
    """
    require_partition(snapshot, target.partition)
    here = [verdict for verdict in verdicts if verdict.transaction.partition == target.partition]
    if not here and not any(where.partition == target.partition for where in snapshot.producers):
        raise _unanswered(snapshot, target.partition)
    chosen = [
        verdict
        for verdict in here
        if target.producer_id in (None, verdict.transaction.producer_id)
        and target.start_offset in (None, verdict.transaction.first_offset)
    ]
    if len(chosen) == 1:
        return chosen[0]
    open_here = ", ".join(
        f"producer id {v.transaction.producer_id} from offset {v.transaction.first_offset} ({v.status.value})"
        for v in here
    )
    if not chosen:
        raise UsageError(
            f"No open transaction on {target.partition} matches.",
            f"Open there: {open_here}." if here else "No transaction is open on this partition.",
            "List what is open with: eosctl txn hanging",
        )
    raise UsageError(
        f"{len(chosen)} open transactions on {target.partition} match.",
        f"Open there: {open_here}.",
        "Name one with --producer-id or --start-offset.",
    )


_FENCE: Final = "eosctl txn fence"
_INSTEAD: Final = {
    HangCause.MARKERS_UNDELIVERED: (
        "Its outcome is decided and the coordinator has yet to deliver the markers.",
        "Find out why the markers do not arrive; moving the coordinator makes it send them again.",
    ),
    HangCause.COORDINATOR_NOT_EXPIRING: (
        "The coordinator still knows it; aborting one partition would tear the transaction apart.",
        f"End it through its coordinator: {_FENCE} ID",
    ),
    HangCause.PREPARED_TWO_PHASE: (
        "It takes part in a two-phase commit: it may be prepared, and may have to be committed.",
        "Let its application end it, or decide as the other system did.",
    ),
    **dict.fromkeys(
        (HangCause.WITHIN_TIMEOUT, HangCause.TIMEOUT_RAISED, HangCause.CLIENT_CLOCK_SKEWED),
        (
            "The coordinator knows it and its timeout has not passed.",
            f"Wait for the timeout, or end it through its coordinator: {_FENCE} ID",
        ),
    ),
    HangCause.IN_FLIGHT: ("It changed between two readings: it is being worked on.", "Look again: eosctl txn hanging"),
    **dict.fromkeys(
        (HangCause.UNDECIDED, HangCause.COORDINATOR_UNAVAILABLE),
        (
            "The evidence is incomplete, so it may be alive.",
            "Close the gaps that eosctl txn hanging names, then try again.",
        ),
    ),
}


def _unanswered(snapshot: ClusterSnapshot, partition: TopicPartition) -> EosctlError:
    info = snapshot.partition(partition)
    leader = "no leader" if info is None or info.leader_id is None else f"leader {info.leader_id}"
    gap = next((gap for gap in snapshot.gaps if gap.kind is EvidenceKind.PRODUCERS), None)
    return EosctlError(
        f"Whether a transaction is open on {partition} is not known: its leader did not answer ({leader}).",
        "" if gap is None else gap.detail or gap.reason.value,
        "Bring the leader back or allow more time with --timeout, then try again.",
    )


def refuse_open(verdict: HangVerdict) -> PlanRefused:
    """Return the refusal of a transaction that does not hang."""
    transaction = verdict.transaction
    why, next_step = _INSTEAD.get(verdict.cause, (verdict.explanation, "See: eosctl txn hanging"))
    if transaction.transactional_id is not None:
        next_step = next_step.replace(f"{_FENCE} ID", f"{_FENCE} {quote(transaction.transactional_id)}")
    return PlanRefused(
        f"The transaction of producer id {transaction.producer_id} on {transaction.partition} is "
        f"{verdict.status.value}, not hanging: nothing was changed.",
        why,
        next_step,
    )


def _refuse_hanging(verdict: HangVerdict) -> PlanRefused:
    transaction = verdict.transaction
    next_step = "See: eosctl txn hanging -o wide"
    if verdict.can_complete:
        next_step = f"It needs a COMMIT marker: eosctl txn complete {target_words(transaction)}"
    return PlanRefused(
        f"The transaction of producer id {transaction.producer_id} on {transaction.partition} hangs, but an ABORT "
        "marker could destroy records: nothing was changed.",
        verdict.abort_refusal,
        next_step,
    )


def _warnings(verdict: HangVerdict) -> tuple[str, ...]:
    owner = verdict.transaction.transactional_id
    if owner is None:
        return ()
    warning = (
        f"The producer id belongs to transactional id {owner!r}. Its other partitions are untouched; "
        "if that application runs, its producer may see an error once."
    )
    return (warning,)
