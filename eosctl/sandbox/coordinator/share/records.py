"""The records of `__share_group_state`, as 4.3.1 writes them: snapshots, updates, and tombstones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from eosctl.sandbox.coordinator.share.state import ShareGroupOffset, SharePartitionKey, StateBatch
from eosctl.wire.internal.versioned import share_group_state
from eosctl.wire.messages.internal.share_group_state import share_snapshot, share_update

_VERSION: Final = 0


class StateRecord(NamedTuple):
    """An encoded key with its value; a value of None is a tombstone."""

    key: bytes
    value: bytes | None


def snapshot_record(key: SharePartitionKey, state: ShareGroupOffset) -> StateRecord:
    """Encode the whole state of a share-partition."""
    value = share_snapshot.ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        create_timestamp=state.create_timestamp_ms,
        write_timestamp=state.write_timestamp_ms,
        state_batches=[share_snapshot.StateBatch(*batch) for batch in state.state_batches],
        delivery_complete_count=state.delivery_complete_count,
    )
    return _record(share_snapshot.ShareSnapshotKey(*key), value)


def update_record(
    key: SharePartitionKey,
    snapshot_epoch: int,
    leader_epoch: int,
    start_offset: int,
    delivery_complete_count: int,
    batches: Iterable[StateBatch],
) -> StateRecord:
    """Encode a change since the last snapshot."""
    value = share_update.ShareUpdateValue(
        snapshot_epoch=snapshot_epoch,
        leader_epoch=leader_epoch,
        start_offset=start_offset,
        state_batches=[share_update.StateBatch(*batch) for batch in batches],
        delivery_complete_count=delivery_complete_count,
    )
    return _record(share_update.ShareUpdateKey(*key), value)


def tombstone(key: SharePartitionKey) -> StateRecord:
    """Encode the removal of a share-partition."""
    return _record(share_snapshot.ShareSnapshotKey(*key), None)


def restore_snapshot(value: share_snapshot.ShareSnapshotValue) -> ShareGroupOffset:
    """Return the state in a snapshot."""
    return ShareGroupOffset(
        snapshot_epoch=value.snapshot_epoch,
        state_epoch=value.state_epoch,
        leader_epoch=value.leader_epoch,
        start_offset=value.start_offset,
        delivery_complete_count=value.delivery_complete_count,
        state_batches=restore_batches(value.state_batches),
        create_timestamp_ms=value.create_timestamp,
        write_timestamp_ms=value.write_timestamp,
    )


def restore_batches(
    batches: Iterable[share_snapshot.StateBatch | share_update.StateBatch],
) -> tuple[StateBatch, ...]:
    """Return the state batches in a record."""
    return tuple(
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in batches
    )


def _record(key: msgspec.Struct, value: msgspec.Struct | None) -> StateRecord:
    encoded = None if value is None else share_group_state.encode_value(value, _VERSION)
    return StateRecord(share_group_state.encode_key(key), encoded)
