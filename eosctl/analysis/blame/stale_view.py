"""A group's offset that goes back at a takeover, because the new producer read an outdated offset.

KAFKA-17507: the classic group coordinator (before 3.9.1 and 4.0) may report a transaction as complete before its
offsets can be fetched. The next owner of the partition then starts from the previous offset and processes records
twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from eosctl.model.group_commit import GroupCommit
from eosctl.model.verdict import Evidence
from eosctl.text import time_text

# A takeover reads the offset within a rebalance; a later one reads the correct offset.
WITHIN_MS = 300_000


class Regression(msgspec.Struct, frozen=True):
    """Two committed offsets of a group on a partition, the later one lower than the earlier one."""

    before: GroupCommit
    after: GroupCommit

    @property
    def explanation(self) -> str:
        """Return a description in one or two sentences."""
        before, after = self.before, self.after
        later_ms = after.written_at_ms - before.written_at_ms
        return (
            f"Group {before.group_id} had committed offset {before.offset} of {before.partition} (producer id "
            f"{before.producer_id}, epoch {before.producer_epoch}); {later_ms} ms later "
            f"producer id {after.producer_id}, epoch {after.producer_epoch} committed {after.offset}: it had started "
            "from an offset before that commit, so records were processed twice."
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return the evidence: both records."""
        return tuple(
            Evidence(
                f"offset {commit.offset}",
                f"producer id {commit.producer_id}, epoch {commit.producer_epoch}, {time_text(commit.written_at_ms)}",
                f"__consumer_offsets-{commit.log_partition} offset {commit.log_offset}",
            )
            for commit in (self.before, self.after)
        )


def find_regressions(commits: Iterable[GroupCommit], producer_ids: Iterable[int]) -> Iterator[Regression]:
    """Find offsets that decreased when the producer changed, for the given producers.

    Args:
        commits: Committed offsets in any order, without those of aborted transactions.
        producer_ids: The producer ids of the transactional id.
    """
    wanted = frozenset(producer_ids)
    by_place: dict[tuple[str, str, int], list[GroupCommit]] = {}
    for commit in sorted(commits, key=lambda c: (c.log_partition, c.log_offset)):
        by_place.setdefault((commit.group_id, *commit.partition), []).append(commit)
    for history in by_place.values():
        for before, after in pairwise(history):
            changed = (before.producer_id, before.producer_epoch) != (after.producer_id, after.producer_epoch)
            soon = after.written_at_ms - before.written_at_ms <= WITHIN_MS
            if changed and soon and after.offset < before.offset and wanted & {before.producer_id, after.producer_id}:
                yield Regression(before, after)
