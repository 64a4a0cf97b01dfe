"""Records of a batch as columns, for formats that write all lines of a batch in one step.

Most batches of most logs contain printable ASCII. For these, no record becomes a separate object, and all lines of a
batch are built and checked together. The record decoder handles unusual content, such as text that needs escapes and
malformed records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.records.columns import decode_columns
from eosctl.wire.records.compression import decompress
from eosctl.wire.records.header import CODEC_MASK, CONTROL, HEADER_BYTES, LOG_APPEND_TIME, LOG_OVERHEAD_BYTES

_MAX_SEQUENCE: Final = 0x7FFF_FFFF
#: The lines of larger batches would take much memory together.
_MOST_RECORDS: Final = 65_536
#: Number of batches after one that needed the record decoder that are assumed to need it, too.
_LIKE_THE_LAST: Final = 16
#: All other bytes become 0.
_PRINTABLE_ONLY: Final = bytes(byte if 32 <= byte < 127 else 0 for byte in range(256))
# Keys of Connect's settings and session key, and the frame version of a metadata record: their values are masked record
# by record (`eosctl.analysis.record_redactor`).
_KEYS_OF_SECRETS: Final = (b"connector-", b"task-", b"session-key")
_METADATA_FRAME: Final = 1


class PlainRecords(NamedTuple):
    """The records of a batch, which hold no secrets.

    Attributes:
        offsets: Absolute offsets; a range if none is missing.
        timestamps: Milliseconds since the epoch.
        sequences: The producer's sequences; -1 without one.
        keys: The keys, with a dash for null.
        values: The values, with a dash for null.
        null_keys: Number of keys that are null.
        null_values: Number of values that are null.
        first_bytes: First bytes of keys and values.
        has_headers: Whether any record has headers.
    """

    offsets: Sequence[int]
    timestamps: Sequence[int]
    sequences: Sequence[int]
    keys: list[bytes]
    values: list[bytes]
    null_keys: int
    null_values: int
    first_bytes: set[int]
    has_headers: bool

    @property
    def has_printable_content(self) -> bool:
        """Return whether keys and values are printable ASCII."""
        return printable_text(self.values) is not None and printable_text(self.keys) is not None

    @property
    def has_mixed_nulls(self) -> bool:
        """Return whether some keys or values are null and some are not."""
        count = len(self.offsets)
        return self.null_keys not in (0, count) or self.null_values not in (0, count)


def read_plain_records(batch: LogBatch, *, with_content: bool) -> PlainRecords | None:
    """Return a batch's records, or None if they need the record decoder.

    Args:
        batch: A batch of any kind.
        with_content: Whether to return keys and values.
    """
    _, header, _, buffer, start = batch
    attributes, count = header.attributes, header.records_count
    if header.magic < 2 or attributes & CONTROL or not 0 < count <= _MOST_RECORDS or not buffer:
        return None
    section = buffer[start + HEADER_BYTES : start + LOG_OVERHEAD_BYTES + header.batch_length]
    if attributes & CODEC_MASK:
        try:
            section = decompress(attributes & CODEC_MASK, section)
        except WireError:
            return None
    columns = decode_columns(section, count, header.base_timestamp, with_content=with_content, null=b"-")
    if columns is None:
        return None
    deltas, times, keys, values, null_keys, null_values, first_bytes, has_headers = columns
    if with_content and (_METADATA_FRAME in first_bytes or _may_hold_secrets(keys)):
        return None
    timestamps = [header.max_timestamp] * count if attributes & LOG_APPEND_TIME else times
    base_offset, base_sequence = header.base_offset, header.base_sequence
    offsets: Sequence[int] = range(base_offset, base_offset + count)
    sequences: Sequence[int] = range(base_sequence, base_sequence + count)
    if deltas != list(range(count)):  # Only compaction leaves gaps.
        offsets = [base_offset + delta for delta in deltas]
        sequences = [base_sequence + delta & _MAX_SEQUENCE for delta in deltas]
    elif base_sequence + count > _MAX_SEQUENCE:
        sequences = [base_sequence + delta & _MAX_SEQUENCE for delta in deltas]
    if base_sequence < 0:
        sequences = [-1] * count
    return PlainRecords(offsets, timestamps, sequences, keys, values, null_keys, null_values, first_bytes, has_headers)


def _may_hold_secrets(keys: list[bytes]) -> bool:
    joined = b"\n".join(keys)
    return any(key in joined for key in _KEYS_OF_SECRETS)


def printable_text(texts: list[bytes]) -> bytes | None:
    """Return joined texts, or None unless they are printable ASCII."""
    joined = b"".join(texts)
    return joined if joined.translate(_PRINTABLE_ONLY) == joined else None


def fill_lines(line: bytes, columns: Sequence[Sequence[Any]]) -> bytes:
    """Return a line per row of the columns, which fill its conversions in order."""
    width, count = len(columns), len(columns[0])
    cells: list[Any] = [None] * (width * count)
    for number, column in enumerate(columns):
        cells[number::width] = column
    return line * count % tuple(cells)


class PlainLines:
    """Writes the lines of plain records; after a batch with other records, this is not tried for a while."""

    def __init__(self, write: Callable[[LogBatch], str | None]) -> None:
        """Store the function that returns a batch's lines, or None if they need the record decoder."""
        self._write = write
        self._tried_again_in = 0

    def of(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records, or None if they need the record decoder."""
        if self._tried_again_in:
            self._tried_again_in -= 1
            return None
        found = self._write(batch)
        if found is None:
            self._tried_again_in = _LIKE_THE_LAST
        return found
