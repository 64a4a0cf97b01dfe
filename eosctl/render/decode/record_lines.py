"""Write records as tab-separated lines from the columns of their batch.

Most batches of most logs contain printable ASCII. For these, no record becomes a separate object, and all lines of a
batch are built and checked together. The record decoder handles unusual content, such as text that needs escapes and
malformed records.
"""

from __future__ import annotations

from typing import Any, Final

from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.records.columns import decode_columns
from eosctl.wire.records.compression import decompress
from eosctl.wire.records.header import CODEC_MASK, CONTROL, HEADER_BYTES, LOG_APPEND_TIME, LOG_OVERHEAD_BYTES

_PRINTABLE: Final = bytes(range(32, 127))
_MAX_SEQUENCE: Final = 0x7FFF_FFFF
#: The lines of larger batches would take much memory together.
_MOST_RECORDS: Final = 65_536
_NULL: Final = b"-"
# Connectors' settings and session keys, which are masked record by record.
_MAY_HOLD_SECRETS: Final = (b'"properties"', b"session-key")


class RecordLines:
    """Writes the records of one file: file, offset, timestamp, sequence, key and value."""

    def __init__(self, file: str, *, with_content: bool) -> None:
        """Store the values that all lines share.

        Args:
            file: The file's name as a cell.
            with_content: Whether to show keys and values, as UTF-8; otherwise they are dashes.
        """
        content = b"%b\t%b" if with_content else b"-\t-"
        self._line = b"record\t" + file.encode().replace(b"%", b"%%") + b"\t%d\t%d\t%d\t" + content + b"\n"
        self._with_content = with_content
        self._marks = _marks(self._line)

    def of(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records, or None if they need the record decoder."""
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
        if self._with_content and any(mark in section for mark in _MAY_HOLD_SECRETS):
            return None
        columns = decode_columns(section, count, header.base_timestamp, with_content=self._with_content, null=_NULL)
        if columns is None:
            return None
        deltas, timestamps, keys, values = columns
        width = 5 if self._with_content else 3
        cells: list[Any] = [-1] * (width * count)
        cells[1::width] = [header.max_timestamp] * count if attributes & LOG_APPEND_TIME else timestamps
        base_offset, base_sequence = header.base_offset, header.base_sequence
        if deltas == list(range(count)) and base_sequence + count <= _MAX_SEQUENCE:  # only compaction leaves gaps
            cells[0::width] = range(base_offset, base_offset + count)
            if base_sequence >= 0:
                cells[2::width] = range(base_sequence, base_sequence + count)
        else:
            cells[0::width] = [base_offset + delta for delta in deltas]
            if base_sequence >= 0:
                cells[2::width] = [base_sequence + delta & _MAX_SEQUENCE for delta in deltas]
        if not self._with_content:
            return (self._line * count % tuple(cells)).decode()
        cells[3::width] = keys
        cells[4::width] = values
        lines = self._line * count % tuple(cells)
        return lines.decode() if _marks(lines) == self._marks * count and not _may_hold_formula(lines) else None


def _may_hold_formula(lines: bytes) -> bool:
    """Return whether a cell may begin like a formula; dashes of null and sequences of -1 do not."""
    if b"\t=" in lines or b"\t+" in lines or b"\t@" in lines:
        return True
    return lines.count(b"\t-") != lines.count(b"\t-1\t") + lines.count(b"\t-\t") + lines.count(b"\t-\n")


def _marks(lines: bytes) -> int:
    """Count the bytes that are not printable ASCII; lines of plain content have them only between the cells."""
    return len(lines.translate(None, _PRINTABLE))
