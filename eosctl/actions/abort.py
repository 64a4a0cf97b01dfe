"""Abort one hanging transaction: the marker that its coordinator will never write.

Aborting a transaction whose coordinator still knows it would tear it apart: this partition aborted, the others
committed. So only what analysis calls hanging is aborted, there is no override, and everything is read again
immediately before the marker is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from eosctl.actions.official import abort_command
from eosctl.client.client import Client
from eosctl.client.outcome import error_for_code
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import collect_producers
from eosctl.errors import PlanRefused, UsageError
from eosctl.model.hang import HangCause, HangStatus, HangVerdict
from eosctl.model.plan import AbortOutcome, AbortPlan
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import write_txn_markers

VERIFY_ATTEMPTS: Final = 20
VERIFY_PAUSE_MS: Final = 100
# The check that brokers before KIP-1228 make: the marker's epoch may equal the producer's.
LEGACY_TRANSACTION_VERSION: Final = 0

__all__ = ["Target", "abort_command", "apply_abort", "plan_abort"]


class Target(Protocol):
    """Which transaction the user means: a partition, and an id or offset where several are open there."""

    @property
    def partition(self) -> TopicPartition:
        """The partition."""

    @property
    def producer_id(self) -> int | None:
        """The producer id, where several transactions are open there."""

    @property
    def start_offset(self) -> int | None:
        """The first offset, where several transactions are open there."""


def plan_abort(snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict], target: Target) -> AbortPlan:
    """Plan the abort of one hanging transaction.

    Args:
        snapshot: The evidence, with two looks.
        verdicts: What ``analysis.hanging`` says of it.
        target: The transaction that the user means.

    Raises:
        UsageError: No such transaction, or several match.
        PlanRefused: The transaction is not hanging; the message says what it is and what to do instead.
    """
    verdict = _choose(verdicts, target)
    if verdict.status is not HangStatus.HANGING or not verdict.can_abort:
        raise _refusal(verdict)
    transaction = verdict.transaction
    info = snapshot.partition(transaction.partition)
    if info is None or info.leader_id is None:
        raise PlanRefused(
            f"{transaction.partition} has no leader.",
            "Only a leader can write a marker.",
            "Bring a replica back first.",
        )
    radius = verdict.blast_radius
    return AbortPlan(
        cluster_id=snapshot.cluster_id,
        partition=transaction.partition,
        leader_id=info.leader_id,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        coordinator_epoch=max(transaction.coordinator_epoch, 0),
        first_offset=transaction.first_offset,
        last_stable_offset=info.last_stable_offset,
        invisible_offsets=radius.invisible_offsets if radius else None,
        invisible_records=radius.invisible_records if radius else None,
        cause=verdict.cause.value,
        explanation=verdict.explanation,
        warnings=_warnings(verdict),
    )


def _choose(verdicts: Sequence[HangVerdict], target: Target) -> HangVerdict:
    here = [verdict for verdict in verdicts if verdict.transaction.partition == target.partition]
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


_INSTEAD: Final = {
    HangCause.MARKERS_UNDELIVERED: (
        "Its outcome is decided and the coordinator has yet to deliver the markers.",
        "Find out why the markers do not arrive; moving the coordinator makes it send them again.",
    ),
    HangCause.COORDINATOR_NOT_EXPIRING: (
        "The coordinator still knows it; aborting one partition would tear the transaction apart.",
        "End it through its coordinator: eosctl txn fence, or kafka-transactions.sh forceTerminateTransaction.",
    ),
    HangCause.PREPARED_TWO_PHASE: (
        "It is prepared by a two-phase commit and may have to be committed.",
        "Let the application that prepared it decide.",
    ),
    HangCause.WITHIN_TIMEOUT: (
        "The coordinator knows it and its timeout has not passed.",
        "Wait for the timeout, or end it through its coordinator by fencing its transactional id.",
    ),
    HangCause.IN_FLIGHT: ("It changed between two looks: it is being worked on.", "Look again: eosctl txn hanging"),
    HangCause.UNDECIDED: (
        "The evidence is incomplete, so it may be alive.",
        "Close the gaps that eosctl txn hanging names, then try again.",
    ),
}


def _refusal(verdict: HangVerdict) -> PlanRefused:
    transaction = verdict.transaction
    if verdict.status is HangStatus.HANGING:
        return PlanRefused(
            f"The transaction of producer id {transaction.producer_id} on {transaction.partition} hangs, but an ABORT "
            "marker could destroy records: nothing was changed.",
            verdict.abort_refusal,
            "See: eosctl txn hanging -o wide",
        )
    why, next_step = _INSTEAD.get(verdict.cause, (verdict.explanation, "See: eosctl txn hanging"))
    return PlanRefused(
        f"The transaction of producer id {transaction.producer_id} on {transaction.partition} is "
        f"{verdict.status.value}, not hanging: nothing was changed.",
        why,
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


async def apply_abort(client: Client, plan: AbortPlan) -> AbortOutcome:
    """Write the marker and see whether it worked.

    The caller has read the state again just before and found the same plan.

    Raises:
        BrokerError: The leader refused the marker; nothing was changed.
        AuthorizationDenied: The principal has neither ALTER nor CLUSTER_ACTION on the cluster.
        EosctlError: The leader could not be asked.
    """
    marker = write_txn_markers.WritableTxnMarker(
        producer_id=plan.producer_id,
        producer_epoch=plan.producer_epoch,
        transaction_result=False,
        topics=[write_txn_markers.WritableTxnMarkerTopic(plan.partition.topic, [plan.partition.partition])],
        coordinator_epoch=plan.coordinator_epoch,
        transaction_version=LEGACY_TRANSACTION_VERSION,
    )
    answer = await client.request(
        plan.leader_id, ApiKey.WRITE_TXN_MARKERS, write_txn_markers.WriteTxnMarkersRequest(markers=[marker])
    )
    for result in answer.markers:
        for topic in result.topics:
            for partition in topic.partitions:
                if partition.error_code != ErrorCode.NONE:
                    raise error_for_code(partition.error_code, f"WriteTxnMarkers for {plan.partition}")
    return await _verify(client, plan)


async def _verify(client: Client, plan: AbortPlan) -> AbortOutcome:
    reader = ReadOnly(client)
    info = PartitionInfo(plan.partition, plan.leader_id, -1, (), ())
    topic = Topic(plan.partition.topic, "", False, (info,))
    last_stable_offset: int | None = None
    still_open = True
    for attempt in range(VERIFY_ATTEMPTS):
        if attempt:
            await asyncio.sleep(VERIFY_PAUSE_MS / 1000)
        producers = await collect_producers(reader, [info])
        still_open = not producers.value or any(
            state.producer_id == plan.producer_id and state.current_txn_start_offset == plan.first_offset
            for where in producers.value
            for state in where.producers
        )
        offsets = await collect_offsets(reader, [topic])
        last_stable_offset = offsets.value[0].partitions[0].last_stable_offset
        # The LSO passes the marker when it is replicated; an older open transaction may hold it all the same.
        if not still_open and last_stable_offset is not None and last_stable_offset > plan.first_offset:
            return AbortOutcome(
                plan,
                plan.last_stable_offset,
                last_stable_offset,
                True,
                "The transaction is gone, the LSO moved.",
            )
    if not still_open:
        detail = "The transaction is gone; the LSO has not moved yet: another transaction holds it, or replicas lag."
    else:
        detail = "The leader took the marker, but it still shows the transaction."
    return AbortOutcome(plan, plan.last_stable_offset, last_stable_offset, False, detail)
