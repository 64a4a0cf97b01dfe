"""The text of Kafka's dump tool (DumpLogSegments), byte for byte, for scripts that read it.

Two dialects: Kafka 4.3, and 3.9 with the older text of the transaction log and fewer remarks about gaps.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from eosctl.analysis.decode.batch_state import control_name
from eosctl.model.transaction import TopicPartition
from eosctl.render.decode.fields import CODECS
from eosctl.render.decode.formats import KafkaDialect
from eosctl.render.decode.meaning import TOPICS, read_key, read_value, state_name, with_consumer_protocol
from eosctl.render.decode.plain_records import PlainLines, read_plain_records
from eosctl.render.decode.record_lines import kafka_lines
from eosctl.render.escaping import visible
from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.internal.partitioner import java_hash_code
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record

TOMBSTONE: Final = "<DELETE>"


class KafkaLogWriter:
    """Prints logs as `kafka-dump-log.sh --deep-iteration --print-data-log` does.

    Remarks that Kafka's tool writes to standard error are collected in `remarks`, for the caller to write there.
    """

    def __init__(self, dialect: KafkaDialect, topic: str | None = None) -> None:
        """Choose the dialect, and the decoder of an internal topic's records."""
        self.remarks: list[str] = []
        self._dialect, self._topic = dialect, topic
        self._file = ""
        self._last_offset = -1
        self._gaps: list[tuple[int, int]] = []
        self._plain = PlainLines(self._plain_lines) if topic is None else None

    def start(self, file: str, base_offset: int) -> str:
        """Name the file and its first offset."""
        self._file, self._last_offset, self._gaps = file, -1, []
        return f"Dumping {visible(file)}\nLog starting offset: {base_offset}\n"

    def batch(self, batch: LogBatch, state: str) -> str:
        """Return the line of a batch."""
        h = batch.header
        front = (
            f"baseOffset: {h.base_offset} lastOffset: {h.last_offset} count: {h.records_count} "
            f"baseSequence: {h.base_sequence} lastSequence: {h.last_sequence} producerId: {h.producer_id} "
            f"producerEpoch: {h.producer_epoch} partitionLeaderEpoch: {h.partition_leader_epoch} "
            f"isTransactional: {_bool(h.is_transactional)} isControl: {_bool(h.is_control)} "
            f"deleteHorizonMs: {_optional(h.delete_horizon_ms)} "
            if h.magic >= 2
            else f"offset: {h.last_offset} "
        )
        return (
            f"{front}position: {batch.position} {_time_type(h)}: {h.max_timestamp} size: {h.size_bytes} "
            f"magic: {h.magic} compresscodec: {CODECS[h.codec]} crc: {h.crc} isvalid: {_bool(batch.crc_valid)}\n"
        )

    def record_lines(self, batch: LogBatch) -> str | None:
        """Return the lines of plain records of a topic that is not internal."""
        return None if self._plain is None else self._plain.of(batch)

    def _plain_lines(self, batch: LogBatch) -> str | None:
        records = read_plain_records(batch, with_content=True)
        lines = None if records is None else kafka_lines(records, _time_type(batch.header))
        if records is not None and lines is not None:
            offsets = records.offsets
            for offset in offsets[:1] if isinstance(offsets, range) else offsets:
                self._note_offset(offset)
            self._last_offset = offsets[-1]
        return lines

    def records(self, batch: LogBatch, records: Iterable[Record]) -> str:
        """Return the lines of a batch's records, and note where their offsets leave one out."""
        lines = []
        for record in records:
            self._note_offset(record.offset)
            lines.append(self._record(batch.header, record) + "\n")
        return "".join(lines)

    def _note_offset(self, offset: int) -> None:
        gap_at_start = self._last_offset == -1 and self._dialect is KafkaDialect.KAFKA_3_9
        if not gap_at_start and offset != self._last_offset + 1:
            self._gaps.append((self._last_offset, offset))
        self._last_offset = offset

    def _record(self, header: BatchHeader, record: Record) -> str:
        key_size = -1 if record.key is None else len(record.key)
        value_size = -1 if record.value is None else len(record.value)
        line = f"| offset: {record.offset} {_time_type(header)}: {record.timestamp} keySize: {key_size} "
        line += f"valueSize: {value_size}"
        if header.magic >= 2:
            in_order = header.base_sequence >= 0
            sequence = (header.base_sequence + record.offset - header.base_offset) & 0x7FFF_FFFF if in_order else -1
            line += f" sequence: {sequence} headerKeys: [{','.join(name for name, _ in record.headers)}]"
        else:
            line += f" isValid: true crc: {header.crc}}}"
        if header.is_control:
            return line + _control_text(record)
        key, payload = self._content(record)
        line += "" if key is None else f" key: {key}"
        return line + ("" if payload is None else f" payload: {payload}")

    def _content(self, record: Record) -> tuple[str | None, str | None]:
        if self._topic is None:
            return _text(record.key), _text(record.value)
        try:
            if self._topic == "transaction_state" and self._dialect is KafkaDialect.KAFKA_3_9:
                return _old_transaction_text(record)
            return _json_text(self._topic, record)
        except UnknownRecordError:
            what = int.from_bytes((record.key or b"")[:2], "big", signed=True)
            return f"Unknown record type {what} at offset {record.offset}, skipping.", None
        except WireError as error:
            return f"Error at offset {record.offset}, skipping. {error.what}", None

    def damage(self, file: str, position: int, kind: str, what: str, resumes_at: int | None) -> str:
        """Kafka's tool prints nothing in between; what it cannot read shows in our own messages."""
        return ""

    def end(self, invalid_bytes: int, name: str) -> str:
        """Return what stands behind a file's batches.

        Args:
            invalid_bytes: Bytes behind the last batch.
            name: The file's name without its directory.
        """
        if self._gaps:
            self.remarks.append(f"Non-consecutive offsets in {self._file}\n")
            gaps = reversed(self._gaps) if self._dialect is KafkaDialect.KAFKA_3_9 else self._gaps
            self.remarks += [f"  {before} is followed by {after}\n" for before, after in gaps]
        return f"Found {invalid_bytes} invalid bytes at the end of {visible(name)}\n" if invalid_bytes else ""


def dump_writer(dialect: KafkaDialect) -> Callable[[str], KafkaLogWriter]:
    """Return what makes the writer of a log, by the topic that its records are of."""
    return lambda topic: KafkaLogWriter(dialect, TOPICS.get(topic))


def _control_text(record: Record) -> str:
    try:
        control = decode_control(record)
    except WireError as error:
        return f" {error.what}"
    if isinstance(control, EndTxnMarker):
        return f" endTxnMarker: {control_name(control)} coordinatorEpoch: {control.coordinator_epoch}"
    return f" controlType: {control_name(control)}({control.type})"


def _json_text(topic: str, record: Record) -> tuple[str, str]:
    record_type, key, key_form = read_key(topic, record.key or b"")
    key_text = _json({"type": str(record_type), "data": key_form})
    if record.value is None:
        return key_text, TOMBSTONE
    version, value, form = read_value(topic, key, record.value)
    if type(value).__name__ == "GroupMetadataValue":
        form = {**form, "members": with_consumer_protocol(value, form)}
    return key_text, _json({"version": str(version), "data": form})


def _old_transaction_text(record: Record) -> tuple[str, str]:
    try:
        _, key, _ = read_key("transaction_state", record.key or b"")
    except UnknownRecordError as error:
        return f"unknown::{error.what}", ""
    key_text = f"transaction_metadata::transactionalId={key.transactional_id}"
    if record.value is None:
        return key_text, TOMBSTONE
    _, value, _ = read_value("transaction_state", key, record.value)
    partitions = in_set_order(
        TopicPartition(entry.topic, partition)
        for entry in value.transaction_partitions or ()
        for partition in entry.partition_ids
    )
    return key_text, (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},"
        f"state={state_name(value.transaction_status)},partitions=[{','.join(map(str, partitions))}],"
        f"txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms},"
        f"txnTimeoutMs={value.transaction_timeout_ms}"
    )


def in_set_order(partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Order partitions as a hash set of Scala 2.13 iterates over them: Kafka 3.9 prints them from one.

    Buckets in turn, within a bucket by hash; the table doubles when it is three quarters full.
    """
    chosen = set(partitions)
    buckets = 16
    while len(chosen) >= buckets * 3 // 4:
        buckets *= 2

    def place(partition: TopicPartition) -> tuple[int, int]:
        code = (31 * (31 + partition.partition) + java_hash_code(partition.topic)) & 0xFFFF_FFFF
        improved = code ^ code >> 16
        signed = improved - (1 << 32) if improved & 0x8000_0000 else improved
        return improved & (buckets - 1), signed

    return sorted(chosen, key=place)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", _JAVA_REPLACEMENT)


_JAVA_REPLACEMENT: Final = "eosctl.java-replacement"


def _replace_as_java(error: UnicodeError) -> tuple[str, int]:
    """Replace malformed bytes as Java does: one character for a whole surrogate, where Python writes three."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start, end = error.object, error.start, error.end
    if data[start] == 0xED and 0xA0 <= data[start + 1 : start + 2].ljust(1, b"\0")[0] <= 0xBF:
        end = start + 2 + (data[start + 2 : start + 3].ljust(1, b"\0")[0] & 0xC0 == 0x80)
    return "\ufffd", end


codecs.register_error(_JAVA_REPLACEMENT, _replace_as_java)


def _time_type(header: BatchHeader) -> str:
    if header.magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if header.is_log_append_time else "CreateTime"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
