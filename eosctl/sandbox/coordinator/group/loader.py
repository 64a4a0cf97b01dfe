"""Rebuild the groups and offsets of a partition from its log (`GroupMetadataManager.loadGroupsAndOffsets`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.consumer_records import ConsumerRecordKey, replay_consumer_record
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.offset_store import OffsetStore
from eosctl.sandbox.coordinator.group.records import Replayed, decode_batch, restore_group, restore_offset
from eosctl.sandbox.coordinator.group.share.group import ShareGroup
from eosctl.sandbox.coordinator.group.share.records import ShareRecordKey, replay_share_record
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.coordinator.group.streams.streams_records import StreamsRecordKey, replay_streams_record
from eosctl.wire.messages.internal.consumer_offsets.group_metadata import GroupMetadataKey, GroupMetadataValue
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.records.batch import BatchHeader, decode_records
from eosctl.wire.records.control import EndTxnMarker, decode_control

Groups = dict[str, ClassicGroup | ConsumerGroup | StreamsGroup]


class LoadCounter:
    """Iterates the batches of a log and counts them, for the log line about the load."""

    def __init__(self, batches: Iterable[tuple[BatchHeader, bytes]]) -> None:
        self._batches = batches
        self.record_count = 0
        self.size_bytes = 0

    def __iter__(self) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield the batches."""
        for header, batch in self._batches:
            self.record_count += header.records_count
            self.size_bytes += len(batch)
            yield header, batch


def replay_log(
    batches: Iterable[tuple[BatchHeader, bytes]],
    groups: Groups,
    offsets: OffsetStore,
    is_3_9: bool,
    share_groups: dict[str, ShareGroup] | None = None,
    now_ms: int = 0,
) -> None:
    """Apply every batch in order; offsets of a transaction stay pending until its marker.

    A group with offsets but without a group record becomes an empty classic group. On 3.9, a tombstone does not remove
    a pending offset, so an offset that was deleted while pending reappears after a restart.
    """
    for header, batch in batches:
        if header.is_control:
            for record in decode_records(batch, header):
                marker = decode_control(record)
                if isinstance(marker, EndTxnMarker):
                    offsets.end_transaction(header.producer_id, marker.committed)
        else:
            for replayed in decode_batch(header, batch):
                if share_groups is not None and isinstance(replayed.key, ShareRecordKey):
                    replay_share_record(share_groups, replayed.key, replayed.value, now_ms)
                else:
                    _replay(replayed, groups, offsets, is_3_9)
    if is_3_9:
        for group_id in offsets.group_ids():
            groups.setdefault(group_id, ClassicGroup(group_id))


def _replay(record: Replayed, groups: Groups, offsets: OffsetStore, is_3_9: bool) -> None:
    key, value = record.key, record.value
    if isinstance(key, OffsetCommitKey):
        partition = TopicPartition(key.topic, key.partition)
        if value is None:
            offsets.remove(key.group, partition, pending_too=not is_3_9)
            return
        if not is_3_9:
            groups.setdefault(key.group, ClassicGroup(key.group))
        assert isinstance(value, OffsetCommitValue)
        committed = restore_offset(value, record.offset)
        if record.producer_id < 0:
            offsets.commit(key.group, partition, committed)
        else:
            offsets.put_pending(record.producer_id, key.group, partition, committed)
    elif isinstance(key, GroupMetadataKey):
        if value is None:
            if isinstance(groups.get(key.group), ClassicGroup):
                del groups[key.group]
        elif isinstance(value, GroupMetadataValue):
            groups[key.group] = restore_group(key.group, value)
    elif isinstance(key, ConsumerRecordKey):
        _replay_consumer(key, value, groups)
    elif isinstance(key, StreamsRecordKey):
        _replay_streams(key, value, groups)


def _replay_consumer(key: ConsumerRecordKey, value: object | None, groups: Groups) -> None:
    group_id = key.group_id
    known = groups.get(group_id)
    if not isinstance(known, ConsumerGroup):
        if value is None:
            return
        known = ConsumerGroup(group_id)
    group = replay_consumer_record(known, key, value)
    if group is None:
        del groups[group_id]
    else:
        groups[group_id] = group


def _replay_streams(key: StreamsRecordKey, value: object | None, groups: Groups) -> None:
    group_id = key.group_id
    known = groups.get(group_id)
    if not isinstance(known, StreamsGroup):
        if value is None:
            return
        known = StreamsGroup(group_id)
    group = replay_streams_record(known, key, value)
    if group is None:
        del groups[group_id]
    else:
        groups[group_id] = group
