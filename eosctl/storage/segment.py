"""A segment of a log: a `.log` file and its indexes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.storage import offset_index, time_index
from eosctl.storage.config import LogConfig
from eosctl.storage.index_file import read_index_file
from eosctl.storage.names import FileState, Suffix, segment_file_name
from eosctl.storage.offset_index import OffsetIndex
from eosctl.storage.regular_file import read_regular
from eosctl.storage.time_index import NO_TIMESTAMP, TimeIndex
from eosctl.storage.txn_index import AbortedTxn, decode_aborted_txns, encode_aborted_txn
from eosctl.wire.records.batch import decode_header, decode_records, iter_headers
from eosctl.wire.records.header import HEADER_BYTES, BatchHeader

#: Buffer index entries up to this size per index: opening a file costs more than writing an entry.
_INDEX_WRITE_BYTES: Final = 4096
#: Index entries store offsets relative to the segment's base offset in 32 bits.
MAX_RELATIVE_OFFSET: Final = 0x7FFF_FFFF
# Most index growth per append: one offset entry; one time entry, plus one when the segment is closed afterwards.
_OFFSET_ENTRY_BYTES: Final = offset_index.ENTRY_BYTES
_TIME_ENTRIES_BYTES: Final = 2 * time_index.ENTRY_BYTES
_SEARCH_BYTES: Final = 8 << 10
_SCAN_BYTES: Final = 256 << 10


class TimestampedOffset(NamedTuple):
    """A record found by time: timestamp in milliseconds, offset, and the leader epoch of its batch."""

    timestamp: int
    offset: int
    leader_epoch: int


class Segment:
    """A segment's state in memory. The log that owns it appends and provides the descriptors.

    Attributes:
        wants_index_written: Whether enough index entries are buffered to write them.
    """

    __slots__ = (
        "_aborted_written",
        "_bytes_since_entry",
        "_index_has_grown",
        "_offset_written",
        "_time_written",
        "aborted_txns",
        "base_offset",
        "created_ms",
        "directory",
        "first_timestamp",
        "log_path",
        "max_timestamp",
        "max_timestamp_offset",
        "offset_index",
        "size_bytes",
        "time_index",
        "wants_index_written",
    )

    def __init__(self, directory: str, base_offset: int, created_ms: int = -1) -> None:
        """Create an empty segment; nothing is written.

        Args:
            directory: The partition directory.
            base_offset: First offset that the segment may hold.
            created_ms: Now, in milliseconds since the epoch; -1 if unknown.
        """
        self.directory = directory
        self.base_offset = base_offset
        self.created_ms = created_ms
        self.log_path = os.path.join(directory, segment_file_name(base_offset, Suffix.LOG))  # noqa: PTH118 - a str key
        self.size_bytes = 0
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self.first_timestamp = NO_TIMESTAMP
        self.offset_index = OffsetIndex(base_offset)
        self.time_index = TimeIndex(base_offset)
        self.aborted_txns: list[AbortedTxn] = []
        self._bytes_since_entry = 0
        self._offset_written = self._time_written = self._aborted_written = 0
        self._index_has_grown = True  # Recompute, as the capacity was checked before and indexes may be loaded since.
        self.wants_index_written = False

    def path(self, suffix: Suffix) -> Path:
        """Return the path of one of the segment's files."""
        return Path(self.directory, segment_file_name(self.base_offset, suffix))

    # --- appending -------------------------------------------------------------------------------------------------

    def is_full_for(
        self, batch_bytes: int, last_offset: int, max_timestamp: int, now_ms: int, config: LogConfig
    ) -> bool:
        """Return whether a batch must go into a new segment (Kafka's `LogSegment.shouldRoll`).

        True if the segment is too large or too old, an index is full, or the indexes cannot hold the offset. Times are
        milliseconds since the epoch.
        """
        size = self.size_bytes
        if last_offset - self.base_offset > MAX_RELATIVE_OFFSET:
            return True
        if not size:
            return False
        if size + batch_bytes > config.segment_bytes:
            return True
        if self.first_timestamp >= 0:
            age_ms = max_timestamp - self.first_timestamp
        else:
            age_ms = now_ms - self.created_ms if self.created_ms >= 0 else 0
        if age_ms > config.segment_ms:
            return True
        if self._index_has_grown:
            self._index_has_grown = self._is_index_full(config.segment_index_bytes)
        return self._index_has_grown

    def _is_index_full(self, capacity: int) -> bool:
        return (
            len(self.offset_index.entries) > capacity - _OFFSET_ENTRY_BYTES
            or len(self.time_index.entries) > capacity - _TIME_ENTRIES_BYTES
        )

    def add(self, batch_bytes: int, last_offset: int, max_timestamp: int, index_interval_bytes: int) -> None:
        """Account for a batch at the end of the segment; add an index entry if the interval is reached."""
        if not self.size_bytes:
            self.first_timestamp = max_timestamp
        if max_timestamp > self.max_timestamp:
            self.max_timestamp, self.max_timestamp_offset = max_timestamp, last_offset
        if self._bytes_since_entry > index_interval_bytes:
            self.offset_index.append(last_offset, self.size_bytes)
            self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
            self._bytes_since_entry = 0
            self._index_has_grown = True
            self.wants_index_written = len(self.offset_index.entries) - self._offset_written >= _INDEX_WRITE_BYTES
        self._bytes_since_entry += batch_bytes
        self.size_bytes += batch_bytes

    # --- files -----------------------------------------------------------------------------------------------------

    def write_indexes(self) -> None:
        """Append the buffered index entries to their files."""
        self._offset_written = _append(self.path(Suffix.OFFSET_INDEX), self.offset_index.entries, self._offset_written)
        self._time_written = _append(self.path(Suffix.TIME_INDEX), self.time_index.entries, self._time_written)
        self.wants_index_written = False
        self.write_aborted_txns()

    def write_aborted_txns(self) -> None:
        """Append the buffered aborted transactions to their file; without any, create no file."""
        fresh = self.aborted_txns[self._aborted_written :]
        if fresh:
            _append(self.path(Suffix.TXN_INDEX), b"".join(map(encode_aborted_txn, fresh)), 0)
            self._aborted_written = len(self.aborted_txns)

    def seal(self) -> None:
        """Write the indexes of a closed segment, with a final entry in the time index."""
        self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
        self.write_indexes()

    def rewrite_indexes(self) -> None:
        """Replace the index files with the entries in memory, after a truncation or recovery."""
        self.path(Suffix.OFFSET_INDEX).write_bytes(self.offset_index.entries)
        self.path(Suffix.TIME_INDEX).write_bytes(self.time_index.entries)
        self._offset_written, self._time_written = len(self.offset_index.entries), len(self.time_index.entries)
        self.path(Suffix.TXN_INDEX).unlink(missing_ok=True)
        self._aborted_written = 0
        self.write_aborted_txns()

    def finish_recovery(self) -> None:
        """Update files and counters as Kafka does after it has recovered a segment."""
        self.time_index.append_if_later(self.max_timestamp, self.max_timestamp_offset)
        self._bytes_since_entry = 0
        self.rewrite_indexes()

    def load_indexes(self) -> None:
        """Load the indexes of a segment that was closed cleanly.

        Raises:
            ValueError: An index fails Kafka's sanity check at start-up and must be rebuilt.
            OSError: An index cannot be read.
        """
        offsets = read_index_file(self.path(Suffix.OFFSET_INDEX), offset_index.ENTRY_BYTES)
        times = read_index_file(self.path(Suffix.TIME_INDEX), time_index.ENTRY_BYTES)
        if offsets.stray_bytes or times.stray_bytes:
            raise ValueError("an index ends inside an entry")
        self.offset_index = OffsetIndex(self.base_offset, offsets.entries)
        self.time_index = TimeIndex(self.base_offset, times.entries)
        with suppress(FileNotFoundError):
            self.aborted_txns = decode_aborted_txns(read_regular(self.path(Suffix.TXN_INDEX)))
        last, latest = self.offset_index.last, self.time_index.last
        if (
            last.offset < self.base_offset
            or last.position >= max(self.size_bytes, 1)
            or latest.offset < self.base_offset
            or (len(self.time_index) and latest.timestamp < self.time_index[0].timestamp)
        ):
            raise ValueError("the last index entry is impossible")
        self.max_timestamp, self.max_timestamp_offset = latest
        self._offset_written, self._time_written = len(self.offset_index.entries), len(self.time_index.entries)
        self._aborted_written = len(self.aborted_txns)

    @property
    def largest_timestamp(self) -> int:
        """Largest timestamp of its records, in ms since the epoch; without any the time when it was begun."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.created_ms

    def indexes_written(self) -> None:
        """Note that the index files hold all entries; the cleaner writes them under other names."""
        self._offset_written, self._time_written = len(self.offset_index.entries), len(self.time_index.entries)
        self._aborted_written = len(self.aborted_txns)

    def delete_files(self) -> None:
        """Delete every file of the segment, and the producer snapshot taken at its start."""
        for suffix in Suffix:
            self.path(suffix).unlink(missing_ok=True)

    # --- reading the .log file -------------------------------------------------------------------------------------

    def find(self, descriptor: int, offset: int) -> tuple[int, BatchHeader] | None:
        """Find the first batch that ends at or after an offset; return its position and header."""
        position = self.offset_index.lookup(offset).position
        while len(chunk := os.pread(descriptor, _SEARCH_BYTES, position)) >= HEADER_BYTES:
            at = 0
            while at + HEADER_BYTES <= len(chunk):
                header = decode_header(chunk, at)
                if header.last_offset >= offset:
                    return position + at, header
                at += header.size_bytes
            position += at
        return None

    def read(self, descriptor: int, offset: int, max_bytes: int, upper_bound: int | None) -> bytes:
        """Return whole batches, starting with the batch that contains `offset`; see `SegmentedLog.read`."""
        found = self.find(descriptor, offset)
        if found is None:
            return b""
        start, header = found
        if upper_bound is not None and header.last_offset >= upper_bound:
            return b""
        # The index bounds the search for the end of the last whole batch: only a few headers are read twice.
        limit = start + max(max_bytes, header.size_bytes)
        end = anchor = max(self.offset_index.last_within(limit, upper_bound).position, start)
        for position, last in iter_headers(os.pread(descriptor, limit - anchor, anchor)):
            if upper_bound is not None and last.last_offset >= upper_bound:
                break
            end = anchor + position + last.size_bytes
        return os.pread(descriptor, end - start, start)

    def scan(self, descriptor: int, position: int = 0) -> Iterator[tuple[int, BatchHeader, bytes]]:
        """Yield position, header, and bytes of each whole batch from a batch's position on."""
        wanted = _SCAN_BYTES
        while chunk := os.pread(descriptor, wanted, position):
            end = 0
            for at, header in iter_headers(chunk):
                end = at + header.size_bytes
                yield position + at, header, chunk[at:end]
            if end:
                wanted = _SCAN_BYTES
            elif len(chunk) < wanted:
                return
            else:
                wanted = max(decode_header(chunk).size_bytes, 2 * wanted)
            position += end

    def find_timestamp(self, descriptor: int, timestamp: int, start_offset: int) -> TimestampedOffset | None:
        """Find the first record at or after an offset with at least the given timestamp."""
        offset = max(self.time_index.lookup(timestamp).offset, start_offset)
        position = self.offset_index.lookup(offset).position
        for _, header, batch in self.scan(descriptor, position):
            if header.max_timestamp < timestamp or header.last_offset < start_offset:
                continue
            for record in decode_records(batch, header):
                if record.timestamp >= timestamp and record.offset >= start_offset:
                    return TimestampedOffset(record.timestamp, record.offset, header.partition_leader_epoch)
        return None

    # --- truncating ------------------------------------------------------------------------------------------------

    def truncate_to(self, descriptor: int, offset: int) -> None:
        """Remove the batches that end at or after an offset from the file, the indexes, and memory."""
        found = self.find(descriptor, offset)
        if found is not None:
            self.size_bytes = found[0]
            os.ftruncate(descriptor, self.size_bytes)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.aborted_txns = [txn for txn in self.aborted_txns if txn.last_offset < offset]
        self._bytes_since_entry = 0
        self.max_timestamp, self.max_timestamp_offset = self._largest_timestamp(descriptor)
        if not self.size_bytes:
            self.first_timestamp = NO_TIMESTAMP
        self.rewrite_indexes()

    def _largest_timestamp(self, descriptor: int) -> tuple[int, int]:
        """Return the largest timestamp, from the time index and the part of the log after its last entry."""
        timestamp, offset = self.time_index.last
        for _, header, _ in self.scan(descriptor, self.offset_index.lookup(offset).position):
            if header.max_timestamp > timestamp:
                timestamp, offset = header.max_timestamp, header.last_offset
        return timestamp, offset


def rename_files(
    segment: Segment, before: FileState, after: FileState, *, without: Collection[Suffix] = ()
) -> list[Path]:
    """Change the suffix of a segment's files; skip absent files."""
    renamed = []
    for suffix in Suffix:
        path = Path(f"{segment.path(suffix)}{before}")
        if suffix not in without and path.exists():
            renamed.append(path.replace(f"{segment.path(suffix)}{after}"))
    return renamed


def _append(path: Path, entries: bytes | bytearray, written: int) -> int:
    """Append the entries after `written` to a file and create it if absent; return its new size of entries in bytes."""
    with path.open("ab") as file:
        file.write(entries[written:])
    return len(entries)
