"""The segment that the log cleaner writes, under `.cleaned` names until it is complete."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from eosctl.storage.names import FileState, Suffix
from eosctl.storage.segment import Segment
from eosctl.storage.txn_index import AbortedTxn, encode_aborted_txn
from eosctl.wire.records.header import BatchHeader

_WRITE_BYTES: Final = 1 << 20


class CleanedSegment:
    """Writer of a segment that replaces others; `SegmentedLog.replace_segments` swaps it in."""

    __slots__ = ("_file", "_index_interval_bytes", "segment")

    def __init__(self, directory: str, base_offset: int, created_ms: int, index_interval_bytes: int) -> None:
        """Create the segment's `.log.cleaned`.

        Args:
            directory: The partition directory.
            base_offset: First offset that the segment may hold.
            created_ms: Creation time of the newest replaced segment, in milliseconds since the epoch.
            index_interval_bytes: Bytes of log between two index entries (`index.interval.bytes`).

        Raises:
            OSError: The file cannot be written.
        """
        self.segment = Segment(directory, base_offset, created_ms)
        self._index_interval_bytes = index_interval_bytes
        self._file: BinaryIO = self._path(Suffix.LOG).open("wb", buffering=_WRITE_BYTES)

    def append(self, batch: bytes, header: BatchHeader) -> None:
        """Append a batch."""
        self.segment.add(len(batch), header.last_offset, header.max_timestamp, self._index_interval_bytes)
        self._file.write(batch)

    def append_aborted_txn(self, txn: AbortedTxn) -> None:
        """Add an aborted transaction whose data is still in the log."""
        self.segment.aborted_txns.append(txn)

    def finish(self) -> Segment:
        """Write the remaining data and the indexes; return the segment, still under its `.cleaned` names."""
        segment = self.segment
        self._file.close()
        segment.time_index.append_if_later(segment.max_timestamp, segment.max_timestamp_offset)
        self._path(Suffix.OFFSET_INDEX).write_bytes(segment.offset_index.entries)
        self._path(Suffix.TIME_INDEX).write_bytes(segment.time_index.entries)
        if segment.aborted_txns:
            self._path(Suffix.TXN_INDEX).write_bytes(b"".join(map(encode_aborted_txn, segment.aborted_txns)))
        segment.indexes_written()
        return segment

    def discard(self) -> None:
        """Delete the written files."""
        self._file.close()
        for suffix in Suffix:
            with suppress(FileNotFoundError):
                self._path(suffix).unlink()

    def _path(self, suffix: Suffix) -> Path:
        return Path(f"{self.segment.path(suffix)}{FileState.CLEANED}")
