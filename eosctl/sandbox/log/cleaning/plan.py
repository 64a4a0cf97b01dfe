"""The cleanable range of a log, whether to clean it, and its groups of segments (`LogCleanerManager`, `Cleaner`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.storage.segment import MAX_RELATIVE_OFFSET, Segment
from eosctl.storage.time_index import NO_TIMESTAMP
from eosctl.wire.records.batch import decode_header
from eosctl.wire.records.header import HEADER_BYTES

_BASE_OFFSET: Final = attrgetter("base_offset")


class CleaningPlan(NamedTuple):
    """The dirty part of a log and its size.

    Attributes:
        first_dirty_offset: Everything below was cleaned before.
        first_uncleanable_offset: Base offset of the first segment that must not be cleaned yet.
        clean_bytes: Size of the segments below the dirty part.
        cleanable_bytes: Size of the cleanable dirty segments.
        is_overdue: Whether `max.compaction.lag.ms` has elapsed for the oldest dirty segment.
    """

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool

    @property
    def cleanable_ratio(self) -> float:
        """Return the share of dirty bytes, to compare with `min.cleanable.dirty.ratio`."""
        total_bytes = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total_bytes if total_bytes else 0.0

    def needs_cleaning(self, min_cleanable_ratio: float) -> bool:
        """Return whether the log should be cleaned now."""
        return (self.is_overdue and self.cleanable_bytes > 0) or self.cleanable_ratio > min_cleanable_ratio


def plan_cleaning(log: PartitionLog, now_ms: int) -> CleaningPlan | None:
    """Return the cleanable range of a log; None for an empty log.

    Excludes the active segment, everything from the last stable offset on, and segments younger than
    `min.compaction.lag.ms`.
    """
    segments = log.store.segments
    if not segments:
        return None
    start, settings = log.start_offset, log.settings
    first_dirty = log.cleaned_until if start <= log.cleaned_until <= log.end_offset else start
    dirty = _closed_from(segments, first_dirty)
    bounds = [log.last_stable_offset(), segments[-1].base_offset]
    if settings.min_compaction_lag_ms > 0:
        youngest_ms = now_ms - settings.min_compaction_lag_ms
        bounds += [found.base_offset for found in dirty if found.largest_timestamp > youngest_ms][:1]
    uncleanable = _closed_from(segments, max(first_dirty, min(bounds)))
    first_uncleanable = uncleanable[0].base_offset if uncleanable else segments[-1].base_offset
    compacted_until_ms = now_ms - settings.max_compaction_lag_ms
    return CleaningPlan(
        first_dirty,
        first_uncleanable,
        sum(found.size_bytes for found in segments if found.base_offset < first_dirty),
        sum(found.size_bytes for found in dirty if found.base_offset < first_uncleanable),
        compacted_until_ms > 0 and any(0 < _first_timestamp(found) < compacted_until_ms for found in dirty),
    )


def _closed_from(segments: Sequence[Segment], offset: int) -> Sequence[Segment]:
    """Return the closed segments from the one that contains an offset on; empty if that is the active one."""
    if offset >= segments[-1].base_offset:
        return ()
    return segments[max(bisect_right(segments, offset, key=_BASE_OFFSET) - 1, 0) : -1]


def _first_timestamp(segment: Segment) -> int:
    """Return the timestamp of a closed segment's first batch; read its file once after a restart."""
    if segment.first_timestamp == NO_TIMESTAMP and segment.size_bytes:
        with Path(segment.log_path).open("rb") as file:
            segment.first_timestamp = decode_header(file.read(HEADER_BYTES)).max_timestamp
    return segment.first_timestamp


def group_segments(
    segments: Sequence[Segment], end_offset: int, max_bytes: int, max_index_bytes: int
) -> list[list[Segment]]:
    """Group adjacent segments that fit into one segment after cleaning (`Cleaner.groupSegmentsBySize`).

    Args:
        segments: Segments to be cleaned, in order.
        end_offset: Base offset of the segment after them.
        max_bytes: `segment.bytes`.
        max_index_bytes: `segment.index.bytes`.
    """
    groups: list[list[Segment]] = []
    ends = [*(found.base_offset for found in segments[1:]), end_offset][: len(segments)]
    size = offset_index_bytes = time_index_bytes = 0
    for found, end in zip(segments, ends, strict=True):
        offset_entries, time_entries = len(found.offset_index.entries), len(found.time_index.entries)
        fits = (
            bool(groups)
            and size + found.size_bytes <= max_bytes
            and offset_index_bytes + offset_entries <= max_index_bytes
            and time_index_bytes + time_entries <= max_index_bytes
            and (not found.size_bytes or end - 1 - groups[-1][0].base_offset <= MAX_RELATIVE_OFFSET)
        )
        if fits:
            groups[-1].append(found)
            size += found.size_bytes
            offset_index_bytes += offset_entries
            time_index_bytes += time_entries
        else:
            groups.append([found])
            size, offset_index_bytes, time_index_bytes = found.size_bytes, offset_entries, time_entries
    return groups
