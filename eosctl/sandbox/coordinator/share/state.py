"""The durable state of a share-partition (`ShareGroupOffset`), and how state batches combine."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eosctl.wire.uuid import parse_uuid, render_uuid

NO_OFFSET = -1
"""A start offset that is not known yet; the share-partition leader resets it (`share.auto.offset.reset`)."""
NO_EPOCH = -1
NO_COUNT = -1


class SharePartitionKey(NamedTuple):
    """A share-partition: a group's view of a partition. `topic_id` is 16 bytes."""

    group_id: str
    topic_id: bytes
    partition: int

    def __str__(self) -> str:
        """Return the key as it selects a partition of `__share_group_state`."""
        return f"{self.group_id}:{render_uuid(self.topic_id)}:{self.partition}"


def parse_key(text: str) -> SharePartitionKey | None:
    """Read a key as clients of FindCoordinator send it; a group may contain colons. None for anything else."""
    group_id, _, rest = text.rpartition(":")
    group_id, _, topic = group_id.rpartition(":")
    if not group_id.strip() or not rest.isascii() or not rest.lstrip("+-").isdigit():
        return None
    try:
        topic_id = parse_uuid(topic)
    except ValueError:
        return None
    return SharePartitionKey(group_id, topic_id, int(rest))


class StateBatch(NamedTuple):
    """Consecutive offsets in one delivery state (`RecordState`); both offsets are included."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


class ShareGroupOffset(NamedTuple):
    """The state of a share-partition.

    `delivery_complete_count` is the number of delivered offsets from `start_offset` on, -1 if unknown. Timestamps are
    in milliseconds since the epoch; they differ once a snapshot of unchanged state was written.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: tuple[StateBatch, ...] = ()
    create_timestamp_ms: int = 0
    write_timestamp_ms: int = 0

    def updated(
        self, start_offset: int, delivery_complete_count: int, leader_epoch: int, batches: Iterable[StateBatch]
    ) -> ShareGroupOffset:
        """Return the state after an update; a start offset or leader epoch of -1 keeps the present one."""
        start = self.start_offset if start_offset == NO_OFFSET else start_offset
        return self._replace(
            start_offset=start,
            delivery_complete_count=delivery_complete_count,
            leader_epoch=self.leader_epoch if leader_epoch == NO_EPOCH else leader_epoch,
            state_batches=combine_batches((*self.state_batches, *batches), start),
        )


def combine_batches(batches: Sequence[StateBatch], start_offset: int) -> tuple[StateBatch, ...]:
    """Return sorted batches that do not overlap (`PersisterStateBatchCombiner`).

    Where batches overlap, the higher delivery count is the later state, and for the same count the higher state.
    Offsets before `start_offset` are dropped, unless it is -1.
    """
    rest = sorted(
        batch._replace(first_offset=max(batch.first_offset, start_offset))
        for batch in batches
        if batch.last_offset >= start_offset
    )
    combined: list[StateBatch] = []
    open_batches: list[tuple[int, int, int]] = []  # (-count, -state, last offset): the winner first.
    position, next_index = 0, 0
    while next_index < len(rest) or open_batches:
        if not open_batches:
            position = rest[next_index].first_offset
        while next_index < len(rest) and rest[next_index].first_offset <= position:
            batch = rest[next_index]
            heapq.heappush(open_batches, (-batch.delivery_count, -batch.delivery_state, batch.last_offset))
            next_index += 1
        while open_batches and open_batches[0][2] < position:
            heapq.heappop(open_batches)
        if not open_batches:
            continue
        count, state, last = open_batches[0]
        if next_index < len(rest):
            last = min(last, rest[next_index].first_offset - 1)
        _append(combined, StateBatch(position, last, -state, -count))
        position = last + 1
    return tuple(combined)


def _append(combined: list[StateBatch], batch: StateBatch) -> None:
    if combined:
        before = combined[-1]
        if before.last_offset + 1 == batch.first_offset and before[2:] == batch[2:]:
            combined[-1] = before._replace(last_offset=batch.last_offset)
            return
    combined.append(batch)
