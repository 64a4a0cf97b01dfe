"""Ids in an internal topic against their hash: whether one number of partitions explains where all of them lie."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from eosctl.analysis.fsck.notes import ERROR
from eosctl.model.fsck import FsckFinding
from eosctl.wire.internal.partitioner import partition_for

#: Partitions that a coordinator's topic may have; 50 is the default, and few clusters have more than some hundred.
_MOST_PARTITIONS: Final = 4096
_NAMED: Final = 3
#: Ids and numbers that are tried when none fits all: enough to name the likely one.
_SAMPLE: Final = 500
_TRIED: Final = 256


def judge_placement(topic: str, ids: Collection[tuple[str, int]], directory: str) -> list[FsckFinding]:
    """Report ids that no number of partitions maps to the partitions that hold them.

    Coordinators look for an id where its hash modulo the number of partitions points. The number itself is not in the
    files, and some of the partitions may be elsewhere; but the right number fits all ids at once.

    Args:
        topic: The internal topic.
        ids: Transactional or group ids, with the partition that holds them.
        directory: The data directory.
    """
    if not ids:
        return []
    least = 1 + max(partition for _, partition in ids)
    counts = range(least, max(least, _MOST_PARTITIONS) + 1)
    placed = sorted(ids)
    if any(all(partition_for(name, count) == at for name, at in placed) for count in counts):
        return []
    sample = placed[:_SAMPLE]
    likely = max(counts[:_TRIED], key=lambda count: sum(partition_for(name, count) == at for name, at in sample))
    astray = [(name, at) for name, at in placed if partition_for(name, likely) != at]
    named = ", ".join(f"{name} in {at} instead of {partition_for(name, likely)}" for name, at in astray[:_NAMED])
    more = f" and {len(astray) - _NAMED} more" if len(astray) > _NAMED else ""
    what = f"no number of partitions explains where the {len(placed)} ids of {topic} lie. With {likely}, which fits "
    what += f"best, {len(astray)} are astray: {named}{more}"
    return [FsckFinding("internal-topic-repartitioned", ERROR, what, directory, partition=f"{topic}-{astray[0][1]}")]
