"""Records of `__transaction_state`: encoding and decoding of transactions, in the formats of 3.9 and 4.3."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any, Final

from eosctl.model.transaction import topic_partition
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
    """Encode the key of a transactional id."""
    return transaction_log.encode_key(TransactionKey(transactional_id))


def encode_value(metadata: TransactionMetadata, version: int, *, writes_tags: bool) -> bytes:
    """Encode a value.

    Args:
        metadata: The transaction.
        version: 0, or 1 (flexible) from `transaction.version` 1 on.
        writes_tags: Whether to write the producer ids of a rotation and the client's transaction version. 4.x does; 3.9
            knows the tags and omits them.
    """
    state = metadata.state
    head = _pack_head(
        version, metadata.producer_id, metadata.producer_epoch, metadata.timeout_ms, STATUS_BY_STATE[state]
    )
    section = _partition_section(None if state is EMPTY else metadata.partitions, version)
    if version >= 1 and writes_tags:
        return head + section + _times_and_tags(metadata)
    times = _TIMES.pack(metadata.last_update_ms, metadata.start_ms)
    return head + section + times + (b"\0" if version >= 1 else b"")


# Three values are encoded per transaction, so its partitions are encoded once and cached.
_HEAD: Final = Struct(">hqhib")  # version, producer id and epoch, timeout, status
_KEY_TYPE: Final = bytes(2)
_TIMES: Final = Struct(">qq")  # last update, start
_pack_head: Final = _HEAD.pack
# The same times; number of tags; tag, size, and value of each.
_pack_times_and_previous: Final = Struct(">qqbbbq").pack
_pack_times_previous_and_version: Final = Struct(">qqbbbqbbh").pack


@lru_cache(maxsize=1024)
def _partition_section(partitions: Partitions | None, version: int) -> bytes:
    topics = None if partitions is None else _by_topic(partitions)
    encoded = transaction_log.encode_value(TransactionValue(0, 0, 0, 0, topics, 0, 0), version)
    return encoded[_HEAD.size : len(encoded) - _TIMES.size - (1 if version else 0)]


def _times_and_tags(metadata: TransactionMetadata) -> bytes:
    last_update_ms, start_ms = metadata.last_update_ms, metadata.start_ms
    previous, following = metadata.previous_producer_id, metadata.next_producer_id
    client_version = metadata.client_transaction_version
    if following == NO_PRODUCER_ID != previous:  # the usual case: no rotation
        if client_version:
            return _pack_times_previous_and_version(last_update_ms, start_ms, 2, 0, 8, previous, 2, 2, client_version)
        return _pack_times_and_previous(last_update_ms, start_ms, 1, 0, 8, previous)
    value = TransactionValue(0, 0, 0, 0, None, last_update_ms, start_ms, previous, following, client_version)
    return transaction_log.encode_value(value, 1)[_HEAD.size + 1 :]


def _by_topic(partitions: Partitions) -> list[TransactionPartitions]:
    if len(partitions) == 1:
        ((topic, partition),) = partitions
        return [TransactionPartitions(topic, [partition])]
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return [TransactionPartitions(topic, indexes) for topic, indexes in topics.items()]


def decode_transactional_id(key: bytes) -> str | None:
    """Decode a key; return None for a record type that this release does not know."""
    # Fast path for all but newer record types.
    if key[:2] == _KEY_TYPE and len(key) - 4 == int.from_bytes(key[2:4], "big"):
        return key[4:].decode("utf-8", "replace")
    try:
        return transaction_log.decode_key(key).transactional_id
    except UnknownRecordError:
        return None


def decode_value(transactional_id: str, value: bytes) -> TransactionMetadata:
    """Decode a value of any version, as a coordinator loads it."""
    decoded = transaction_log.decode_value(value)
    topics = decoded.transaction_partitions
    return TransactionMetadata(
        transactional_id,
        decoded.producer_id,
        decoded.producer_epoch,
        decoded.transaction_timeout_ms,
        STATE_BY_STATUS[decoded.transaction_status],
        _partitions(*[(topic.topic, *topic.partition_ids) for topic in topics]) if topics else NO_PARTITIONS,
        decoded.transaction_start_timestamp_ms,
        decoded.transaction_last_update_timestamp_ms,
        previous_producer_id=decoded.previous_producer_id,
        next_producer_id=decoded.next_producer_id,
        client_transaction_version=decoded.client_transaction_version,
    )


@lru_cache(maxsize=1024)
def _partitions(*topics: tuple[Any, ...]) -> Partitions:
    """Return the partitions as topic names with indexes; ids with equal partitions share the set."""
    return frozenset(topic_partition(name, index) for name, *indexes in topics for index in indexes)
