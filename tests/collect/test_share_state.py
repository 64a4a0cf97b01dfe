"""Delivered records of share groups, from the records of `__share_group_state`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eosctl.collect.share_state import Ranges, SharePartitionKey, merge_records, overlay
from eosctl.model.group_details import DeliveredRange, DeliveryState
from eosctl.wire.internal.versioned import share_group_state
from eosctl.wire.messages.internal.share_group_state import share_snapshot, share_update
from eosctl.wire.records.record import Record
from eosctl.wire.uuid import ZERO_UUID, render_uuid

AVAILABLE, ARCHIVED = DeliveryState.AVAILABLE, DeliveryState.ARCHIVED
KEY = SharePartitionKey("workers", render_uuid(ZERO_UUID), 0)

ranges = st.builds(
    lambda first, length, state, count, at_ms: DeliveredRange(first, first + length, state, count, at_ms),
    st.integers(0, 20),
    st.integers(0, 8),
    st.sampled_from([AVAILABLE, ARCHIVED]),
    st.integers(1, 5),
    st.integers(0, 9),
)


def by_offset(found: list[DeliveredRange]) -> dict[int, tuple[int, int]]:
    return {
        offset: (one.state, one.delivery_count)
        for one in found
        for offset in range(one.first_offset, one.last_offset + 1)
    }


@given(st.lists(ranges, max_size=12))
def test_the_newest_range_of_each_offset_counts(written: list[DeliveredRange]) -> None:
    found: list[DeliveredRange] = []
    expected: dict[int, tuple[int, int]] = {}
    for one in written:
        found = overlay(found, one)
        expected |= by_offset([one])
    assert by_offset(found) == expected
    assert sum(one.last_offset - one.first_offset + 1 for one in found) == len(expected)
    assert [one.first_offset for one in found] == sorted(one.first_offset for one in found)


def test_a_repeated_state_keeps_its_first_time() -> None:
    first = DeliveredRange(3, 4, AVAILABLE, 2, written_at_ms=100)
    assert overlay([first], DeliveredRange(3, 4, AVAILABLE, 2, written_at_ms=900)) == [first]


def state_record(offset: int, at_ms: int, value: share_snapshot.ShareSnapshotValue | None, *, update: bool) -> Record:
    key = share_update.ShareUpdateKey(*_PLACE) if update else share_snapshot.ShareSnapshotKey(*_PLACE)
    written: share_snapshot.ShareSnapshotValue | share_update.ShareUpdateValue | None = value
    if update and value is not None:
        batches = [share_update.StateBatch(*_of(batch)) for batch in value.state_batches]
        written = share_update.ShareUpdateValue(start_offset=value.start_offset, state_batches=batches)
    encoded = None if written is None else share_group_state.encode_value(written, 0)
    return Record(offset, at_ms, share_group_state.encode_key(key), encoded)


_PLACE = ("workers", ZERO_UUID, 0)


def _of(batch: share_snapshot.StateBatch) -> tuple[int, int, int, int]:
    return batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count


def snapshot(*batches: tuple[int, int, int, int]) -> share_snapshot.ShareSnapshotValue:
    return share_snapshot.ShareSnapshotValue(state_batches=[share_snapshot.StateBatch(*batch) for batch in batches])


def test_what_was_archived_stays_after_a_snapshot() -> None:
    found: Ranges = {}
    merge_records(
        found,
        [
            state_record(0, 100, snapshot((0, 0, ARCHIVED, 5)), update=True),
            state_record(1, 200, snapshot((1, 4, AVAILABLE, 1)), update=False),
        ],
    )
    assert found == {KEY: [DeliveredRange(0, 0, ARCHIVED, 5, 100), DeliveredRange(1, 4, AVAILABLE, 1, 200)]}


def test_a_deleted_share_partition_has_no_ranges() -> None:
    found: Ranges = {}
    records = [state_record(0, 1, snapshot((0, 0, ARCHIVED, 5)), update=False), state_record(1, 2, None, update=False)]
    merge_records(found, records)
    assert found == {}


def test_record_types_of_newer_releases_are_skipped() -> None:
    found: Ranges = {}
    merge_records(found, [Record(0, 1, b"\x00\x63newer", b"\x00\x00")])
    assert found == {}
