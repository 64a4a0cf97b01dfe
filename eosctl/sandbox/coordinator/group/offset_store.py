"""The offsets of a partition of `__consumer_offsets`: committed ones, and those of open transactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.wire.uuid import ZERO_UUID

NOT_APPENDED = -1
"""The `record_offset` of a commit that is being appended."""


class CommittedOffset(NamedTuple):
    """A committed offset; `record_offset` is the offset of its record in `__consumer_offsets`.

    `expire_timestamp_ms` is -1 unless the request (versions 2 to 4) set a retention.
    """

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int = -1
    expire_timestamp_ms: int = -1
    topic_id: bytes = ZERO_UUID
    record_offset: int = NOT_APPENDED


Offsets = dict[TopicPartition, CommittedOffset]
_NONE: Mapping[TopicPartition, CommittedOffset] = {}


class OffsetStore:
    """Committed and pending offsets by group.

    A transaction's offsets are pending under its producer id, regardless of the epoch, until a marker ends it. They are
    then committed if their record is newer than the committed one, or dropped. Pending offsets are not persisted;
    replaying the log rebuilds them.
    """

    def __init__(self) -> None:
        self._committed: dict[str, Offsets] = {}
        self._pending: dict[int, dict[str, Offsets]] = {}
        self._open_producers: dict[str, set[int]] = {}

    def group_ids(self) -> set[str]:
        """Return every group with a committed or pending offset."""
        return set(self._committed) | set(self._open_producers)

    def committed(self, group_id: str) -> Mapping[TopicPartition, CommittedOffset]:
        """Return the group's committed offsets."""
        return self._committed.get(group_id, _NONE)

    def pending(self, group_id: str) -> Iterator[tuple[int, TopicPartition, CommittedOffset]]:
        """Yield the group's pending offsets with the producer id of each."""
        for producer_id in self._open_producers.get(group_id, ()):
            for partition, value in self._pending[producer_id].get(group_id, _NONE).items():
                yield producer_id, partition, value

    def pending_partitions(self, group_id: str) -> set[TopicPartition]:
        """Return the partitions with a pending offset."""
        return {partition for _, partition, _ in self.pending(group_id)}

    def is_pending(self, group_id: str, partition: TopicPartition) -> bool:
        """Return whether an open transaction has written this offset, so that a stable fetch must wait (error 88)."""
        return any(
            partition in self._pending[producer_id].get(group_id, _NONE)
            for producer_id in self._open_producers.get(group_id, ())
        )

    def has_offsets(self, group_id: str) -> bool:
        """Return whether the group has a committed offset or an open transaction."""
        return group_id in self._committed or group_id in self._open_producers

    def commit(self, group_id: str, partition: TopicPartition, value: CommittedOffset) -> None:
        """Store a committed offset unless a newer record is stored."""
        offsets = self._committed.setdefault(group_id, {})
        known = offsets.get(partition)
        if known is None or value.record_offset > known.record_offset:
            offsets[partition] = value

    def put_pending(
        self, producer_id: int, group_id: str, partition: TopicPartition, value: CommittedOffset
    ) -> CommittedOffset | None:
        """Store an offset of an open transaction and return the replaced one."""
        offsets = self._pending.setdefault(producer_id, {}).setdefault(group_id, {})
        self._open_producers.setdefault(group_id, set()).add(producer_id)
        former = offsets.get(partition)
        offsets[partition] = value
        return former

    def get_pending(self, producer_id: int, group_id: str, partition: TopicPartition) -> CommittedOffset | None:
        """Return the pending offset of one producer."""
        return self._pending.get(producer_id, {}).get(group_id, _NONE).get(partition)

    def drop_pending(self, producer_id: int, group_id: str, partition: TopicPartition) -> None:
        """Drop a pending offset; the last one of a group also removes the producer from it."""
        offsets = self._pending.get(producer_id, {}).get(group_id)
        if offsets is None:
            return
        offsets.pop(partition, None)
        if not offsets:
            self._release(producer_id, group_id)

    def end_transaction(self, producer_id: int, committed: bool) -> list[tuple[str, TopicPartition]]:
        """Commit or drop the pending offsets of a producer, according to its marker.

        Returns:
            The pending offsets whose record was not appended before the marker (KAFKA-17507). They are dropped, as in
            Kafka, which throws an IllegalStateException at the first of them.
        """
        lost = []
        groups = self._pending.pop(producer_id, {})
        for group_id, offsets in groups.items():
            self._forget_producer(producer_id, group_id)
            if not committed:
                continue
            for partition, value in offsets.items():
                if value.record_offset == NOT_APPENDED:
                    lost.append((group_id, partition))
                else:
                    self.commit(group_id, partition, value)
        return lost

    def remove(self, group_id: str, partition: TopicPartition, *, pending_too: bool = True) -> CommittedOffset | None:
        """Remove a committed offset, optionally with the pending ones; return the committed one.

        A producer stays registered with the group until its marker, even without pending offsets.
        """
        for producer_id in self._open_producers.get(group_id, ()) if pending_too else ():
            self._pending[producer_id].get(group_id, {}).pop(partition, None)
        offsets = self._committed.get(group_id)
        if offsets is None:
            return None
        removed = offsets.pop(partition, None)
        if not offsets:
            del self._committed[group_id]
        return removed

    def _release(self, producer_id: int, group_id: str) -> None:
        groups = self._pending[producer_id]
        del groups[group_id]
        if not groups:
            del self._pending[producer_id]
        self._forget_producer(producer_id, group_id)

    def _forget_producer(self, producer_id: int, group_id: str) -> None:
        producers = self._open_producers.get(group_id)
        if producers is not None:
            producers.discard(producer_id)
            if not producers:
                del self._open_producers[group_id]
