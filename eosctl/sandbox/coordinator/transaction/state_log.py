"""Records of ``__transaction_state``: a transaction's value as bytes and back, as 3.9 and 4.3 write them."""

from __future__ import annotations

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.transaction.metadata import (
    EMPTY,
    NO_PARTITIONS,
    NO_PRODUCER_ID,
    STATE_BY_STATUS,
    STATUS_BY_STATE,
    Partitions,
    TransactionMetadata,
)
from eosctl.wire.internal import transaction_log
from eosctl.wire.internal.transaction_log import TransactionKey, TransactionPartitions, TransactionValue
from eosctl.wire.internal.versioned import UnknownRecordError


def encode_key(transactional_id: str) -> bytes:
    """Encode the key of an id's records."""
    return transaction_log.encode_key(TransactionKey(transactional_id))


def encode_value(metadata: TransactionMetadata, version: int, *, writes_tags: bool) -> bytes:
    """Encode a value.

    Args:
        metadata: The transaction.
        version: 0, or 1 (flexible) from transaction.version 1 on.
        writes_tags: Whether producer ids around a rotation and the client's transaction version are written:
            4.x does, 3.9 knows the tags and leaves them out.
    """
    tags = writes_tags and version >= 1
    return transaction_log.encode_value(
        TransactionValue(  # in the order of its fields: three of these are encoded for every transaction
            metadata.producer_id,
            metadata.producer_epoch,
            metadata.timeout_ms,
            STATUS_BY_STATE[metadata.state],
            None if metadata.state is EMPTY else _by_topic(metadata.partitions),
            metadata.last_update_ms,
            metadata.start_ms,
            metadata.previous_producer_id if tags else NO_PRODUCER_ID,
            metadata.next_producer_id if tags else NO_PRODUCER_ID,
            metadata.client_transaction_version if tags else 0,
        ),
        version,
    )


def _by_topic(partitions: Partitions) -> list[TransactionPartitions]:
    if len(partitions) == 1:
        ((topic, partition),) = partitions
        return [TransactionPartitions(topic, [partition])]
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return [TransactionPartitions(topic, indexes) for topic, indexes in topics.items()]


def decode_transactional_id(key: bytes) -> str | None:
    """Decode a key; None for a record of a type that this release does not know."""
    try:
        return transaction_log.decode_key(key).transactional_id
    except UnknownRecordError:
        return None


def decode_value(transactional_id: str, value: bytes) -> TransactionMetadata:
    """Decode a value of any version into what a coordinator knows after loading it."""
    decoded = transaction_log.decode_value(value)
    return TransactionMetadata(
        transactional_id,
        decoded.producer_id,
        decoded.producer_epoch,
        decoded.transaction_timeout_ms,
        STATE_BY_STATUS[decoded.transaction_status],
        frozenset(
            TopicPartition(topic.topic, index)
            for topic in decoded.transaction_partitions
            for index in topic.partition_ids
        )
        if decoded.transaction_partitions
        else NO_PARTITIONS,
        decoded.transaction_start_timestamp_ms,
        decoded.transaction_last_update_timestamp_ms,
        previous_producer_id=decoded.previous_producer_id,
        next_producer_id=decoded.next_producer_id,
        client_transaction_version=decoded.client_transaction_version,
    )
