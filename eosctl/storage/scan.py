"""Read a `.log` file for forensics: every batch with its checksum result, and all damaged ranges.

Memory is bounded, and damaged files do not raise: damage is yielded as a value with its position and the expected
content, and the scan resumes at the next batch with a valid checksum.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import google_crc32c

from eosctl.storage.regular_file import open_regular
from eosctl.storage.throttled_reader import Read
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import MAGIC, MIN_BATCH_LENGTH, check_crc, decode_header, decode_records, iter_records
from eosctl.wire.records.compression import MAX_DECOMPRESSED_BYTES
from eosctl.wire.records.header import CRC_START, HEADER, HEADER_BYTES, LOG_OVERHEAD_BYTES, MAGIC_POSITION, BatchHeader
from eosctl.wire.records.record import Record

#: Small enough that chunks are still in the processor's cache when their checksums are computed.
_CHUNK_BYTES: Final = 1 << 18
#: Larger batches are checked in pieces and their records are not decoded; brokers default to 1 MiB.
_MAX_BATCH_BYTES: Final = 64 << 20
#: Most records of a batch that are decoded together.
_SLICE_RECORDS: Final = 8_192


class DamageKind(StrEnum):
    """What was found at a position instead of a batch."""

    TORN_BATCH = "torn-batch"
    ZERO_TAIL = "zero-tail"
    BAD_LENGTH = "bad-length"
    BAD_MAGIC = "bad-magic"


class LogBatch(NamedTuple):
    """A batch of a log file.

    Attributes:
        position: Where the batch starts in the file, in bytes.
        header: Its header.
        crc_valid: Whether its checksum is correct.
        buffer: Bytes that contain the batch; empty for a batch that is too large to keep.
        buffer_position: Where it starts in them.
    """

    position: int
    header: BatchHeader
    crc_valid: bool
    buffer: bytes
    buffer_position: int

    def records(self, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> list[Record]:
        """Decode the batch's records.

        Raises:
            WireError: The records are malformed or too large. Its offset counts from the start of the file; for
                compressed records it is that of the batch.
        """
        self._check_kept()
        try:
            return decode_records(self.buffer, self.header, self.buffer_position, max_bytes=max_bytes)
        except WireError as error:
            raise self._placed(error) from None

    def record_slices(self) -> Iterator[list[Record]]:
        """Decode the batch's records in lists, so that not all records of a batch of millions are in memory.

        Raises:
            WireError: As `records`. The lists before the malformed record have been yielded.
        """
        if self.header.magic < MAGIC or self.header.records_count <= _SLICE_RECORDS:
            yield self.records()
            return
        self._check_kept()
        try:
            yield from iter_records(self.buffer, self.header, _SLICE_RECORDS, self.buffer_position)
        except WireError as error:
            raise self._placed(error) from None

    def _check_kept(self) -> None:
        if not self.buffer:
            raise WireError(f"a batch of {self.header.size_bytes} bytes is too large", "records", self.position)

    def _placed(self, error: WireError) -> WireError:
        """Return an error of decoding with its offset in the file."""
        at = self.buffer_position if self.header.codec else error.offset
        return WireError(error.what, error.field, self.position - self.buffer_position + at)


class LogRun(NamedTuple):
    """Consecutive complete batches with valid checksums.

    Attributes:
        position: Where the first batch starts in the file, in bytes.
        end: Where the last batch ends.
        headers: The fields of their headers, in the order of `BatchHeader`.
        buffer: Bytes that contain them.
        buffer_position: Where the first batch starts in those bytes.
    """

    position: int
    end: int
    headers: list[tuple[int, ...]]
    buffer: bytes
    buffer_position: int

    def batches(self) -> Iterator[LogBatch]:
        """Yield the batches."""
        position = self.position
        for fields in self.headers:
            yield self.batch(position, fields)
            position += LOG_OVERHEAD_BYTES + fields[1]

    def batch(self, position: int, fields: tuple[int, ...]) -> LogBatch:
        """Return the batch at a file position, given its header fields."""
        at = position - self.position + self.buffer_position
        return LogBatch(position, BatchHeader(*fields), True, self.buffer, at)


class LogDamage(NamedTuple):
    """A range of a log file that does not contain a batch.

    Attributes:
        position: Where a batch was expected, in bytes.
        kind: What was found instead.
        what: Description with the values found and expected.
        resumes_at: Where the next valid batch starts; None if none follows.
    """

    position: int
    kind: DamageKind
    what: str
    resumes_at: int | None


def scan_log(
    path: Path, position: int = 0, end: int | None = None, read: Read = os.pread
) -> Iterator[LogBatch | LogDamage]:
    """Yield the batches and damaged ranges of a log file, in position order.

    Args and errors are those of `scan_runs`.
    """
    for fact in scan_runs(path, position, end, read):
        if isinstance(fact, LogRun):
            yield from fact.batches()
        else:
            yield fact


def scan_runs(
    path: Path, position: int = 0, end: int | None = None, read: Read = os.pread
) -> Iterator[LogRun | LogBatch | LogDamage]:
    """Yield runs of batches and damaged ranges of a log file, in position order.

    Args:
        path: The `.log` file; it may grow while it is read.
        position: Where the first batch starts, in bytes.
        end: Where to stop, in bytes; by default the file's size at the call.
        read: Reads the file, as `os.pread` does.

    Raises:
        OSError: The file cannot be read.
    """
    descriptor = open_regular(path)
    try:
        if end is None:
            end = os.fstat(descriptor).st_size
        yield from _Scanner(descriptor, end, read).scan(position)
    finally:
        os.close(descriptor)


class _Scanner:
    """A sliding window over a file."""

    def __init__(self, descriptor: int, end: int, read: Read) -> None:
        self._descriptor = descriptor
        self._read = read
        self._end = end
        self._chunk = b""
        self._start = -1

    def scan(self, position: int) -> Iterator[LogRun | LogBatch | LogDamage]:
        while position < self._end:
            run = self._run_at(position)
            if run is not None:
                yield run
                position = run.end
                continue
            found = self._batch_at(position)
            if isinstance(found, LogDamage):
                yield found
                if found.resumes_at is None:
                    return
                position = found.resumes_at
                continue
            after = position + found.header.size_bytes
            if not found.crc_valid and (resumes_at := self._true_end(found)) != after:
                yield LogDamage(
                    position,
                    DamageKind.BAD_LENGTH,
                    f"batch length {found.header.batch_length} leads to byte {after}, "
                    f"the next batch starts at {resumes_at}",
                    resumes_at,
                )
                position = resumes_at
                continue
            yield found
            position = after

    def _run_at(self, position: int) -> LogRun | None:
        """Return the complete, valid batches of the current chunk from a position on, if any."""
        run = self._run_in_chunk(position)
        if run is None and position != self._start:
            self._fill(position, _CHUNK_BYTES)
            run = self._run_in_chunk(position)
        return run

    def _run_in_chunk(self, position: int) -> LogRun | None:
        unpack, crc_of, chunk = HEADER.unpack_from, google_crc32c.value, self._chunk
        first = at = position - self._start
        headers, last = [], len(chunk) - HEADER_BYTES
        while 0 <= at <= last:
            fields = unpack(chunk, at)
            length = fields[1]
            after = at + LOG_OVERHEAD_BYTES + length
            if (
                fields[3] != MAGIC
                or length < MIN_BATCH_LENGTH
                or after > len(chunk)
                or crc_of(chunk[at + CRC_START : after]) != fields[4]
            ):
                break
            headers.append(fields)
            at = after
        return LogRun(position, self._start + at, headers, chunk, first) if headers else None

    def _batch_at(self, position: int) -> LogBatch | LogDamage:
        available = self._end - position
        at = self._load(position, min(HEADER_BYTES, available))
        try:
            header = decode_header(self._chunk, at)
        except WireError as error:
            return self._damage(position, error)
        size = header.size_bytes
        if size > available:
            return self._overlong(position, header)
        if size > _MAX_BATCH_BYTES:
            return LogBatch(position, header, self._check_large(position, header), b"", 0)
        at = self._load(position, size)
        return LogBatch(position, header, check_crc(self._chunk, header, at), self._chunk, at)

    def _load(self, position: int, size: int) -> int:
        """Load `size` bytes from `position` into the chunk; return their position in it."""
        at = position - self._start
        if at < 0 or at + size > len(self._chunk):
            self._fill(position, max(size, _CHUNK_BYTES))
            at = 0
        return at

    def _fill(self, position: int, size: int) -> None:
        self._chunk = self._read(self._descriptor, min(size, self._end - position), position)
        self._start = position

    def _check_large(self, position: int, header: BatchHeader) -> bool:
        crc, start, end = 0, position + CRC_START, position + header.size_bytes
        while start < end and (piece := self._read(self._descriptor, min(_CHUNK_BYTES, end - start), start)):
            crc = google_crc32c.extend(crc, piece)
            start += len(piece)
        return crc == header.crc and header.magic >= 2

    # --- damage ----------------------------------------------------------------------------------------------------

    def _damage(self, position: int, error: WireError) -> LogDamage:
        available = self._end - position
        # A batch with a small base offset starts with zeros too.
        if available >= LOG_OVERHEAD_BYTES and self._is_zero_to_end(position):
            return LogDamage(position, DamageKind.ZERO_TAIL, f"{available} zero bytes up to the end", None)
        resumes_at = self._next_valid_batch(position + 1)
        if error.field == "magic":
            return LogDamage(position, DamageKind.BAD_MAGIC, error.what, resumes_at)
        if error.field == "batch_length" or resumes_at is not None:
            return LogDamage(position, DamageKind.BAD_LENGTH, error.what, resumes_at)
        return LogDamage(position, DamageKind.TORN_BATCH, error.what, None)

    def _overlong(self, position: int, header: BatchHeader) -> LogDamage:
        available = self._end - position
        resumes_at = self._next_valid_batch(position + 1)
        what = f"a batch of {header.size_bytes} bytes, {available} are left in the file"
        return LogDamage(
            position, DamageKind.TORN_BATCH if resumes_at is None else DamageKind.BAD_LENGTH, what, resumes_at
        )

    def _true_end(self, batch: LogBatch) -> int:
        """Return the end of a batch with a wrong checksum: its declared end, unless only another end is plausible."""
        after = batch.position + batch.header.size_bytes
        if after == self._end or self._is_valid_batch(after):
            return after
        resumes_at = self._next_valid_batch(batch.position + 1)
        return after if resumes_at is None or resumes_at > after else resumes_at

    def _is_valid_batch(self, position: int) -> bool:
        available = self._end - position
        if available < HEADER_BYTES:
            return False
        at = self._load(position, HEADER_BYTES)
        if not _is_plausible(self._chunk, at, available):
            return False
        header = decode_header(self._chunk, at)
        if header.size_bytes > _MAX_BATCH_BYTES:
            return self._check_large(position, header)
        at = self._load(position, header.size_bytes)
        return check_crc(self._chunk, header, at)

    def _next_valid_batch(self, position: int) -> int | None:
        """Find the next position at which a magic 2 batch with a valid checksum starts.

        Checksums are computed only for plausible headers, and in total over at most four times the file's size, so that
        a crafted file cannot keep the reader busy.
        """
        budget = 4 * self._end
        while position + HEADER_BYTES <= self._end:
            at = self._load(position, HEADER_BYTES)
            if at + HEADER_BYTES > len(self._chunk):  # The file has shrunk.
                return None
            magic_at = self._chunk.find(
                b"\x02", at + MAGIC_POSITION, len(self._chunk) - HEADER_BYTES + MAGIC_POSITION + 1
            )
            if magic_at < 0:
                position = self._start + len(self._chunk) - HEADER_BYTES + 1
                continue
            position = self._start + magic_at - MAGIC_POSITION
            if _is_plausible(self._chunk, magic_at - MAGIC_POSITION, self._end - position):
                budget -= decode_header(self._chunk, magic_at - MAGIC_POSITION).size_bytes
                if budget < 0:
                    return None
                if self._is_valid_batch(position):
                    return position
            position += 1
        return None

    def _is_zero_to_end(self, position: int) -> bool:
        while position < self._end:
            piece = self._read(self._descriptor, min(_CHUNK_BYTES, self._end - position), position)
            if not piece or piece.count(0) != len(piece):
                return False
            position += len(piece)
        return True


def _is_plausible(buffer: bytes, position: int, available: int) -> bool:
    """Return whether the bytes at a position can be the header of a magic 2 batch whose length fits."""
    try:
        header = decode_header(buffer, position)
    except WireError:
        return False
    return (
        header.magic == 2
        and MIN_BATCH_LENGTH <= header.batch_length <= available - LOG_OVERHEAD_BYTES
        and header.base_offset >= 0
        and 0 <= header.attributes < 0x80
        and header.last_offset_delta >= 0
        and 0 <= header.records_count <= header.batch_length
    )
