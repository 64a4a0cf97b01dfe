"""Who holds the last stable offset: the oldest transaction that is still open on the partition."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from eosctl.model.hang import HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition


class StableOffsetGap(msgspec.Struct, frozen=True):
    """A partition whose last stable offset lies behind its high watermark.

    `holder` is the verdict on the transaction that holds it; None when no open transaction was seen there, because its
    marker waits for replication, its leader did not name it, or it ended between two questions.
    """

    partition: TopicPartition
    leader_id: int | None
    last_stable_offset: int
    high_watermark: int
    holder: HangVerdict | None

    @property
    def offsets(self) -> int:
        """Return how many offsets a read_committed reader cannot see."""
        return self.high_watermark - self.last_stable_offset


def find_stable_offset_gaps(snapshot: ClusterSnapshot, verdicts: Sequence[HangVerdict]) -> tuple[StableOffsetGap, ...]:
    """Return every partition whose LSO lies behind, the widest gap first.

    Args:
        snapshot: With offsets under both isolation levels.
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
