"""What helps when disks do not hold what is stored: retention, tiering, compression, larger disks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eosctl.capacity.disk import active_bytes, tiered_local_bytes, tiered_remote_bytes
from eosctl.capacity.topic_plan import TRANSACTION_STATE, segment_bytes
from eosctl.model.capacity_plan import Advice, ResourceUse, TopicPlan
from eosctl.model.workload import Cleanup, Workload
from eosctl.text import bytes_text, milliseconds_text

#: Tiered storage (KIP-405) is ready for production from this release on.
TIERED_STORAGE_SINCE = (3, 9)
SHORTEST_RETENTION_MS = 3_600_000
#: What disks keep of tiered topics, where even the shortest retention is not enough.
LOCAL_RETENTION_MS = 86_400_000.0
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
    excess = stored * (1 - fitting)
    needed = disk.used_after_loss / (1 - workload.cluster.free_disk_share)
    shrunk = [*_shrink(workload, topics, excess)] or [*_tier_and_enlarge(workload, topics, needed)]
    ways = [*_keep_ids(workload, topics, excess), *shrunk]
    ways.append(_Way("disk of each broker", bytes_text(needed), "larger disks, free space included"))
    share = f"disk space is {disk.utilisation:.0%} of what is planned"
    for at, way in enumerate(ways, 1):
        yield Advice(way.setting, way.value, f"{share}; way {at} of {len(ways)}: {way.reason}", True)


def _shrink(workload: Workload, topics: Sequence[TopicPlan], excess: float) -> Iterator[_Way]:
    """Yield ways that shrink as few topics as possible, those that store most first."""
    found = [t for t in topics if not t.internal and workload.topic(t.name).cleanup is Cleanup.DELETE]
    by_size = sorted(found, key=lambda topic: -topic.stored_bytes)
    for change in (_shorten_retention, _tier, _compress):
        sets = (by_size[:count] for count in range(1, len(by_size) + 1))
        way = next(filter(None, (change(workload, tuple(chosen), topics, excess) for chosen in sets)), None)
        if way is not None:
            yield way


def _shorten_retention(
    workload: Workload, chosen: tuple[TopicPlan, ...], topics: Sequence[TopicPlan], excess: float
) -> _Way | None:
    """Shorten the retention of some topics by one factor; None if that is not enough."""
    kept = _kept_retention(workload, chosen, excess)
    if kept is None:
        return None
    stored = sum(topic.stored_bytes for topic in topics)
    used = bytes_text(sum(topic.stored_bytes for topic in chosen))
    longest = [milliseconds_text(workload.topic(topic.name).retention_ms) for topic in chosen]
    return _Way(
        f"retention.ms of {_names(chosen)}",
        ", ".join(str(int(ms)) for ms in kept),
        f"{'it stores' if len(chosen) == 1 else 'they store'} {used} of {bytes_text(stored)}; "
        f"{', '.join(map(milliseconds_text, kept))} instead of {', '.join(longest)} fit",
    )


def _tier(workload: Workload, chosen: tuple[TopicPlan, ...], topics: Sequence[TopicPlan], excess: float) -> _Way | None:
    """Move what some topics retain to remote storage; None if that is not enough."""
    if workload.cluster.release < TIERED_STORAGE_SINCE:
        return None
    # Local disks also keep the segment that is being copied.
    kept = _kept_retention(workload, chosen, excess + sum(_active(workload, topic) for topic in chosen))
    if kept is None:
        return None
    remote = sum(tiered_remote_bytes(topic.written, workload.topic(topic.name).retention_ms) for topic in chosen)
    whose = "its retention stays" if len(chosen) == 1 else "their retention stays"
    return _Way(
        f"local.retention.ms of {_names(chosen)}",
        ", ".join(str(int(ms)) for ms in kept),
        f"with remote.storage.enable=true {whose}, and {bytes_text(remote)} are in remote storage",
    )


def _tier_and_enlarge(workload: Workload, topics: Sequence[TopicPlan], disk_bytes: float) -> Iterator[_Way]:
    """Yield tiered storage with smaller disks than without it, where it is not enough by itself.

    Args:
        workload: The workload.
        topics: What each topic stores.
        disk_bytes: The disk that each broker needs without it.
    """
    if workload.cluster.release < TIERED_STORAGE_SINCE:
        return
    saved = {
        topic: topic.stored_bytes - kept for topic in topics if (kept := _local_bytes(workload, topic)) is not None
    }
    chosen = sorted((topic for topic, less in saved.items() if less > 0), key=lambda topic: -saved[topic])
    if not chosen:
        return
    share = 1 - sum(saved[topic] for topic in chosen) / sum(topic.stored_bytes for topic in topics)
    remote = sum(tiered_remote_bytes(topic.written, workload.topic(topic.name).retention_ms) for topic in chosen)
    yield _Way(
        f"local.retention.ms of {_names(chosen)}, disk of each broker",
        ", ".join([*(str(int(LOCAL_RETENTION_MS)) for _ in chosen), bytes_text(disk_bytes * share)]),
        f"with remote.storage.enable=true a day stays on the disks, and {bytes_text(remote)} are in remote storage; "
        "without larger disks no retention is short enough",
    )


def _local_bytes(workload: Workload, topic: TopicPlan) -> float | None:
    """Return what a topic keeps on disks with a day of local retention; None for what cannot be tiered, or is."""
    if topic.internal:
        return None
    spec, segment = workload.topic(topic.name), segment_bytes(workload, workload.topic(topic.name))
    if spec.cleanup is not Cleanup.DELETE or spec.local_retention_ms is not None:
        return None
    copies = workload.cluster.replication_factor
    return tiered_local_bytes(topic.written, LOCAL_RETENTION_MS, spec.partition_count, segment, copies)


def _compress(
    workload: Workload, chosen: tuple[TopicPlan, ...], topics: Sequence[TopicPlan], excess: float
) -> _Way | None:
    """Compress some topics; None if the ratio that is enough is not likely."""
    stored = sum(topic.stored_bytes for topic in chosen)
    is_compressed = any(workload.topic(topic.name).compression_ratio != 1 for topic in chosen)
    if is_compressed or stored > LIKELY_RATIO * (stored - excess):
        return None
    return _Way(
        f"compression.type of the producers of {_names(chosen)}",
        "zstd",
        f"a ratio of {stored / (stored - excess):.1f} is enough; measure it with your records",
    )


def _kept_retention(workload: Workload, chosen: tuple[TopicPlan, ...], excess: float) -> tuple[float, ...] | None:
    """Return the retention of each topic with which they store so much less; None if it cannot be shortened so far."""
    specs = [workload.topic(topic.name) for topic in chosen]
    retained = sum(topic.stored_bytes - _active(workload, topic) for topic in chosen)
    if retained <= 0 or any(spec.local_retention_ms is not None for spec in specs):
        return None
    kept = tuple(spec.retention_ms * (1 - excess / retained) for spec in specs)
    return kept if min(kept) >= SHORTEST_RETENTION_MS else None


def _active(workload: Workload, topic: TopicPlan) -> float:
    spec = workload.topic(topic.name)
    one_copy = active_bytes(topic.written, spec.partition_count, segment_bytes(workload, spec))
    return one_copy * workload.cluster.replication_factor


def _names(chosen: Sequence[TopicPlan]) -> str:
    return ", ".join(topic.name for topic in chosen)


def _keep_ids(workload: Workload, topics: Sequence[TopicPlan], excess: float) -> Iterator[_Way]:
    """Keep transactional ids where the records of renewed ones are what fills the disks."""
    log = next((topic for topic in topics if topic.name == TRANSACTION_STATE), None)
    renewing = [application.name for application in workload.applications if application.renews_ids]
    if log is not None and renewing and log.stored_bytes >= excess:
        yield _Way(
            f"transactional ids of {', '.join(renewing)}",
            "fixed",
            f"{TRANSACTION_STATE} stores {bytes_text(log.stored_bytes)}, a record for each id until it expires; see "
            "what is recommended for the heap",
        )
