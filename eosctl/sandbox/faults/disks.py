"""What a disk keeps of a broker that was killed: the page cache is lost with the machine, not with the process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eosctl.storage.names import SegmentFile, Suffix, parse_segment_file
from eosctl.storage.scan import LogBatch, scan_log

METADATA_DIRECTORY = "__cluster_metadata-0"


def lose_page_cache(log_dirs: Sequence[Path], batch_count: int, *, torn: bool) -> dict[str, int]:
    """Take the last batches of every partition's active segment away, as a power cut does (nothing forces them out).

    Kafka forces a segment to disk when it rolls, so only the active one loses anything; the metadata log is forced out
    with every write (KRaft) and keeps all.

    Args:
        log_dirs: The log directories of a broker that does not run.
        batch_count: How many batches each partition loses at most.
        torn: Whether half of the first lost batch is on the disk.

    Returns:
        Bytes lost by partition directory.
    """
    lost: dict[str, int] = {}
    for log_dir in log_dirs:
        for directory in sorted(path for path in log_dir.iterdir() if path.is_dir()):
            taken = 0 if directory.name == METADATA_DIRECTORY else _cut_tail(directory, batch_count, torn=torn)
            if taken:
                lost[directory.name] = taken
    return lost


def _cut_tail(directory: Path, batch_count: int, *, torn: bool) -> int:
    segments = [found for path in directory.iterdir() if (found := _segment_of(path)) is not None]
    if not segments:
        return 0
    path = directory / max(segments, key=lambda segment: segment.offset).name
    batches = [found for found in scan_log(path) if isinstance(found, LogBatch)]
    gone = batches[-batch_count:] if batch_count else []
    if not gone:
        return 0
    size = path.stat().st_size
    keep = gone[0].position + (gone[0].header.size_bytes // 2 if torn else 0)
    os.truncate(path, keep)
    return size - keep


def _segment_of(path: Path) -> SegmentFile | None:
    found = parse_segment_file(path.name)
    return found if found is not None and found.suffix is Suffix.LOG else None
