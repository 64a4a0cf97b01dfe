"""The holder of the last stable offset: the oldest open transaction of a partition."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from eosctl.model.hang import HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition


class StableOffsetGap(msgspec.Struct, frozen=True):
    """A partition with a last stable offset below its high watermark.

    `holder` is the verdict on the transaction that holds it; None if none was seen, because its marker waits for
    replication, its leader did not list it, or it ended between two queries.
    """

    partition: TopicPartition
    leader_id: int | None
    last_stable_offset: int
    high_watermark: int
    holder: HangVerdict | None

    @property
    def offsets(self) -> int:
        """Return the number of offsets that read_committed consumers cannot see."""
        return self.high_watermark - self.last_stable_offset


def find_stable_offset_gaps(snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict]) -> tuple[StableOffsetGap, ...]:
    """Return every partition with a lagging LSO, the largest gap first.

    Args:
        snapshot: The snapshot, with offsets of both isolation levels.
        verdicts: From `classify_open_transactions` of the same snapshot.
    """
    oldest: dict[TopicPartition, HangVerdict] = {}
    for verdict in verdicts:
        where = verdict.transaction.partition
        if where not in oldest or verdict.transaction.first_offset < oldest[where].transaction.first_offset:
            oldest[where] = verdict
    gaps = [
        StableOffsetGap(
            info.partition, info.leader_id, info.last_stable_offset, info.high_watermark, oldest.get(info.partition)
        )
        for topic in snapshot.topics
        for info in topic.partitions
        if info.last_stable_offset is not None
        and info.high_watermark is not None
        and info.last_stable_offset < info.high_watermark
    ]
    return tuple(sorted(gaps, key=lambda gap: (-gap.offsets, gap.partition)))
