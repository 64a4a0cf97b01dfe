"""Save a partition's batches from its leader to a file in the format of a segment."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.collect.aborted_ranges import offset_at
from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import PartitionInfo
from eosctl.wire.records.batch import iter_headers

KIND = EvidenceKind.OFFSETS


class LiveLog(NamedTuple):
    """The saved file, the first requested offset, and the end offset."""

    path: Path
    from_offset: int
    next_offset: int
    end_offset: int
    gaps: tuple[EvidenceGap, ...]


async def save_log(
    reader: ReadOnly,
    info: PartitionInfo,
    directory: Path,
    *,
    from_offset: int | None = None,
    from_ms: int | None = None,
    max_bytes: int,
) -> LiveLog:
    """Fetch a partition up to the current high watermark, and write its batches unchanged.

    Args:
        reader: The read-only client.
        info: The partition with its offsets.
        directory: Receives a file with the name of a segment.
        from_offset: The first offset; the log start offset if None and no time is given.
        from_ms: Alternatively, start at the first offset with at least this timestamp.
        max_bytes: Maximum number of bytes to fetch.

    Raises:
        WireError: The leader sent malformed batches.
        OSError: The file cannot be written.
    """
    end = info.high_watermark or 0
    gaps: tuple[EvidenceGap, ...] = ()
    start = info.log_start_offset or 0
    if from_ms is not None:
        found, gaps = await offset_at(reader, info, from_ms)
        start = end if found is None else found
    elif from_offset is not None:
        start = max(start, from_offset)
    path = directory / f"{start:020d}.log"
    offset = start
    with path.open("wb") as file:
        while offset < end and not gaps and file.tell() < max_bytes:
            data, gaps = await fetch_batches(reader, KIND, info, offset)
            whole, before = 0, offset
            for position, header in iter_headers(data):
                if position + header.size_bytes > len(data):
                    break  # A fetch may start in the middle of a batch.
                whole, offset = position + header.size_bytes, header.last_offset + 1
            file.write(data[:whole])
            if offset == before:
                break
    return LiveLog(path, start, offset, end, gaps)
