"""The records of `__consumer_offsets`, in the formats of 3.9 and 4.3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.classic_group import (
    ClassicGroup,
    ClassicState,
    Member,
    MemberProtocol,
    compute_subscribed_topics,
)
from eosctl.sandbox.coordinator.group.offset_store import CommittedOffset
from eosctl.sandbox.ports import Emulation
from eosctl.wire.internal.offsets import decode_key, decode_value, encode_key, encode_value
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.records.batch import BatchHeader, decode_records, encode_batch
from eosctl.wire.records.record import Record

GROUP_METADATA_VERSION = 3
NO_SEQUENCE = -1
FIRST_SEQUENCE = 0


class StoredRecord(NamedTuple):
    """A key and its value; a value of None is a tombstone."""

    key: bytes
    value: bytes | None


class Replayed(NamedTuple):
    """A replayed record: its offset, its producer id (-1: no transaction), and its content."""

    offset: int
    producer_id: int
    key: object
    value: object | None


def encode_batch_of(
    records: Iterable[StoredRecord], timestamp_ms: int, base_sequence: int, producer: tuple[int, int] | None = None
) -> bytes:
    """Encode a batch; `producer` (id, epoch) makes it transactional.

    Transactional offset commits always have base sequence 0, so sequences are not checked in this topic.
    """
    producer_id, producer_epoch = producer or (-1, -1)
    return encode_batch(
        [Record(0, timestamp_ms, key, value) for key, value in records],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=producer is not None,
    )


def stored(key: Struct, value: Struct | None = None, version: int = 0) -> StoredRecord:
    """Encode a key with its value in one version, or its tombstone."""
    return StoredRecord(encode_key(key), None if value is None else encode_value(value, version))


def offset_record(
    group_id: str, partition: TopicPartition, committed: CommittedOffset, emulation: Emulation
) -> StoredRecord:
    """Encode an offset commit: value version 3 on 3.9 and 4 on 4.3, or 1 with an explicit expiration."""
    version = 3 if emulation.is_3_9 else 4
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=committed.expire_timestamp_ms,
        topic_id=committed.topic_id,
    )
    key = OffsetCommitKey(group_id, partition.topic, partition.partition)
    return stored(key, value, 1 if committed.expire_timestamp_ms >= 0 else version)


def offset_tombstone(group_id: str, partition: TopicPartition) -> StoredRecord:
    """Encode the removal of an offset."""
    return stored(OffsetCommitKey(group_id, partition.topic, partition.partition))


def group_record(group: ClassicGroup) -> StoredRecord:
    """Encode the metadata of a classic group with the members' subscriptions under the selected protocol."""
    protocol_name = group.protocol_name or ""
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(protocol_name),
            assignment=member.assignment,
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=group.state_timestamp_ms,
        members=members,
    )
    return stored(GroupMetadataKey(group.group_id), value, GROUP_METADATA_VERSION)


def group_tombstone(group_id: str) -> StoredRecord:
    """Encode the removal of a classic group."""
    return stored(GroupMetadataKey(group_id))


def decode_batch(header: BatchHeader, batch: bytes) -> Iterator[Replayed]:
    """Yield the records of a data batch; skip unknown types and versions, as Kafka does."""
    for record in decode_records(batch, header):
        if record.key is None:
            continue
        try:
            key = decode_key(record.key)
            value = None if record.value is None else decode_value(key, record.value)
        except UnknownRecordError:
            continue
        yield Replayed(record.offset, header.producer_id, key, value)


def restore_offset(value: OffsetCommitValue, record_offset: int) -> CommittedOffset:
    """Return the offset in a record."""
    return CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp_ms=value.commit_timestamp,
        expire_timestamp_ms=value.expire_timestamp,
        topic_id=value.topic_id,
        record_offset=record_offset,
    )


def restore_group(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """Return the group in a record: stable with its members, or empty."""
    members = {
        member.member_id: Member(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout if member.rebalance_timeout >= 0 else member.session_timeout,
            session_timeout_ms=member.session_timeout,
            protocol_type=value.protocol_type,
            protocols=(MemberProtocol(value.protocol or "", bytes(member.subscription)),),
            assignment=bytes(member.assignment),
        )
        for member in value.members
    }
    group = ClassicGroup(
        group_id=group_id,
        state=ClassicState.STABLE if members else ClassicState.EMPTY,
        state_timestamp_ms=value.current_state_timestamp,
        generation_id=value.generation,
        protocol_type=value.protocol_type or None,
        protocol_name=value.protocol,
        leader_id=value.leader,
        members=members,
    )
    return group.with_subscribed_topics(compute_subscribed_topics(group))
