"""What helps when disks do not hold what is stored: retention, tiering, compression, larger disks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eosctl.capacity.disk import active_bytes, tiered_remote_bytes
from eosctl.capacity.topic_plan import segment_bytes
from eosctl.model.capacity_plan import Advice, ResourceUse, TopicPlan
from eosctl.model.workload import Cleanup, Workload
from eosctl.text import bytes_text, milliseconds_text

#: Tiered storage (KIP-405) is ready for production from this release on.
TIERED_STORAGE_SINCE = (3, 9)
SHORTEST_RETENTION_MS = 3_600_000
#: Structured records shrink to a quarter at best.
LIKELY_RATIO = 4.0


class _Way(NamedTuple):
    """A change that is enough by itself."""

    setting: str
    value: str
    reason: str


def relieve_disks(workload: Workload, topics: Sequence[TopicPlan], disk: ResourceUse) -> Iterator[Advice]:
    """Recommend remedies for a full disk, the cheapest first; each is enough by itself.

    Args:
        workload: The workload.
        topics: What each topic stores.
        disk: The use of disk space, above its planned limit.
    """
    fitting = (disk.planned or 0.0) / disk.used_after_loss
    stored = sum(topic.stored_bytes for topic in topics)
    ways = [*_shrink(workload, topics, stored, stored * (1 - fitting))]
    needed = disk.used_after_loss / (1 - workload.cluster.free_disk_share)
    ways.append(_Way("disk of each broker", bytes_text(needed), "larger disks, free space included"))
    share = f"disk space is {disk.utilisation:.0%} of what is planned"
    for at, way in enumerate(ways, 1):
        yield Advice(way.setting, way.value, f"{share}; way {at} of {len(ways)}: {way.reason}", True)


def _shrink(workload: Workload, topics: Sequence[TopicPlan], stored: float, excess: float) -> Iterator[_Way]:
    """Shrink the topic that stores most, if that is enough."""
    found = [t for t in topics if not t.internal and workload.topic(t.name).cleanup is Cleanup.DELETE]
    largest = max(found, key=lambda topic: topic.stored_bytes, default=None)
    if largest is None or excess >= largest.stored_bytes:
        return
    topic = workload.topic(largest.name)
    kept = 1 - excess / largest.stored_bytes
    cluster = workload.cluster
    active = active_bytes(largest.written, topic.partition_count, segment_bytes(workload, topic))
    retained = largest.stored_bytes - active * cluster.replication_factor

    def shorten(more: float = 0.0) -> float:
        return topic.retention_ms * (1 - (excess + more) / retained) if retained > 0 else 0.0

    retention_ms = shorten()
    if topic.local_retention_ms is None and retention_ms >= SHORTEST_RETENTION_MS:
        yield _Way(
            f"retention.ms of {topic.name}",
            str(int(retention_ms)),
            f"it stores {bytes_text(largest.stored_bytes)} of {bytes_text(stored)}; "
            f"{milliseconds_text(retention_ms)} instead of {milliseconds_text(topic.retention_ms)} fit",
        )
        # Local disks also keep the segment that is being copied.
        local_ms = shorten(active * cluster.replication_factor)
        if cluster.release >= TIERED_STORAGE_SINCE and local_ms >= SHORTEST_RETENTION_MS:
            remote = bytes_text(tiered_remote_bytes(largest.written, topic.retention_ms))
            yield _Way(
                f"local.retention.ms of {topic.name}",
                str(int(local_ms)),
                f"with remote.storage.enable=true its retention stays, and {remote} are in remote storage",
            )
    if topic.compression_ratio == 1 and 1 / kept <= LIKELY_RATIO:
        yield _Way(
            f"compression.type of the producers of {topic.name}",
            "zstd",
            f"a ratio of {1 / kept:.1f} is enough; measure it with your records",
        )
