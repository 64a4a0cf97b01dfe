"""The lines of plain records in each format; other records are written one by one, by the format's writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.render.decode.fields import LAST_TIME_MS, second_text, when
from eosctl.render.decode.plain_records import PlainRecords, fill_lines, printable_text, read_plain_records
from eosctl.render.escaping import json_text
from eosctl.storage.scan import LogBatch

_SIGNS_OF_FORMULAS: Final = frozenset(b"=+-@")
_MILLISECONDS: Final = tuple(b".%03dZ" % number for number in range(1_000))


class TsvRecordLines:
    """Tab-separated lines of one file: file, offset, timestamp, sequence, key and value."""

    def __init__(self, file: str, *, with_content: bool) -> None:
        """Store the values that all lines share.

        Args:
            file: The file's name as a cell.
            with_content: Whether to show keys and values, as UTF-8; otherwise they are dashes.
        """
        content = b"%b\t%b" if with_content else b"-\t-"
        self._line = b"record\t" + file.encode().replace(b"%", b"%%") + b"\t%d\t%d\t%d\t" + content + b"\n"
        self._with_content = with_content

    def of(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records, or None if they need the record decoder."""
        records = read_plain_records(batch, with_content=self._with_content)
        if records is None:
            return None
        numbers = records.offsets, records.timestamps, records.sequences
        if not self._with_content:
            return fill_lines(self._line, numbers).decode()
        if not _SIGNS_OF_FORMULAS.isdisjoint(records.first_bytes) or not records.has_printable_content:
            return None
        return fill_lines(self._line, (*numbers, records.keys, records.values)).decode()


class TableRecordLines:
    """Lines of the table: offset, time, key and value."""

    def __init__(self, *, with_content: bool) -> None:
        """Choose whether to show keys and values, as UTF-8; otherwise they are dashes."""
        self._line = b"  | %-19d  %b  " + (b"%b  %b" if with_content else b"-  -") + b"\n"
        self._with_content = with_content

    def of(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records, or None if they need the record decoder."""
        records = read_plain_records(batch, with_content=self._with_content)
        if records is None or records.has_headers:
            return None
        front = records.offsets, _times(records.timestamps)
        if not self._with_content:
            return fill_lines(self._line, front).decode()
        if not records.has_printable_content:
            return None
        return fill_lines(self._line, (*front, records.keys, records.values)).decode()


def _times(timestamps: Sequence[int]) -> list[bytes]:
    """Return cells of 24 characters; the records of a batch often share a second."""
    start = min(timestamps) // 1_000
    if max(timestamps) < (start + 1) * 1_000 and 0 <= start <= LAST_TIME_MS // 1_000:
        front = second_text(start).encode()
        return [front + _MILLISECONDS[timestamp - start * 1_000] for timestamp in timestamps]
    return [f"{when(timestamp):<24}".encode() for timestamp in timestamps]


class JsonRecordLines:
    """JSON objects of one file; nulls need lines of their own."""

    def __init__(self, file: str, *, with_content: bool) -> None:
        """Store the values that all lines share.

        Args:
            file: The file's name as a JSON string.
            with_content: Whether to show keys and values, as UTF-8; otherwise they are null.
        """
        name = file.encode().replace(b"%", b"%%")
        self._front = b'{"kind":"record","file":' + name + b',"offset":%d,"timestamp":%d,"sequence":%d,"key":'
        self._with_content = with_content

    def of(self, batch: LogBatch) -> str | None:
        """Return the lines of a batch's records, or None if they need the record decoder."""
        records = read_plain_records(batch, with_content=self._with_content)
        if records is None or records.has_headers:
            return None
        columns: list[Sequence[int] | list[bytes]] = [records.offsets, records.timestamps, records.sequences]
        key = value = b"null"
        if self._with_content:
            keys, values = printable_text(records.keys), printable_text(records.values)
            if keys is None or values is None or records.has_mixed_nulls:
                return None
            if not records.null_keys:
                key = b'"%b"'
                columns.append(_escaped(records.keys, keys))
            if not records.null_values:
                value = b'"%b"'
                columns.append(_escaped(records.values, values))
        line = self._front + key + b',"value":' + value + b',"headers":[]}\n'
        return json_text(fill_lines(line, columns).decode())


def _escaped(texts: list[bytes], joined: bytes) -> list[bytes]:
    """Return printable texts as they stand between the quotes of JSON strings."""
    if b"\\" in joined:
        texts = [text.replace(b"\\", b"\\\\") for text in texts]
    return [text.replace(b'"', b'\\"') for text in texts] if b'"' in joined else texts


def kafka_lines(records: PlainRecords, time_type: str) -> str | None:
    """Return the lines of Kafka's dump tool, which leaves null out; None if they need the record decoder."""
    if records.has_headers or records.has_mixed_nulls:
        return None
    nulls = [-1] * len(records.offsets)
    key_sizes = nulls if records.null_keys else [len(key) for key in records.keys]
    value_sizes = nulls if records.null_values else [len(value) for value in records.values]
    numbers = records.offsets, records.timestamps, key_sizes, value_sizes, records.sequences
    line = f"| offset: %d {time_type}: %d keySize: %d valueSize: %d sequence: %d headerKeys: []".encode()
    columns: list[Sequence[int] | list[bytes]] = [*numbers]
    if not records.null_keys:
        line += b" key: %b"
        columns.append(records.keys)
    if not records.null_values:
        line += b" payload: %b"
        columns.append(records.values)
    try:
        return fill_lines(line + b"\n", columns).decode()
    except UnicodeDecodeError:  # Malformed bytes are replaced record by record.
        return None
