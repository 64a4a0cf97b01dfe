"""Retention of segments by log start offset, size, and age (Kafka's `UnifiedLog.deleteOldSegments`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.log.topic_settings import TopicSettings


class SegmentFacts(NamedTuple):
    """A segment's data for retention; `end_offset` is the base offset of the next one, or the log end offset."""

    base_offset: int
    end_offset: int
    size_bytes: int
    largest_timestamp: int


def segment_facts(log: PartitionLog) -> list[SegmentFacts]:
    """Return the data of every segment for retention, oldest first."""
    segments = log.store.segments
    ends = [*(segment.base_offset for segment in segments[1:]), log.end_offset]
    return [
        SegmentFacts(segment.base_offset, end, segment.size_bytes, segment.largest_timestamp)
        for segment, end in zip(segments, ends, strict=False)
    ]


def count_deletable(
    segments: Sequence[SegmentFacts],
    *,
    log_start_offset: int,
    high_watermark: int,
    settings: TopicSettings,
    now_ms: int,
) -> int:
    """Return the number of oldest segments to delete.

    Segments with records at or above the high watermark and an active segment without records are kept. As in Kafka, an
    open transaction does not protect a segment. For topics without `delete` in their `cleanup.policy`, only segments
    below the log start offset are deleted.

    Args:
        segments: All segments, oldest first, the active one last.
        log_start_offset: First offset that may be read.
        high_watermark: Everything below is replicated.
        settings: `retention.bytes`, `retention.ms`, and the policy.
        now_ms: Now, in milliseconds since the epoch.
    """
    count = _count_while(segments, high_watermark, lambda found: found.end_offset <= log_start_offset, keep_active=True)
    if not settings.is_deleted:
        return count
    if settings.retention_bytes >= 0:
        excess_bytes = sum(found.size_bytes for found in segments[count:]) - settings.retention_bytes

        def is_excess(found: SegmentFacts) -> bool:
            nonlocal excess_bytes
            excess_bytes -= found.size_bytes
            return excess_bytes >= 0

        if excess_bytes >= 0:
            count += _count_while(segments[count:], high_watermark, is_excess)
    if settings.retention_ms >= 0:
        count += _count_while(
            segments[count:], high_watermark, lambda found: now_ms - found.largest_timestamp > settings.retention_ms
        )
    return count


def _count_while(
    segments: Sequence[SegmentFacts],
    high_watermark: int,
    is_deletable: Callable[[SegmentFacts], bool],
    *,
    keep_active: bool = False,
) -> int:
    for count, found in enumerate(segments):
        is_active = count == len(segments) - 1
        if is_active and (keep_active or not found.size_bytes):
            return count
        if high_watermark < found.end_offset or not is_deletable(found):
            return count
    return len(segments)
