"""Batches and records of a log, one line each: for people, as JSON, or separated by tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from eosctl.analysis.decode.batch_state import control_name, state_of
from eosctl.analysis.decode.writers import LogWriter
from eosctl.render.decode.fields import CODECS, bytes_writer, cell, cell_writer, tsv_cell, when
from eosctl.render.decode.formats import BytesForm, DecodeFormat
from eosctl.render.decode.plain_records import PlainLines
from eosctl.render.decode.record_lines import JsonRecordLines, TableRecordLines, TsvRecordLines
from eosctl.render.escaping import json_text, utf8_text, visible, without_formula
from eosctl.storage.scan import LogBatch, LogRun
from eosctl.wire.errors import WireError
from eosctl.wire.records.control import EndTxnMarker, OtherControl, decode_control
from eosctl.wire.records.header import CODEC_MASK, CONTROL, LOG_OVERHEAD_BYTES, BatchHeader
from eosctl.wire.records.record import Record

#: Maximum number of cached lines without their numbers: one for each producer and leader epoch.
_MOST_LINES: Final = 4_096
_MAX_SEQUENCE: Final = 0x7FFF_FFFF


def shown_content(keys: BytesForm, values: BytesForm) -> bool | None:
    """Return whether plain records are shown with their content, or None if only their decoder knows the forms."""
    return keys is BytesForm.UTF8 if keys is values and keys in (BytesForm.UTF8, BytesForm.NONE) else None


def _control(header: BatchHeader, record: Record) -> EndTxnMarker | OtherControl | None:
    if not header.is_control:
        return None
    try:
        return decode_control(record)
    except WireError:
        return None


def _sequence(header: BatchHeader, record: Record) -> int:
    if header.base_sequence < 0 or header.is_control:
        return -1
    return (header.base_sequence + record.offset - header.base_offset) & _MAX_SEQUENCE


class JsonLogWriter:
    """One JSON object per line: `kind` is batch, record, or damage."""

    def __init__(self, keys: BytesForm, values: BytesForm) -> None:
        """Choose the form of keys and values."""
        self._key, self._value = bytes_writer(keys), bytes_writer(values)
        self._encode = msgspec.json.Encoder().encode
        self._forms = keys, values
        self._plain: PlainLines | None = None
        self._file = ""

    def head(self) -> str:
        """Return an empty head: nothing precedes the first object."""
        return ""

    def start(self, file: str, base_offset: int) -> str:
        """Note the file, which every line names."""
        self._file = utf8_text(file)
        with_content = shown_content(*self._forms)
        if with_content is not None:
            name = self._encode(self._file).decode()
            self._plain = PlainLines(JsonRecordLines(name, with_content=with_content).of)
        return ""

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return a batch with every field of its header."""
        header = batch.header
        fields = {
            "kind": "batch",
            "file": self._file,
            "position": batch.position,
            "base_offset": header.base_offset,
            "last_offset": header.last_offset,
            "records_count": header.records_count,
            "size_bytes": header.size_bytes,
            "magic": header.magic,
            "compression": CODECS[header.codec],
            "crc": header.crc,
            "crc_valid": batch.crc_valid,
            "attributes": header.attributes,
            "partition_leader_epoch": header.partition_leader_epoch,
            "is_transactional": header.is_transactional,
            "is_control": header.is_control,
            "state": state,
            "producer_id": header.producer_id,
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "last_sequence": header.last_sequence,
            "timestamp_type": "LogAppendTime" if header.is_log_append_time else "CreateTime",
            "base_timestamp": header.base_timestamp,
            "max_timestamp": header.max_timestamp,
            "delete_horizon_ms": header.delete_horizon_ms,
        }
        return json_text(self._encode(fields).decode()) + "\n"

    def run(self, run: LogRun) -> str:
        """Return the lines of several batches."""
        return "".join([self.batch(batch, state_of(batch)) for batch in run.batches()])

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of plain records."""
        return None if self._plain is None else self._plain.of(batch)

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the records; those of control batches have a type."""
        key, value, encode, header = self._key, self._value, self._encode, batch.header
        is_control = header.is_control
        lines = []
        for record in records:
            fields: dict[str, Any] = {
                "kind": "record",
                "file": self._file,
                "offset": record.offset,
                "timestamp": record.timestamp,
                "sequence": _sequence(header, record),
                "key": key(record.key),
                "value": value(record.value),
                "headers": [[name, value(content)] for name, content in record.headers],
            }
            control = _control(header, record) if is_control else None
            if control is not None:
                fields["control"] = control_name(control)
                if isinstance(control, EndTxnMarker):
                    fields["coordinator_epoch"] = control.coordinator_epoch
            lines.append(encode(fields).decode())
        return json_text("".join([line + "\n" for line in lines]))

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Return damage as a separate object."""
        fields = {
            "kind": "damage",
            "file": utf8_text(file),
            "position": position,
            "damage": kind,
            "message": utf8_text(what),
            "resumes_at": resumes_at,
        }
        return json_text(self._encode(fields).decode()) + "\n"


_COLUMNS: Final = (
    ("POSITION", 11),
    ("OFFSETS", 21),
    ("RECORDS", 7),
    ("BYTES", 9),
    ("MAX-TIMESTAMP", 24),
    ("CODEC", 6),
    ("PRODUCER", 10),
    ("EPOCH", 5),
    ("SEQUENCE", 13),
    ("LEADER-EPOCH", 12),
    ("STATE", 13),
)


class TableLogWriter:
    """Lines with columns of fixed widths, because no line is held back to measure it."""

    def __init__(self, keys: BytesForm, values: BytesForm) -> None:
        """Choose the form of keys and values."""
        self._key, self._value, self._header_value = cell_writer(keys), cell_writer(values), bytes_writer(values)
        with_content = shown_content(keys, values)
        self._plain = None if with_content is None else PlainLines(TableRecordLines(with_content=with_content).of)

    def head(self) -> str:
        """Return the header of the columns."""
        return "  ".join(f"{name:<{width}}" for name, width in _COLUMNS).rstrip() + "\n"

    def start(self, file: str, base_offset: int) -> str:
        """Name the file."""
        return f"# {visible(file)}\n"

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return a batch's line; a wrong checksum follows its state."""
        h = batch.header
        offsets = f"{h.base_offset}-{h.last_offset}"
        sequence = f"{h.base_sequence}-{h.last_sequence}" if h.base_sequence >= 0 else "-"
        producer, epoch = (h.producer_id, h.producer_epoch) if h.producer_id >= 0 else ("-", "-")
        crc = "" if batch.crc_valid else " CRC-WRONG"
        return (
            f"{batch.position:<11}  {offsets:<21}  {h.records_count:<7}  {h.size_bytes:<9}  "
            f"{when(h.max_timestamp):<24}  {CODECS[h.attributes & 7]:<6}  {producer:<10}  {epoch:<5}  {sequence:<13}  "
            f"{h.partition_leader_epoch:<12}  {state}{crc}\n"
        )

    def run(self, run: LogRun) -> str:
        """Return the lines of several batches."""
        return "".join([self.batch(batch, state_of(batch)) for batch in run.batches()])

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of plain records."""
        return None if self._plain is None else self._plain.of(batch)

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the records, each after a bar."""
        key, value, is_control = self._key, self._value, batch.header.is_control
        lines: list[str] = []
        written, time = None, ""
        for record in records:
            offset, timestamp, name, payload, headers = record
            control = _control(batch.header, record) if is_control else None
            if isinstance(control, EndTxnMarker):
                content = f"{control_name(control)} by coordinator epoch {control.coordinator_epoch}"
            elif control is not None:
                content = control_name(control)
            else:
                content = f"{key(name)}  {value(payload)}"
                if headers:
                    content += "  " + cell([[header, self._header_value(data)] for header, data in headers])
            if timestamp != written:  # The records of one call share it.
                written, time = timestamp, f"{when(timestamp):<24}"
            lines.append(f"  | {offset:<19}  {time}  {content}\n")
        return "".join(lines)

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Return damage as a line between the batches."""
        return f"{position:<11}  {kind}: {visible(what)}\n"


class TsvLogWriter:
    """One batch, record, or damage per line; the first cell names the kind; no header, and a fixed order of cells."""

    def __init__(self, keys: BytesForm, values: BytesForm) -> None:
        """Choose the form of keys and values."""
        self._key, self._value = _without_formulas(cell_writer(keys)), _without_formulas(cell_writer(values))
        self._with_content = shown_content(keys, values)
        self._plain: PlainLines | None = None
        self._lines: dict[tuple[int, int, int, int], str] = {}
        self._file = ""

    def head(self) -> str:
        """Tab-separated lines have no header."""
        return ""

    def start(self, file: str, base_offset: int) -> str:
        """Note the file, which every line names."""
        self._file = tsv_cell(file)
        self._lines = {}
        if self._with_content is not None:
            self._plain = PlainLines(TsvRecordLines(self._file, with_content=self._with_content).of)
        return ""

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return a batch's line."""
        h = batch.header
        return (
            f"batch\t{self._file}\t{batch.position}\t{h.base_offset}\t{h.last_offset}\t{h.records_count}\t{h.size_bytes}\t"
            f"{h.max_timestamp}\t{CODECS[h.attributes & CODEC_MASK]}\t{h.producer_id}\t{h.producer_epoch}\t"
            f"{h.base_sequence}\t{h.last_sequence}\t{h.partition_leader_epoch}\t{state}\t{batch.crc_valid}\n"
        )

    def run(self, run: LogRun) -> str:
        """Return the lines of several batches, written in one call."""
        lines: list[str] = []
        cells: list[int] = []
        position, known = run.position, self._lines
        for fields in run.headers:
            offset, length, leader, _, _, attributes, delta, _, latest, producer, epoch, sequence, count = fields
            line = known.get((attributes, producer, epoch, leader))
            if line is None:
                line = self._line_of(run, position, fields)
            lines.append(line)
            last_sequence = -1 if sequence < 0 else (sequence + delta) & _MAX_SEQUENCE
            size = length + LOG_OVERHEAD_BYTES
            cells += (position, offset, offset + delta, count, size, latest, sequence, last_sequence)
            position += size
        return "".join(lines) % tuple(cells)

    def _line_of(self, run: LogRun, position: int, fields: tuple[int, ...]) -> str:
        """Return a batch's line without its numbers; it is cached unless it shows the content of a marker."""
        batch = run.batch(position, fields)
        h = batch.header
        line = (
            "batch\t" + self._file.replace("%", "%%") + "\t%d" * 6 + f"\t{CODECS[h.attributes & CODEC_MASK]}"
            f"\t{h.producer_id}\t{h.producer_epoch}\t%d\t%d\t{h.partition_leader_epoch}\t{state_of(batch)}\tTrue\n"
        )
        if not h.is_control:
            if len(self._lines) >= _MOST_LINES:
                self._lines.clear()
            self._lines[h.attributes, h.producer_id, h.producer_epoch, h.partition_leader_epoch] = line
        return line

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of plain records."""
        return None if self._plain is None else self._plain.of(batch)

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the records' lines."""
        key, value, header = self._key, self._value, batch.header
        if not header.attributes & CONTROL:
            first = header.base_sequence - header.base_offset
            ordered, front = header.base_sequence >= 0, f"record\t{self._file}\t"
            if self._with_content is False:
                return "".join(
                    [
                        f"{front}{offset}\t{timestamp}\t{(first + offset) & _MAX_SEQUENCE if ordered else -1}\t-\t-\n"
                        for offset, timestamp, _, _, _ in records
                    ]
                )
            return "".join(
                [
                    f"{front}{offset}\t{timestamp}\t{(first + offset) & _MAX_SEQUENCE if ordered else -1}\t"
                    f"{key(name)}\t{value(content)}\n"
                    for offset, timestamp, name, content, _ in records
                ]
            )
        lines = []
        for record in records:
            control = _control(header, record)
            if control is not None:
                content = f"{control_name(control)}\t-"
            else:
                content = f"{key(record.key)}\t{value(record.value)}"
            sequence = _sequence(header, record)
            lines.append(f"record\t{self._file}\t{record.offset}\t{record.timestamp}\t{sequence}\t{content}\n")
        return "".join(lines)

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Return the line of a damage."""
        return f"damage\t{tsv_cell(file)}\t{position}\t{kind}\t{tsv_cell(what)}\n"


def _without_formulas(write: Callable[[bytes | None], str]) -> Callable[[bytes | None], str]:
    return lambda data: without_formula(write(data))


def log_writer(form: DecodeFormat, keys: BytesForm, values: BytesForm) -> LogWriter:
    """Return the writer of a format other than Kafka's own."""
    if form is DecodeFormat.JSON:
        return JsonLogWriter(keys, values)
    return TsvLogWriter(keys, values) if form is DecodeFormat.TSV else TableLogWriter(keys, values)
