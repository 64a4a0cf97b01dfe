"""What a disk keeps of a broker that was killed: the page cache is lost with the machine, not with the process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from eosctl.storage.names import SegmentFile, Suffix, parse_segment_file
from eosctl.storage.scan import LogBatch, scan_log

METADATA_DIRECTORY = "__cluster_metadata-0"


def _never(_: str) -> int:
    """Kafka's default of `flush.messages`."""
    return sys.maxsize


def lose_page_cache(
    log_dirs: Sequence[Path], batch_count: int, *, torn: bool, flush_messages: Callable[[str], int] = _never
) -> dict[str, int]:
    """Take the last batches of every partition's active segment away, as a power cut does.

    Kafka forces a segment to disk when it rolls and after every `flush.messages` records, so only what the active one
    got since then is lost; the metadata log is forced out with every write (KRaft) and keeps all. `flush.ms` is not
    looked at.

    Args:
        log_dirs: The log directories of a broker that does not run.
        batch_count: How many batches each partition loses at most.
        torn: Whether half of the first lost batch is on the disk.
        flush_messages: The setting of the same name, by partition directory.

    Returns:
        Bytes lost by partition directory.
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
    """Count the batches of a segment up to the last one after which the log was forced out (UnifiedLog.append)."""
    forced = 0
    for number, batch in enumerate(batches, 1):
        if batch.header.next_offset - recovery_point >= forced_every:
            forced, recovery_point = number, batch.header.next_offset
    return forced


def _segment_of(path: Path) -> SegmentFile | None:
    found = parse_segment_file(path.name)
    return found if found is not None and found.suffix is Suffix.LOG else None
