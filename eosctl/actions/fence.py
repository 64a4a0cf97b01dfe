"""Fence a transactional id: its coordinator ends the open transaction and rejects the present producer.

InitProducerId creates unknown ids and stores the timeout of the request. Therefore the id is described first, an
unknown one is rejected, and the stored timeout is sent back. No expected epoch is sent, since the purpose is to take
over.
"""

from __future__ import annotations

from functools import partial
from shlex import quote
from typing import Final

from eosctl.actions.protocol import Action, Cluster, Permit, Verification
from eosctl.analysis.applications import permanent_loss, recognize_application
from eosctl.analysis.coordinators import may_hide_transactional_ids, missing_coordinators
from eosctl.analysis.lifetime import PREPARED
from eosctl.client.client import Client
from eosctl.client.transactions import ProducerIdentity, init_producer_id
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import describe_ids
from eosctl.errors import PlanRefused, UsageError
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.plan import FenceOutcome, FencePlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import NO_TIMEOUT_MS, Transaction, TransactionState
from eosctl.text import count_text

FENCE_EVIDENCE: Final = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.BROKER_CONFIGS})


async def prepare_fence(cluster: Cluster, transactional_id: str, *, accept_data_loss: str | None = None) -> FencePlan:
    """Collect evidence and plan a fence; see `plan_fence`."""
    snapshot = await cluster.collect(FENCE_EVIDENCE)
    return plan_fence(snapshot, transactional_id, accept_data_loss=accept_data_loss)


def plan_fence(snapshot: ClusterSnapshot, transactional_id: str, *, accept_data_loss: str | None = None) -> FencePlan:
    """Plan a fence.

    Args:
        snapshot: The evidence, with the transactions of all coordinators.
        transactional_id: The transactional id.
        accept_data_loss: The id again, required if ending its transaction can permanently lose data.

    Raises:
        UsageError: The id is unknown.
        PlanRefused: It must not be fenced now; the message contains the reason and what to do instead.
    """
    transaction = next((t for t in snapshot.transactions if t.transactional_id == transactional_id), None)
    if transaction is None:
        raise _unknown(snapshot, transactional_id)
    if not transaction.described:
        raise PlanRefused(
            f"The coordinator did not describe {transactional_id}: nothing was changed.",
            "Without its timeout it cannot be fenced and left as it was.",
            "Grant Describe on the transactional id, or try again.",
        )
    if transaction.state in PREPARED or transaction.state == TransactionState.PREPARE_EPOCH_FENCE:
        raise PlanRefused(
            f"{transactional_id} is in {transaction.state}: nothing was changed.",
            "Its outcome is decided and its markers are on their way.",
            f"Look again in a moment: eosctl txn describe {transactional_id}",
        )
    loss = permanent_loss(transactional_id, transaction.timeout_ms)
    if loss and accept_data_loss != transactional_id:
        raise PlanRefused(
            f"Fencing {transactional_id} can lose data that its application takes for committed: nothing was changed.",
            loss,
            f"Ask its application first. If the records may be lost, add: --accept-data-loss {transactional_id}",
        )
    if transaction.timeout_ms >= NO_TIMEOUT_MS:
        raise PlanRefused(
            f"{transactional_id} takes part in a two-phase commit and cannot be fenced with its own timeout.",
            "Brokers take an unlimited timeout only from a producer of the two-phase commit (KIP-939).",
            "Let the application end it, or use kafka-transactions.sh forceTerminateTransaction --transactionalId "
            f"{quote(transactional_id)}, which sets another timeout.",
        )
    return FencePlan(
        cluster_id=snapshot.cluster_id,
        transaction=transaction,
        timeout_ms=transaction.timeout_ms,
        application=recognize_application(transactional_id, transaction.timeout_ms).value,
        consequence=_consequence(transaction),
        warnings=(loss,) if loss else (),
    )


def _unknown(snapshot: ClusterSnapshot, transactional_id: str) -> UsageError | PlanRefused:
    missing = missing_coordinators(snapshot)
    if missing:
        return PlanRefused(
            f"Not every coordinator answered, so {transactional_id} cannot be described: nothing was changed.",
            "; ".join(missing),
            next(
                (gap.next_step for gap in snapshot.gaps if gap.reason is GapReason.UNSUPPORTED),
                "Bring the broker back, or try again when its coordinator has loaded.",
            ),
        )
    why = "No coordinator lists it, and fencing would create it. Nothing was changed."
    if may_hide_transactional_ids(snapshot):
        why += " An authorizer may also hide it from this principal."
    return UsageError(
        f"Unknown transactional id {transactional_id!r}.",
        why,
        "List all ids: eosctl txn list",
    )


def _consequence(transaction: Transaction) -> str:
    refused = f"the producer at epoch {transaction.producer_epoch} is refused from then on"
    if transaction.state != TransactionState.ONGOING:
        return f"Nothing is open; {refused}."
    where = ", ".join(str(partition) for partition in transaction.partitions) or "no partition yet"
    count = count_text(len(transaction.partitions), "partition")
    return f"Its open transaction is aborted on {count} ({where}); {refused}."


def _identity(plan: FencePlan) -> tuple[str, int, int]:
    # A live producer's epoch and state change between two readings; the fenced id stays the same.
    return plan.cluster_id, plan.transaction.producer_id, plan.timeout_ms


async def _take_over(client: Client, plan: FencePlan, permit: Permit) -> Verification[FenceOutcome]:
    permit.use(plan)
    identity = await init_producer_id(client, plan.transaction.transactional_id, plan.timeout_ms)
    return partial(_verify, client, plan, identity)


async def _verify(client: Client, plan: FencePlan, identity: ProducerIdentity) -> FenceOutcome:
    before = plan.transaction
    described = await describe_ids(ReadOnly(client), before.coordinator_id, [before.transactional_id])
    after = next(iter(described.value), None)
    if after is None:
        detail = "The coordinator took it, but could not describe the id afterwards: it may have moved."
        return FenceOutcome(plan, identity.producer_id, identity.producer_epoch, False, detail)
    later = after.producer_id != before.producer_id or after.producer_epoch > before.producer_epoch
    # The old transaction is complete in any case; an open one belongs to a newer instance.
    ended = after.start_time_ms != before.start_time_ms or after.state != TransactionState.ONGOING
    kept = after.timeout_ms == plan.timeout_ms
    verified = later and ended and kept
    detail = (
        f"State {after.state}, epoch {before.producer_epoch} -> {after.producer_epoch}, timeout {after.timeout_ms} ms."
    )
    return FenceOutcome(plan, identity.producer_id, identity.producer_epoch, verified, detail)


FENCE: Final = Action(_identity, _take_over)
"""`send` waits until the open transaction is aborted.

It raises TransactionFailed if the coordinator rejects the request, and EosctlError if it cannot be reached.
"""
