"""A partition's log: segments in a directory, buffered appends, and reads from memory or file."""

from __future__ import annotations

import os
import shutil
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Final

from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.errors import OffsetOutOfRange
from eosctl.storage.names import FileState, Suffix, parse_segment_file
from eosctl.storage.segment import Segment, TimestampedOffset, rename_files
from eosctl.storage.tail import Tail
from eosctl.storage.txn_index import AbortedTxn, collect_aborted_txns
from eosctl.wire.records.batch import iter_headers
from eosctl.wire.records.header import BatchHeader

#: When more unwritten bytes than this are in memory, they are written without waiting for `flush`.
_MAX_BUFFERED_BYTES: Final = 4 << 20
_SCAN_BYTES: Final = 1 << 20
_BASE_OFFSET: Final = attrgetter("base_offset")


class SegmentedLog:
    """A partition directory of magic 2 batches in Kafka's layout.

    Nothing is on disk before the first `flush` after the first append. Appends stay in memory until then; reads see
    them immediately. After an OSError from any method, this process cannot use the directory any more: close the log
    with `clean=False` and open it again.

    Attributes:
        directory: The partition directory.
        config: May be replaced at any time; it applies to later appends.
        log_start_offset: First offset that may be read.
        log_end_offset: Offset of the next batch.
    """

    __slots__ = (
        "_descriptors",
        "_segments",
        "_tail",
        "_unwritten_count",
        "config",
        "directory",
        "log_end_offset",
        "log_start_offset",
    )

    def __init__(
        self,
        directory: Path | str,
        config: LogConfig,
        descriptors: Descriptors,
        *,
        segments: Sequence[Segment] = (),
        log_start_offset: int = 0,
        log_end_offset: int | None = None,
    ) -> None:
        """Create a log from known segments; use `open_log` for an existing directory.

        Args:
            directory: The partition directory, created when the first batch is written.
            config: When to roll and what to index.
            descriptors: Open files, shared by many logs.
            segments: Segments found on disk, in offset order.
            log_start_offset: First offset that may be read.
            log_end_offset: Offset after the last batch of the segments.
        """
        self.directory = os.fspath(directory)
        self.config = config
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_start_offset if log_end_offset is None else log_end_offset
        self._descriptors = descriptors
        self._segments = list(segments)
        self._tail = Tail(self.log_end_offset)
        self._unwritten_count = 0  # Bytes of the newest batches in the tail that are not written to a file yet.

    # --- appending -------------------------------------------------------------------------------------------------

    def append(self, batch: bytes, header: BatchHeader, now_ms: int = -1) -> int | None:
        """Append a batch that already has its offset and leader epoch.

        Args:
            batch: The whole batch.
            header: Its header.
            now_ms: Now, in milliseconds since the epoch; decides about rolling when batches have no timestamps.

        Returns:
            The base offset of the new segment if the batch started one, else None. The caller then writes a producer
            snapshot of the state before this batch, as Kafka does.

        Raises:
            ValueError: The batch's offset is below the log end offset.
        """
        base_offset, max_timestamp = header.base_offset, header.max_timestamp
        if base_offset < self.log_end_offset:
            raise ValueError(f"a batch at offset {base_offset} cannot follow offset {self.log_end_offset - 1}")
        last_offset = base_offset + header.last_offset_delta
        config, batch_bytes = self.config, len(batch)
        rolled = None
        segments = self._segments
        if not segments:
            segments.append(Segment(self.directory, self.log_end_offset, now_ms))
        active = segments[-1]
        if active.is_full_for(batch_bytes, last_offset, max_timestamp, now_ms, config):
            rolled = base_offset
            self.roll(rolled, now_ms)
            active = segments[-1]
        active.add(batch_bytes, last_offset, max_timestamp, config.index_interval_bytes)
        self.log_end_offset = last_offset + 1
        self._unwritten_count += 1
        if self._tail.append(batch, last_offset) > _MAX_BUFFERED_BYTES:
            self.flush()
        return rolled

    def append_aborted_txn(self, txn: AbortedTxn) -> None:
        """Add an aborted transaction to the active segment's index, directly after its marker was appended."""
        self._segments[-1].aborted_txns.append(txn)

    def roll(self, base_offset: int | None = None, now_ms: int = -1) -> None:
        """Close the active segment and create a new one, at the log end offset unless a later offset is given."""
        self.flush()
        if self._segments:
            self._segments[-1].seal()
        self._segments.append(
            Segment(self.directory, self.log_end_offset if base_offset is None else base_offset, now_ms)
        )

    # --- writing ---------------------------------------------------------------------------------------------------

    @property
    def has_unwritten(self) -> bool:
        """Return whether `flush` has anything to write."""
        return self._unwritten_count > 0

    def flush(self, *, sync: bool = False) -> None:
        """Write buffered appends to the operating system.

        Args:
            sync: Whether to also wait until the log is on the disk (fsync). Kafka does not by default.
        """
        if self._unwritten_count:
            active, tail = self._segments[-1], self._tail
            data = tail.newest(self._unwritten_count)
            descriptor = self._descriptors.open(active.log_path, create=True)
            written_bytes = os.write(descriptor, data)
            if written_bytes != len(data):
                _write_rest(descriptor, data, written_bytes)
            self._unwritten_count = 0
            if tail.size_bytes > self.config.tail_bytes:
                tail.shrink_to(self.config.tail_bytes)
            if active.wants_index_written:
                active.write_indexes()
            if active.aborted_txns:
                active.write_aborted_txns()
        if sync and self._segments:
            os.fsync(self._descriptors.open(self._segments[-1].log_path, create=True))

    def close(self, *, clean: bool) -> None:
        """Close the files.

        Args:
            clean: Whether to write everything and complete the indexes, as a broker does in a clean shutdown. Otherwise
                nothing is written and the directory stays as a killed broker leaves it.
        """
        if clean and self._segments:
            self._descriptors.open(self._segments[-1].log_path, create=True)  # An empty segment has files too.
            self.flush()
            self._segments[-1].seal()
        for segment in self._segments:
            self._descriptors.forget(segment.log_path)

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, offset: int, max_bytes: int, upper_bound: int | None = None) -> bytes:
        """Read whole batches, starting with the batch that contains an offset.

        Args:
            offset: First offset to read.
            max_bytes: Maximum number of bytes; the first batch is returned even when it is larger.
            upper_bound: Read only batches that end below this offset: the high watermark or last stable offset.

        Returns:
            Concatenated batches; empty at the log end offset. Fewer than would fit when they lie in different files.

        Raises:
            OffsetOutOfRange: The offset is outside the log and not its end.
        """
        if offset >= self._tail.first_offset:
            if offset > self.log_end_offset:
                raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
            return self._tail.read(offset, max_bytes, upper_bound)
        if offset < self.log_start_offset:
            raise OffsetOutOfRange(offset, self.log_start_offset, self.log_end_offset)
        self.flush()
        for index in range(self._floor(offset), len(self._segments)):
            segment = self._segments[index]
            if segment.size_bytes:
                descriptor = self._descriptors.open(segment.log_path)
                data = segment.read(descriptor, offset, max_bytes, upper_bound)
                if data or (upper_bound is not None and upper_bound <= segment.base_offset):
                    return data
        return b""

    def batches(self, start_offset: int, end_offset: int | None = None) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield header and bytes of each batch, from the one that contains an offset up to an offset or the end."""
        end_offset = self.log_end_offset if end_offset is None else end_offset
        while start_offset < end_offset:
            data = self.read(start_offset, _SCAN_BYTES)
            if not data:
                return
            for position, header in iter_headers(data):
                if header.base_offset >= end_offset:
                    return
                yield header, data[position : position + header.size_bytes]
                start_offset = header.next_offset

    def offset_for_time(self, timestamp: int) -> TimestampedOffset | None:
        """Find the first record with at least the given timestamp (milliseconds since the epoch)."""
        self.flush()
        for segment in self._segments:
            if segment.max_timestamp >= timestamp and segment.size_bytes:
                descriptor = self._descriptors.open(segment.log_path)
                found = segment.find_timestamp(descriptor, timestamp, self.log_start_offset)
                if found is not None:
                    return found
        return None

    def offset_of_max_timestamp(self) -> TimestampedOffset | None:
        """Find the first record with the largest timestamp of the log."""
        largest = max([segment.max_timestamp for segment in self._segments if segment.size_bytes], default=-1)
        return None if largest < 0 else self.offset_for_time(largest)

    def bound_of_read(self, offset: int, end: int) -> int:
        """Return the upper bound that Kafka assumes for a read, derived from the offset index.

        Args:
            offset: First offset of the read.
            end: Offset after the last record of the read.

        Returns:
            The offset of the next index entry, or the end of the segment (`LogSegment.fetchUpperBoundOffset`).
        """
        index = self._floor(offset)
        entry = self._segments[index].offset_index.first_from(end)
        if entry is not None:
            return entry.offset
        return self._segments[index + 1].base_offset if index + 1 < len(self._segments) else self.log_end_offset

    def aborted_txns(self, fetch_offset: int, upper_bound: int) -> list[AbortedTxn]:
        """Return the aborted transactions that a read_committed consumer of an offset range must know.

        Args:
            fetch_offset: First offset of the range.
            upper_bound: Offset after the last of the range.
        """
        found: list[AbortedTxn] = []
        for index in range(self._floor(fetch_offset), len(self._segments)):
            txns = self._segments[index].aborted_txns
            if txns:
                overlapping, complete = collect_aborted_txns(txns, fetch_offset, upper_bound)
                found += overlapping
                if complete:
                    break
        return found

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all segments' batches, written or not."""
        return sum([segment.size_bytes for segment in self._segments])

    @property
    def segments(self) -> Sequence[Segment]:
        """Return the segments in offset order, for retention and compaction."""
        return self._segments

    def _floor(self, offset: int) -> int:
        """Return the index of the segment that contains an offset."""
        return max(bisect_right(self._segments, offset, key=_BASE_OFFSET) - 1, 0)

    # --- removing --------------------------------------------------------------------------------------------------

    def retire_segments(self, count: int, now_ms: int = -1) -> list[Path]:
        """Remove the oldest segments from the log and rename their files to `.deleted`, as Kafka does.

        If all segments are removed, a new segment is created at the log end offset first. The log start offset rises to
        the first remaining offset.

        Args:
            count: How many segments to remove.
            now_ms: Now, in milliseconds since the epoch.

        Returns:
            The renamed files; the caller deletes them after `file.delete.delay.ms`.
        """
        if count >= len(self._segments):
            self.roll(now_ms=now_ms)
            # Only this snapshot records the log end offset.
            self._descriptors.open(self._segments[-1].log_path, create=True)
        retired = self._segments[:count]
        del self._segments[:count]
        self.log_start_offset = max(self.log_start_offset, self._segments[0].base_offset)
        return self._retire(retired)

    def replace_segments(self, replaced: Sequence[Segment], cleaned: Segment) -> list[Path]:
        """Replace adjacent segments of this log with a segment whose files are named `.cleaned`.

        A crash at any point leaves the old segments or the new one: the old ones are removed only when all new files
        are named `.swap`, and `.swap` files are completed at the next start (Kafka's `LocalLog.replaceSegments`).

        Returns:
            The old files, renamed to `.deleted`; the caller deletes them after `file.delete.delay.ms`.

        Raises:
            ValueError: A segment is no longer in the log, or is the active one.
        """
        first = next((index for index, found in enumerate(self._segments) if found is replaced[0]), -1)
        last = first + len(replaced)
        if first < 0 or last >= len(self._segments) or list(replaced) != self._segments[first:last]:
            raise ValueError("the segments to be replaced are not in the log any more")
        rename_files(cleaned, FileState.CLEANED, FileState.SWAP)
        retired = self._retire(replaced, keep_snapshot_of=cleaned.base_offset)
        rename_files(cleaned, FileState.SWAP, FileState.LIVE)
        self._segments[first:last] = [cleaned]
        self._tail.drop_before(self._segments[-1].base_offset)
        return retired

    def _retire(self, segments: Sequence[Segment], *, keep_snapshot_of: int = -1) -> list[Path]:
        retired: list[Path] = []
        for segment in segments:
            self._descriptors.forget(segment.log_path)
            kept = {Suffix.PRODUCER_SNAPSHOT} if segment.base_offset == keep_snapshot_of else set()
            retired += rename_files(segment, FileState.LIVE, FileState.DELETED, without=kept)
        return retired

    def advance_log_start_offset(self, offset: int) -> None:
        """Raise the log start offset (DeleteRecords, or deletion by the leader); it never decreases."""
        self.log_start_offset = max(self.log_start_offset, min(offset, self.log_end_offset))

    def truncate_to(self, offset: int) -> None:
        """Remove all batches that contain or follow an offset.

        The log then ends at the offset, as in Kafka. Producer snapshots above it are deleted.
        """
        if offset >= self.log_end_offset:
            return
        if not self._segments or self._segments[0].base_offset > offset:
            self.truncate_fully_and_start_at(offset)
            return
        self.flush()
        while self._segments[-1].base_offset > offset:
            self._delete(self._segments.pop())
        active = self._segments[-1]
        active.truncate_to(self._descriptors.open(active.log_path, create=True), offset)
        self.log_start_offset = min(self.log_start_offset, offset)
        self._end_at(offset, snapshots_up_to=offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove all batches and restart at an offset.

        A follower does this when its leader no longer has the offsets that it needs.
        """
        for segment in self._segments:
            self._delete(segment)
        self._segments.clear()
        self.log_start_offset = offset
        self._end_at(offset, snapshots_up_to=-1)

    def delete(self) -> None:
        """Delete the partition directory."""
        self.close(clean=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _end_at(self, offset: int, *, snapshots_up_to: int) -> None:
        self.log_end_offset = offset
        self._tail = Tail(offset)
        self._unwritten_count = 0
        directory = Path(self.directory)
        for path in directory.glob(f"*{Suffix.PRODUCER_SNAPSHOT}") if directory.is_dir() else ():
            parsed = parse_segment_file(path.name)
            if parsed is not None and parsed.offset > snapshots_up_to:
                path.unlink(missing_ok=True)

    def _delete(self, segment: Segment) -> None:
        self._descriptors.forget(segment.log_path)
        segment.delete_files()


def _write_rest(descriptor: int, data: bytes, written: int) -> None:
    while written < len(data):
        written += os.write(descriptor, data[written:])
