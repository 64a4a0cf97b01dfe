"""How many bytes Kafka's record batches take, and the records of its internal topics, from their encoding.

Kafka stores variable-length integers, so sizes depend on lengths; nothing here is fitted. Every figure is held to the
real encoder by tests. A batch is a header of 61 bytes and its records (Kafka's DefaultRecordBatch, magic 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

BATCH_HEADER_BYTES: Final = 61
MARKER_BATCH_BYTES: Final = 78
#: The version of TxnOffsetCommit that names topics by id (KIP-1319); brokers keep the id with the offset.
OFFSET_COMMIT_WITH_TOPIC_IDS: Final = 6
PRODUCER_SNAPSHOT_HEADER_BYTES: Final = 10
PRODUCER_SNAPSHOT_ENTRY_BYTES: Final = 46
OFFSETS_TOPIC: Final = "__consumer_offsets"


class TopicPartitions(NamedTuple):
    """Partitions of one topic that a transaction has in it: the length of the topic's name, and how many there are.

    ``partition_count`` may be an average; below 1 it is the probability that the topic is there at all.
    """

    topic_name_bytes: int
    partition_count: float


def varint_bytes(value: int) -> int:
    """Return the size of a zigzag varint.

    >>> [varint_bytes(value) for value in (0, 63, 64, 8_191, 8_192)]
    [1, 1, 2, 2, 3]
    """
    return unsigned_varint_bytes(2 * value if value >= 0 else -2 * value - 1)


def unsigned_varint_bytes(value: int) -> int:
    """Return the size of an unsigned varint.

    >>> [unsigned_varint_bytes(value) for value in (0, 127, 128)]
    [1, 1, 2]
    """
    return max(1, (value.bit_length() + 6) // 7)


def record_bytes(key_bytes: int | None, value_bytes: int, *, offset_delta: int = 0, timestamp_delta_ms: int = 0) -> int:
    """Return the size of one record without headers inside a batch.

    Args:
        key_bytes: Length of the key; None for a record without one.
        value_bytes: Length of the value.
        offset_delta: Its place in the batch.
        timestamp_delta_ms: Milliseconds after the first record of the batch.

    >>> record_bytes(None, 100)
    109
    """
    key = varint_bytes(-1) if key_bytes is None else varint_bytes(key_bytes) + key_bytes
    body = 1 + varint_bytes(timestamp_delta_ms) + varint_bytes(offset_delta) + key
    body += varint_bytes(value_bytes) + value_bytes + 1
    return varint_bytes(body) + body


def batch_bytes(key_bytes: int | None, value_bytes: int, record_count: float, compression_ratio: float = 1.0) -> float:
    """Return the size of a batch of equal records that were written within a moment (F1).

    Args:
        key_bytes: Length of each key; None without keys.
        value_bytes: Length of each value.
        record_count: Records in the batch; need not be whole where it is an average.
        compression_ratio: Uncompressed over compressed size of the records, at least 1. The header is not compressed.

    >>> batch_bytes(None, 100, 1)
    170.0
    >>> round(batch_bytes(None, 1_000, 16, compression_ratio=4), 1)
    4097.0
    """
    middle = max(0, round((record_count - 1) / 2))
    return BATCH_HEADER_BYTES + record_count * record_bytes(key_bytes, value_bytes, offset_delta=middle) / (
        compression_ratio
    )


def transaction_state_bytes(
    transactional_id_bytes: int,
    topics: Sequence[TopicPartitions] = (),
    *,
    flexible: bool = True,
    tag_bytes: int = 0,
) -> float:
    """Return the size of one append to ``__transaction_state``: a batch with a single record (F9).

    Args:
        transactional_id_bytes: Length of the transactional id.
        topics: Partitions in the transaction at this moment; a completed one has none.
        flexible: Value version 1, which Kafka writes from ``transaction.version`` 1 on; else version 0.
        tag_bytes: Size of the tagged fields of version 1 (see `transaction_state_tags`).

    The figures of the golden case G1 (49-character id, one topic of 12 characters and the offsets topic):

    >>> transaction_state_bytes(49), transaction_state_bytes(49, [TopicPartitions(12, 1), TopicPartitions(18, 1)])
    (157, 202)

    And of G2: 32 repartition partitions of a 12-character topic, 1 changelog partition (a name of 40 characters
    gives the figure) and the offsets topic:

    >>> transaction_state_bytes(49, [TopicPartitions(12, 32), TopicPartitions(40, 1), TopicPartitions(18, 1)])
    373
    """
    key = 2 + 2 + transactional_id_bytes
    fixed = 2 + 8 + 2 + 4 + 1 + 8 + 8
    if flexible:
        listed = sum(_compact_topic_bytes(topic) for topic in topics)
        value = fixed + unsigned_varint_bytes(len(topics) + 1) + listed + 1 + tag_bytes
    else:
        listed = sum(
            min(1, topic.partition_count) * (2 + topic.topic_name_bytes + 4) + 4 * topic.partition_count
            for topic in topics
        )
        value = fixed + 4 + listed
    return BATCH_HEADER_BYTES + record_bytes(key, round(value)) + value - round(value)


def transaction_state_tag_bytes(transaction_version: int, *, kafka_major: int = 4) -> int:
    """Return the size of the tagged fields in a record of ``__transaction_state`` (KIP-890).

    Brokers from 4.0 on always write the previous producer id where value version 1 is in use, and the client's
    transaction version in the records of a transaction at TV2; 3.9 writes neither.

    >>> [transaction_state_tag_bytes(version) for version in (0, 1, 2)], transaction_state_tag_bytes(1, kafka_major=3)
    ([0, 10, 14], 0)
    """
    if kafka_major < 4 or transaction_version == 0:
        return 0
    return 14 if transaction_version >= 2 else 10


def _compact_topic_bytes(topic: TopicPartitions) -> float:
    name = unsigned_varint_bytes(topic.topic_name_bytes + 1) + topic.topic_name_bytes
    count = unsigned_varint_bytes(round(topic.partition_count) + 1)
    return min(1, topic.partition_count) * (name + count + 1) + 4 * topic.partition_count


def offset_commit_batch_bytes(
    group_id_bytes: int, topics: Sequence[TopicPartitions], *, metadata_bytes: int = 0, topic_ids: bool = False
) -> float:
    """Return the size of one append to ``__consumer_offsets``: one record for each partition (F10).

    Args:
        group_id_bytes: Length of the group id.
        topics: The partitions whose offsets are committed together.
        metadata_bytes: Length of the metadata text; Kafka Streams writes some 20 bytes, plain clients none.
        topic_ids: Value version 4 with the topic's id, which clients that name topics by id cause (in transactions
            from Kafka 4.4 on); else version 3.

    One partition of a topic of 5 characters, by a group of 10:

    >>> [offset_commit_batch_bytes(10, [TopicPartitions(5, 1)], topic_ids=ids) for ids in (False, True)]
    [117.0, 136.0]
    """
    value = 2 + 8 + 4 + 8 + metadata_bytes
    value += unsigned_varint_bytes(metadata_bytes + 1) + 1 + 18 if topic_ids else 2
    total, place = float(BATCH_HEADER_BYTES), 0.0
    for topic in topics:
        key = 2 + 2 + group_id_bytes + 2 + topic.topic_name_bytes + 4
        middle = place + max(0.0, topic.partition_count - 1) / 2
        total += topic.partition_count * record_bytes(key, value, offset_delta=round(middle))
        place += topic.partition_count
    return total


def format_release(supported_transaction_version: int, offset_commit_version: int) -> str:
    """Return a release whose records have the sizes of a cluster's: the first one with them, or 3.9.

    Args:
        supported_transaction_version: The highest level of transaction.version that its brokers support.
        offset_commit_version: The version of TxnOffsetCommit that clients use.

    >>> format_release(0, 3), format_release(2, 5), format_release(2, 6)
    ('3.9', '4.0', '4.4')
    """
    if supported_transaction_version < 2:
        return "3.9"
    return "4.4" if offset_commit_version >= OFFSET_COMMIT_WITH_TOPIC_IDS else "4.0"


def producer_snapshot_bytes(entry_count: int) -> int:
    """Return the size of a partition's producer snapshot file (Kafka's ProducerStateManager).

    >>> producer_snapshot_bytes(1_000)
    46010
    """
    return PRODUCER_SNAPSHOT_HEADER_BYTES + PRODUCER_SNAPSHOT_ENTRY_BYTES * entry_count
