"""The loss of the page cache when a machine fails; a killed process does not lose it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from eosctl.storage.names import SegmentFile, Suffix, parse_segment_file
from eosctl.storage.scan import LogBatch, scan_log

METADATA_DIRECTORY = "__cluster_metadata-0"


def _never(_: str) -> int:
    """Return Kafka's default of `flush.messages`."""
    return sys.maxsize


def lose_page_cache(
    log_dirs: Sequence[Path], batch_count: int, *, torn: bool, flush_messages: Callable[[str], int] = _never
) -> dict[str, int]:
    """Remove the last batches of every partition's active segment, as a power failure does.

    Kafka flushes a segment when it rolls and after every `flush.messages` records, so only later records of the active
    segment are lost. The metadata log is flushed with every write (KRaft) and loses nothing. `flush.ms` is ignored.

    Args:
        log_dirs: The log directories of a stopped broker.
        batch_count: Maximum number of batches that each partition loses.
        torn: Whether half of the first lost batch remains.
        flush_messages: The setting of the same name, by partition directory.

    Returns:
        Lost bytes by partition directory.
    """
    lost: dict[str, int] = {}
    for log_dir in log_dirs:
        for directory in sorted(path for path in log_dir.iterdir() if path.is_dir()):
            forced_every = 1 if directory.name == METADATA_DIRECTORY else flush_messages(directory.name)
            taken = _cut_tail(directory, batch_count, forced_every, torn=torn)
            if taken:
                lost[directory.name] = taken
    return lost


def _cut_tail(directory: Path, batch_count: int, forced_every: int, *, torn: bool) -> int:
    segments = [found for path in directory.iterdir() if (found := _segment_of(path)) is not None]
    if not segments:
        return 0
    active = max(segments, key=lambda segment: segment.offset)
    path = directory / active.name
    batches = [found for found in scan_log(path) if isinstance(found, LogBatch)]
    unforced = batches[_forced_count(batches, active.offset, forced_every) :]
    gone = unforced[-batch_count:] if batch_count else []
    if not gone:
        return 0
    size = path.stat().st_size
    keep = gone[0].position + (gone[0].header.size_bytes // 2 if torn else 0)
    os.truncate(path, keep)
    return size - keep


def _forced_count(batches: Sequence[LogBatch], recovery_point: int, forced_every: int) -> int:
    """Return the number of a segment's batches up to the last flush (`UnifiedLog.append`)."""
    forced = 0
    for number, batch in enumerate(batches, 1):
        if batch.header.next_offset - recovery_point >= forced_every:
            forced, recovery_point = number, batch.header.next_offset
    return forced


def _segment_of(path: Path) -> SegmentFile | None:
    found = parse_segment_file(path.name)
    return found if found is not None and found.suffix is Suffix.LOG else None
