"""The partition of an internal topic for a key.

Both coordinators hash the transactional id or group id as Java does and take the remainder (`Utils.abs(id.hashCode()) %
partitionCount`). The state of share groups has the key `group:topicId:partition`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_REMEMBERED: Final = 1 << 14
"""Ids whose partition is kept: a coordinator is asked for the same ones with every transaction."""


def java_hash_code(text: str) -> int:
    """Compute `String.hashCode` of Java: over UTF-16 units, wrapped to 32 bits with sign."""
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return value - 0x100000000 if value & 0x80000000 else value


@lru_cache(maxsize=_REMEMBERED)
def partition_for(key: str, partition_count: int) -> int:
    """Return the partition of a coordinator's topic.

    Args:
        key: Transactional id, group id, or share-partition key.
        partition_count: Number of partitions of the topic.

    Returns:
        The partition. Java's smallest integer, which has no absolute value, counts as 0.
    """
    code = java_hash_code(key)
    return 0 if code == -0x80000000 else abs(code) % partition_count
