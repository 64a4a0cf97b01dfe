"""Write a transaction marker in place of its coordinator, and verify the effect."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from msgspec.structs import replace

from eosctl.actions.protocol import Action, Permit, Verification
from eosctl.client.client import Client
from eosctl.client.outcome import error_for_code
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import collect_producers
from eosctl.errors import BrokerError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import MarkerOutcome, MarkerPlan
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import write_txn_markers

MARKER_EVIDENCE: Final = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.OFFSETS,
        EvidenceKind.TRANSACTION_HISTORY,
    }
)
# After an election, and after a reassignment to other brokers.
_FORMER_LEADER: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
VERIFY_ATTEMPTS: Final = 20
VERIFY_PAUSE_MS: Final = 100
# The check of brokers before KIP-1228: the marker's epoch may equal the producer's.
LEGACY_TRANSACTION_VERSION: Final = 0


def _identity(plan: MarkerPlan) -> MarkerPlan:
    # Fields that later appends change are not part of the transaction's identity.
    return replace(
        plan,
        last_stable_offset=None,
        invisible_offsets=None,
        invisible_records=None,
        explanation="",
        warnings=(),
        evidence=(),
    )


async def _write_marker(client: Client, plan: MarkerPlan, permit: Permit) -> Verification[MarkerOutcome]:
    permit.use(plan)
    marker = write_txn_markers.WritableTxnMarker(
        producer_id=plan.producer_id,
        producer_epoch=plan.producer_epoch,
        transaction_result=plan.committed,
        topics=[write_txn_markers.WritableTxnMarkerTopic(plan.partition.topic, [plan.partition.partition])],
        coordinator_epoch=plan.coordinator_epoch,
        transaction_version=LEGACY_TRANSACTION_VERSION,
    )
    request = write_txn_markers.WriteTxnMarkersRequest(markers=[marker])
    error = _refusal(await client.request(plan.leader_id, ApiKey.WRITE_TXN_MARKERS, request))
    # Not repeated here: what the plan has read may have changed with the leader.
    if error in _FORMER_LEADER:
        raise BrokerError(
            f"WriteTxnMarkers for {plan.partition}: {ErrorCode(error).name}",
            f"Broker {plan.leader_id} no longer leads the partition, or does not do so yet. Nothing was changed.",
            "Run the command again: it plans for the leader that the partition has then.",
            error_code=error,
        )
    if error != ErrorCode.NONE:
        raise error_for_code(error, f"WriteTxnMarkers for {plan.partition}", api_key=ApiKey.WRITE_TXN_MARKERS)
    return partial(_verify, client, plan)


def _refusal(answer: write_txn_markers.WriteTxnMarkersResponse) -> int:
    """Return the first error code of an answer; NONE without one."""
    codes = (one.error_code for result in answer.markers for topic in result.topics for one in topic.partitions)
    return next((code for code in codes if code != ErrorCode.NONE), ErrorCode.NONE)


async def _verify(client: Client, plan: MarkerPlan) -> MarkerOutcome:
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
        # The LSO passes the marker once it is replicated, unless an older open transaction holds it.
        if not still_open and last_stable_offset is not None and last_stable_offset > plan.first_offset:
            return MarkerOutcome(
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
    return MarkerOutcome(plan, plan.last_stable_offset, last_stable_offset, False, detail)


MARKER: Final = Action(_identity, _write_marker)
"""`send` raises BrokerError if the leader rejects the marker and nothing was changed, AuthorizationDenied without ALTER
or CLUSTER_ACTION on the cluster, and EosctlError if the leader cannot be reached."""
