"""The impact of an open transaction: consumers, groups, compaction, and offset commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.analysis.locate import coordinator_partition
from eosctl.model.hang import BlastRadius, GroupImpact, OpenTransaction
from eosctl.model.snapshot import ClusterSnapshot, CommittedOffset, Group, PendingOffset, Topic
from eosctl.model.transaction import TopicPartition


class BlastRadiusFinder:
    """Computes the impact of transactions in a snapshot, with indexes of groups and oldest transactions."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._snapshot = snapshot
        self._partitions = snapshot.partitions_by_name
        self._committed = _committed_by_partition(snapshot)
        self._hidden = {hidden.partition: hidden for hidden in snapshot.hidden_ranges}
        self._oldest = {
            where.partition: min(
                (p.current_txn_start_offset for p in where.producers if p.current_txn_start_offset is not None),
                default=None,
            )
            for where in snapshot.producers
        }
        self._groups: dict[TopicPartition, tuple[GroupImpact, ...]] = {}
        self._compacted = {topic.name: _is_compacted(topic) for topic in snapshot.topics}
        self._unexplained: dict[TopicPartition, tuple[GroupImpact, ...]] = {}
        self._pending: dict[tuple[int, int], list[PendingOffset]] = defaultdict(list)
        for one in snapshot.pending_offsets:
            self._pending[one.log_partition, one.producer_id].append(one)

    def of(self, transaction: OpenTransaction) -> BlastRadius:
        """Return the impact of a transaction."""
        partition = transaction.partition
        high_watermark, last_stable_offset = self._ends_of(partition)
        oldest = self._oldest.get(partition)
        return BlastRadius(
            partition=partition,
            last_stable_offset=last_stable_offset,
            high_watermark=high_watermark,
            invisible_offsets=None if high_watermark is None else max(0, high_watermark - transaction.first_offset),
            invisible_records=self._records_from(partition, transaction.first_offset),
            pins_last_stable_offset=oldest is None or transaction.first_offset <= oldest,
            blocks_compaction=self._compacted.get(partition.topic, partition.topic == CONSUMER_OFFSETS_TOPIC),
            blocks_offset_commits=partition.topic == CONSUMER_OFFSETS_TOPIC,
            groups=self._groups_of(partition, transaction.producer_id),
        )

    def _groups_of(self, partition: TopicPartition, producer_id: int) -> tuple[GroupImpact, ...]:
        """Return the blocked groups: the readers of a partition, or those with pending offsets of the producer."""
        if partition.topic == CONSUMER_OFFSETS_TOPIC:
            return self._pending_groups(partition, producer_id)
        if partition not in self._groups:
            self._groups[partition] = self._readers(partition)
        return self._groups[partition]

    def _records_from(self, partition: TopicPartition, first_offset: int) -> int | None:
        """Return the records counted from the LSO, which belong to this transaction only if it holds the LSO."""
        hidden = self._hidden.get(partition)
        return hidden.record_count if hidden is not None and hidden.first_offset == first_offset else None

    def _ends_of(self, partition: TopicPartition) -> tuple[int | None, int | None]:
        """Return the high watermark and the last stable offset.

        Printed evidence may lack both: a group's lag is printed with the end of the log, and the oldest open
        transaction holds the last stable offset.
        """
        info = self._partitions.get(partition)
        high_watermark = None if info is None else info.high_watermark
        last_stable_offset = None if info is None else info.last_stable_offset
        if high_watermark is None:
            printed = (one.log_end_offset for _, one in self._committed.get(partition, ()))
            high_watermark = max((end for end in printed if end is not None), default=None)
        return high_watermark, self._oldest.get(partition) if last_stable_offset is None else last_stable_offset

    def _readers(self, partition: TopicPartition) -> tuple[GroupImpact, ...]:
        """Return the groups that read this partition and have not passed the LSO.

        Only read_uncommitted consumers read beyond it.
        """
        high_watermark, last_stable_offset = self._ends_of(partition)
        if high_watermark is None or last_stable_offset is None or last_stable_offset >= high_watermark:
            return ()
        return tuple(
            GroupImpact(
                group.group_id, partition, committed.offset, high_watermark - max(committed.offset, last_stable_offset)
            )
            for group, committed in self._committed.get(partition, ())
            if committed.offset is not None and committed.offset <= last_stable_offset
        )

    def _pending_groups(self, offsets_partition: TopicPartition, producer_id: int) -> tuple[GroupImpact, ...]:
        """Return the groups of this partition of `__consumer_offsets` with pending offsets of a producer.

        The partition's log names producer and group. Where it was not read, the groups with unstable offsets remain,
        which belong to any of the partition's open transactions.
        """
        if offsets_partition not in self._unexplained:
            self._unexplained[offsets_partition] = tuple(self._unexplained_groups(offsets_partition))
        found = (
            GroupImpact(one.group_id, one.partition, self._position(one), 0)
            for one in self._pending.get((offsets_partition.partition, producer_id), ())
        )
        return (*found, *self._unexplained[offsets_partition])

    def _unexplained_groups(self, offsets_partition: TopicPartition) -> Iterator[GroupImpact]:
        """Yield the groups with unstable offsets that no pending offset of their partition's log names."""
        topic = self._snapshot.topic(CONSUMER_OFFSETS_TOPIC)
        if topic is None or not topic.partitions:
            return
        logged = {
            (one.group_id, one.partition)
            for one in self._snapshot.pending_offsets
            if one.log_partition == offsets_partition.partition
        }
        for group in self._snapshot.groups:
            unstable = [one for one in group.offsets if one.unstable and (group.group_id, one.partition) not in logged]
            if not unstable:
                continue
            if coordinator_partition(topic.name, group.group_id, len(topic.partitions)) == offsets_partition:
                yield from (GroupImpact(group.group_id, one.partition, one.offset or 0, 0) for one in unstable)

    def _position(self, pending: PendingOffset) -> int:
        """Return the group's committed offset, from which it reads after an abort; 0 without one."""
        committed = self._committed.get(pending.partition, ())
        return next((one.offset or 0 for group, one in committed if group.group_id == pending.group_id), 0)


def _is_compacted(topic: Topic) -> bool:
    policy = topic.setting("cleanup.policy")
    if policy is None or policy.value is None:
        return topic.internal
    return "compact" in policy.value


def _committed_by_partition(snapshot: ClusterSnapshot) -> dict[TopicPartition, list[tuple[Group, CommittedOffset]]]:
    found: dict[TopicPartition, list[tuple[Group, CommittedOffset]]] = defaultdict(list)
    for group in snapshot.groups:
        for committed in group.offsets:
            found[committed.partition].append((group, committed))
    return found
