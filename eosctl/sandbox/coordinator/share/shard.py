"""A partition of `__share_group_state`: its share-partitions, and the rules of their changes (`ShareCoordinatorShard`).

A rule returns what a change writes and leaves the state alone; `replay` applies records, live and from the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eosctl.sandbox.coordinator.share.records import (
    StateRecord,
    restore_batches,
    restore_snapshot,
    snapshot_record,
    tombstone,
    update_record,
)
from eosctl.sandbox.coordinator.share.state import (
    NO_COUNT,
    NO_EPOCH,
    NO_OFFSET,
    ShareGroupOffset,
    SharePartitionKey,
    StateBatch,
    combine_batches,
)
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.versioned import share_group_state
from eosctl.wire.messages.internal.share_group_state.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from eosctl.wire.messages.internal.share_group_state.share_update import ShareUpdateKey, ShareUpdateValue

NEGATIVE_PARTITION = "The partition id cannot be a negative number."
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_STATE = ShareGroupOffset(0, 0, 0, NO_OFFSET, NO_COUNT)
"""The answer to a summary of an unknown share-partition."""


class StateRefusedError(Exception):
    """A request is rejected with an error; `message` is Kafka's."""

    def __init__(self, error: ErrorCode, message: str = "") -> None:
        super().__init__(message or kafka_text(error))
        self.error = error
        self.message = message or kafka_text(error)


class StateWrite(NamedTuple):
    """A change that the leader of a share-partition requests."""

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: tuple[StateBatch, ...] = ()


class PartitionState(NamedTuple):
    """A share-partition's state, the highest epochs seen for it, and the number of updates since its snapshot."""

    offset: ShareGroupOffset
    leader_epoch: int
    state_epoch: int
    update_count: int = 0


class StateShard:
    """The share-partitions of one partition while this broker coordinates it."""

    def __init__(self, index: int, leader_epoch: int, fenced_text: str = "", *, moves_start_back: bool = False) -> None:
        self.index = index
        self._fenced_text = fenced_text
        self._moves_start_back = moves_start_back
        self.leader_epoch = leader_epoch
        self.is_loading = True
        self.is_closed = False
        self.states: dict[SharePartitionKey, PartitionState] = {}

    # --- rules ----------------------------------------------------------------------------------------------------

    def initialize(
        self, key: SharePartitionKey, state_epoch: int, start_offset: int, metadata: MetadataView, now_ms: int
    ) -> StateRecord:
        """Begin the state of a share-partition, or begin it again at another offset.

        Raises:
            StateRefusedError: The partition does not exist, or the state epoch is old.
        """
        _check_partition(key)
        known = self.states.get(key)
        if known is not None and NO_EPOCH != state_epoch < known.state_epoch:
            raise StateRefusedError(ErrorCode.FENCED_STATE_EPOCH, self._fenced_text)
        _check_exists(key, metadata)
        snapshot_epoch = 0 if known is None else known.offset.snapshot_epoch + 1
        count = NO_COUNT if start_offset == NO_OFFSET else 0
        state = ShareGroupOffset(
            snapshot_epoch=snapshot_epoch,
            state_epoch=state_epoch,
            leader_epoch=0,
            start_offset=start_offset,
            delivery_complete_count=count,
            create_timestamp_ms=now_ms,
            write_timestamp_ms=now_ms,
        )
        return snapshot_record(key, state)

    def write(
        self, key: SharePartitionKey, change: StateWrite, metadata: MetadataView, updates_per_snapshot: int, now_ms: int
    ) -> StateRecord:
        """Change the state: an update, or a snapshot after `updates_per_snapshot` updates.

        A write that arrives after later ones, since it was sent again, does not move the start offset back. In Kafka
        before 4.4 it does, and records that were acknowledged are delivered again (`moves_start_back`).

        Raises:
            StateRefusedError: The share-partition is unknown, or one of the epochs is old.
        """
        _check_partition(key)
        known = self.states.get(key)
        if known is None:
            text = "Write operation on uninitialized share partition not allowed."
            raise StateRefusedError(ErrorCode.INVALID_REQUEST, text)
        if NO_EPOCH != change.leader_epoch < known.leader_epoch:
            raise StateRefusedError(ErrorCode.FENCED_LEADER_EPOCH)
        if NO_EPOCH != change.state_epoch < known.state_epoch:
            raise StateRefusedError(ErrorCode.FENCED_STATE_EPOCH, self._fenced_text)
        _check_exists(key, metadata)
        if not self._moves_start_back:
            change = _not_before(change, known.offset)
        return self._record(key, known, change, known.offset.leader_epoch, updates_per_snapshot, now_ms)

    def read(
        self, key: SharePartitionKey, leader_epoch: int, metadata: MetadataView, updates_per_snapshot: int, now_ms: int
    ) -> tuple[ShareGroupOffset, StateRecord | None]:
        """Return the state for the leader of a share-partition, and what to write if its epoch is new.

        Raises:
            StateRefusedError: The share-partition is unknown, or the leader epoch is old.
        """
        _check_partition(key)
        known = self.states.get(key)
        if known is None:
            text = "Read operation on uninitialized share partition not allowed."
            raise StateRefusedError(ErrorCode.INVALID_REQUEST, text)
        if NO_EPOCH != leader_epoch < known.leader_epoch:
            raise StateRefusedError(ErrorCode.FENCED_LEADER_EPOCH)
        _check_exists(key, metadata)
        offset = known.offset
        if leader_epoch in (NO_EPOCH, known.leader_epoch):
            return offset, None
        change = StateWrite(offset.state_epoch, leader_epoch, offset.start_offset, offset.delivery_complete_count)
        return offset, self._record(key, known, change, leader_epoch, updates_per_snapshot, now_ms)

    def summarize(self, key: SharePartitionKey, metadata: MetadataView) -> ShareGroupOffset:
        """Return the state without its batches; start offset -1 for an unknown share-partition.

        Raises:
            StateRefusedError: The partition does not exist.
        """
        _check_partition(key)
        _check_exists(key, metadata)
        known = self.states.get(key)
        return NO_STATE if known is None else known.offset

    def delete(self, key: SharePartitionKey, metadata: MetadataView) -> StateRecord | None:
        """Remove a share-partition; None if it is unknown.

        Raises:
            StateRefusedError: The partition does not exist.
        """
        _check_partition(key)
        _check_exists(key, metadata)
        return tombstone(key) if key in self.states else None

    def delete_topics(self, topic_ids: Iterable[bytes]) -> list[StateRecord]:
        """Remove the share-partitions of deleted topics."""
        gone = set(topic_ids)
        return [tombstone(key) for key in self.states if key.topic_id in gone]

    def _record(
        self,
        key: SharePartitionKey,
        known: PartitionState,
        change: StateWrite,
        leader_epoch: int,
        updates_per_snapshot: int,
        now_ms: int,
    ) -> StateRecord:
        offset = known.offset
        if known.update_count >= updates_per_snapshot:
            state = offset.updated(
                change.start_offset, change.delivery_complete_count, leader_epoch, change.state_batches
            )
            return snapshot_record(
                key,
                state._replace(
                    snapshot_epoch=offset.snapshot_epoch + 1, create_timestamp_ms=now_ms, write_timestamp_ms=now_ms
                ),
            )
        return update_record(
            key,
            offset.snapshot_epoch,
            leader_epoch,
            change.start_offset,
            change.delivery_complete_count,
            combine_batches(change.state_batches, change.start_offset),
        )

    # --- replay ---------------------------------------------------------------------------------------------------

    def replay(self, record: StateRecord, updates_per_snapshot: int) -> tuple[SharePartitionKey, PartitionState | None]:
        """Apply a record; return its share-partition and the state before.

        Raises:
            UnknownRecordError: The type or the version is unknown.
        """
        found = share_group_state.decode_key(record.key)
        assert isinstance(found, ShareSnapshotKey | ShareUpdateKey)
        key = SharePartitionKey(found.group_id, found.topic_id, found.partition)
        value = None if record.value is None else share_group_state.decode_value(found, record.value)
        known = self.states.get(key)
        if isinstance(value, ShareSnapshotValue):
            count = 0 if known is None or known.update_count >= updates_per_snapshot else known.update_count
            self.states[key] = _with_epochs(known, restore_snapshot(value), count)
        elif isinstance(value, ShareUpdateValue):
            batches = restore_batches(value.state_batches)
            if known is None:
                base = ShareGroupOffset(value.snapshot_epoch, 0, value.leader_epoch, value.start_offset, NO_COUNT)
            else:
                base = known.offset
            state = base.updated(value.start_offset, value.delivery_complete_count, value.leader_epoch, batches)
            self.states[key] = _with_epochs(known, state, 1 if known is None else known.update_count + 1)
        else:
            self.states.pop(key, None)
        return key, known

    def restore(self, key: SharePartitionKey, state: PartitionState | None) -> None:
        """Revert a record that could not be written."""
        if state is None:
            self.states.pop(key, None)
        else:
            self.states[key] = state


def _not_before(change: StateWrite, offset: ShareGroupOffset) -> StateWrite:
    """Return a change that keeps the start offset, with its count, if that is later (`generateShareStateRecord`)."""
    if change.start_offset > offset.start_offset:
        return change
    count = offset.delivery_complete_count
    if change.start_offset == offset.start_offset:
        count = max(count, change.delivery_complete_count)
    return change._replace(start_offset=offset.start_offset, delivery_complete_count=count)


def _with_epochs(known: PartitionState | None, offset: ShareGroupOffset, update_count: int) -> PartitionState:
    if known is None:
        return PartitionState(offset, offset.leader_epoch, offset.state_epoch, update_count)
    return PartitionState(
        offset,
        max(known.leader_epoch, offset.leader_epoch),
        max(known.state_epoch, offset.state_epoch),
        update_count,
    )


def _check_partition(key: SharePartitionKey) -> None:
    if key.partition < 0:
        raise StateRefusedError(ErrorCode.INVALID_REQUEST, NEGATIVE_PARTITION)


def _check_exists(key: SharePartitionKey, metadata: MetadataView) -> None:
    name = metadata.topic_name(key.topic_id)
    if name is None or key.partition >= metadata.partition_count(name):
        raise StateRefusedError(UNKNOWN)
