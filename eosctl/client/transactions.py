"""The requests of a transactional producer, in the versions of each protocol level."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from eosctl.client.client import Client
from eosctl.client.deadline import Deadline
from eosctl.client.destinations import Destination, Role, group_coordinator, transaction_coordinator
from eosctl.client.negotiation import BrokerVersions
from eosctl.client.outcome import any_error
from eosctl.client.producer_errors import TransactionFailed, producer_error
from eosctl.errors import RequestTimedOut
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from eosctl.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from eosctl.wire.uuid import ZERO_UUID


class ProducerIdentity(NamedTuple):
    """A transactional producer's producer id and epoch."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class GroupIdentity(NamedTuple):
    """A consumer's group metadata for fencing (KIP-447); the defaults disable the check."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None


class OffsetToCommit(NamedTuple):
    """The offset of the next record to process, with its leader epoch (-1: unknown)."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class Bounds(NamedTuple):
    """The lowest and highest version to use."""

    floor: int
    cap: int


class TransactionDialect(NamedTuple):
    """The versions of a protocol level, and whether partitions are added before they are written.

    A broker decides by the request's version, not by the cluster's `transaction.version` (KIP-890).
    """

    name: str
    declares_partitions: bool
    produce: Bounds
    offset_commit: Bounds
    end: Bounds


TV1: Final = TransactionDialect("TV1", True, Bounds(3, 11), Bounds(0, 4), Bounds(0, 4))
TV2: Final = TransactionDialect("TV2", False, Bounds(12, 12), Bounds(5, 6), Bounds(5, 5))

_ADD_PARTITIONS_CAP: Final = 3  # Later versions are for brokers.
_FIRST_WITH_TOPIC_IDS: Final = 6
_POLL_MS: Final = 10
_INIT_PRODUCER_ID_CAP: Final = 5  # Version 6 is not stable (KIP-939).
_NO_TRANSACTION_MS: Final = 2**31 - 1  # Sent by the Java client when there is no transaction timeout.

# All of these requests may be executed twice.
_AGAIN: Final = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NETWORK_EXCEPTION})
_COORDINATOR_AGAIN: Final = _AGAIN | {ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
_LOADING: Final = _AGAIN | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
# The coordinator has not applied a topic's creation yet, or its deletion is final: Kafka's producer retries both.
_OFFSETS_AGAIN: Final = _COORDINATOR_AGAIN | {ErrorCode.UNKNOWN_TOPIC_ID}
_PRODUCE_AGAIN: Final = _COORDINATOR_AGAIN | {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.KAFKA_STORAGE_ERROR,
}


def dialect_of(versions: BrokerVersions) -> TransactionDialect:
    """Return the level of Kafka's Java client for a cluster: TV2 if `transaction.version` 2 is finalized."""
    end = versions.apis.get(ApiKey.END_TXN)
    speaks_tv2 = end is not None and end.max_version >= TV2.end.floor
    return TV2 if speaks_tv2 and versions.features_epoch >= 0 and versions.transaction_version >= 2 else TV1


async def init_producer_id(
    client: Client, transactional_id: str, timeout_ms: int, known: ProducerIdentity | None = None
) -> ProducerIdentity:
    """Register a producer: fence earlier ones, and wait until their open transaction is aborted.

    Args:
        client: The client.
        transactional_id: The transactional id.
        timeout_ms: `transaction.timeout.ms`.
        known: The identity to continue with (KIP-360); None to take over unconditionally.
    """
    request = InitProducerIdRequest(
        transactional_id,
        timeout_ms,
        known.producer_id if known is not None else -1,
        known.producer_epoch if known is not None else -1,
    )
    response = await _send(
        client,
        transaction_coordinator(transactional_id),
        ApiKey.INIT_PRODUCER_ID,
        request,
        Bounds(0 if known is None else 3, _INIT_PRODUCER_ID_CAP),
        _COORDINATOR_AGAIN,
        f"InitProducerId of {transactional_id}",
    )
    return ProducerIdentity(transactional_id, response.producer_id, response.producer_epoch)


async def init_idempotent_producer(client: Client) -> tuple[int, int]:
    """Return a producer id and epoch for a producer without a transactional id.

    Retries while the broker has no block of producer ids.
    """
    request = InitProducerIdRequest(None, _NO_TRANSACTION_MS)
    bounds = Bounds(0, _INIT_PRODUCER_ID_CAP)
    operation = "InitProducerId of an idempotent producer"
    response = await _send(client, Role.ANY, ApiKey.INIT_PRODUCER_ID, request, bounds, _LOADING, operation)
    return response.producer_id, response.producer_epoch


async def add_partitions_to_txn(
    client: Client, identity: ProducerIdentity, partitions: Iterable[TopicPartition]
) -> None:
    """Add the partitions that the transaction will write (TV0 and TV1)."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        by_topic[topic].append(partition)
    topics = [AddPartitionsToTxnTopic(topic, indexes) for topic, indexes in by_topic.items()]
    await _send(
        client,
        transaction_coordinator(identity.transactional_id),
        ApiKey.ADD_PARTITIONS_TO_TXN,
        AddPartitionsToTxnRequest(*identity, topics),
        Bounds(0, _ADD_PARTITIONS_CAP),
        _COORDINATOR_AGAIN,
        f"AddPartitionsToTxn of {identity.transactional_id}",
    )


async def produce(
    client: Client,
    partition: TopicPartition,
    batch: bytes,
    *,
    transactional_id: str | None,
    bounds: Bounds,
    acks: int = -1,
) -> int:
    """Append an encoded batch to a partition and return the offset of its first record.

    A transactional batch is sent regardless of the transaction's state, which the broker checks. Produce 12 adds the
    partition to the transaction (TV2); lower versions require AddPartitionsToTxn before.
    """
    data = [TopicProduceData(name=partition.topic, partition_data=[_partition_data(partition.partition, batch)])]
    request = ProduceRequest(transactional_id, acks, client.config.request_timeout_ms, data)
    operation = f"Produce to {partition}"
    response = await _send(client, partition, ApiKey.PRODUCE, request, bounds, _PRODUCE_AGAIN, operation)
    return int(response.responses[0].partition_responses[0].base_offset)


async def produce_unacknowledged(client: Client, partition: TopicPartition, batch: bytes) -> None:
    """Send an encoded batch with acks=0: the leader does not report what becomes of it."""
    data = [TopicProduceData(name=partition.topic, partition_data=[_partition_data(partition.partition, batch)])]
    request = ProduceRequest(None, 0, client.config.request_timeout_ms, data)
    await client.post(partition, ApiKey.PRODUCE, request, cap=TV1.produce.cap)


async def add_offsets_to_txn(client: Client, identity: ProducerIdentity, group_id: str) -> None:
    """Announce that the transaction will commit offsets of a group (TV0 and TV1)."""
    await _send(
        client,
        transaction_coordinator(identity.transactional_id),
        ApiKey.ADD_OFFSETS_TO_TXN,
        AddOffsetsToTxnRequest(*identity, group_id),
        Bounds(0, 4),
        _COORDINATOR_AGAIN,
        f"AddOffsetsToTxn of {identity.transactional_id}",
    )


async def commit_offsets_in_txn(
    client: Client,
    identity: ProducerIdentity,
    group: GroupIdentity,
    offsets: Mapping[TopicPartition, OffsetToCommit],
    dialect: TransactionDialect,
) -> None:
    """Commit a group's offsets as part of the transaction; they take effect when it commits.

    Version 6 names topics by id (KIP-1319). Like Kafka's producer, this falls back to names if any topic has no id.
    """
    by_topic: dict[str, list[TxnOffsetCommitRequestPartition]] = defaultdict(list)
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic[topic].append(TxnOffsetCommitRequestPartition(partition, *offset))
    names = list(by_topic)
    bounds = dialect.offset_commit
    topic_ids = await client.topic_ids(names) if bounds.cap >= _FIRST_WITH_TOPIC_IDS else {}
    if len(topic_ids) < len(names):
        bounds = bounds._replace(cap=min(bounds.cap, _FIRST_WITH_TOPIC_IDS - 1))
    request = TxnOffsetCommitRequest(
        transactional_id=identity.transactional_id,
        group_id=group.group_id,
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        generation_id=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(topic, topic_ids.get(topic, ZERO_UUID), partitions)
            for topic, partitions in by_topic.items()
        ],
    )
    try:
        await _send(
            client,
            group_coordinator(group.group_id),
            ApiKey.TXN_OFFSET_COMMIT,
            request,
            bounds,
            _OFFSETS_AGAIN,
            f"TxnOffsetCommit of {identity.transactional_id} for group {group.group_id}",
        )
    except TransactionFailed as error:
        if error.error_code == ErrorCode.UNKNOWN_TOPIC_ID:
            client.forget_topics(names)
        raise


async def end_txn(
    client: Client, identity: ProducerIdentity, *, committed: bool, dialect: TransactionDialect
) -> ProducerIdentity:
    """Commit or abort, and return the identity for the next transaction (TV2 bumps the epoch at every end)."""
    response = await _send(
        client,
        transaction_coordinator(identity.transactional_id),
        ApiKey.END_TXN,
        EndTxnRequest(*identity, committed),
        dialect.end,
        _AGAIN | {ErrorCode.CONCURRENT_TRANSACTIONS},
        f"EndTxn of {identity.transactional_id}",
    )
    if response.producer_id < 0:
        return identity
    return identity._replace(producer_id=response.producer_id, producer_epoch=response.producer_epoch)


async def wait_until_ended(client: Client, transactional_id: str) -> TransactionState:
    """Wait until all markers of a committed or aborted transaction are written, and return the state of the id.

    EndTxn responds when the outcome is decided, before the markers are written.

    Raises:
        RequestTimedOut: The transaction has not completed after `config.timeout_ms`.
    """
    deadline = Deadline.after(client.config.timeout_ms)
    destination = transaction_coordinator(transactional_id)
    request = DescribeTransactionsRequest([transactional_id])
    while True:
        operation = f"DescribeTransactions of {transactional_id}"
        response = await _send(
            client, destination, ApiKey.DESCRIBE_TRANSACTIONS, request, Bounds(0, 0), _AGAIN, operation
        )
        state = TransactionState(response.transaction_states[0].transaction_state)
        if not state.is_open:
            return state
        if not deadline.remaining_ms():
            raise RequestTimedOut(
                f"The transaction of {transactional_id} is still in {state.value}.",
                "A partition leader does not take the marker.",
                "Check the leaders of the transaction's partitions.",
            )
        await asyncio.sleep(_POLL_MS / 1000)


def _partition_data(index: int, batch: bytes) -> PartitionProduceData:
    return PartitionProduceData(index=index, records=batch)


async def _send(
    client: Client,
    destination: Destination,
    api_key: ApiKey,
    request: Any,
    bounds: Bounds,
    again: Collection[ErrorCode],
    operation: str,
) -> Any:
    response = await client.request(
        destination, api_key, request, floor=bounds.floor, cap=bounds.cap, retry_on=again, error_of=any_error
    )
    code = any_error(response)
    if code is not ErrorCode.NONE:
        raise producer_error(api_key, code, operation)
    return response
