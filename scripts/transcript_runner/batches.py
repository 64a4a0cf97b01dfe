"""Record batches in a readable form: with errors for requests, decoded for responses."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import google_crc32c

from eosctl.wire.records.batch import decode_records, iter_headers
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.header import BatchHeader
from eosctl.wire.records.record import Record, encode_record

_MARKER_KINDS = {"ABORT": 0, "COMMIT": 1}
_SHOWN_CHARACTERS = 80


def encode_batches(value: Any, now_ms: int) -> bytes:
    """Encode a readable batch, a list of them, or bytes given as hex."""
    if isinstance(value, str):
        return bytes.fromhex(value)
    given = value if isinstance(value, list) else [value]
    return b"".join(_encode(batch, now_ms) for batch in given)


def _encode(batch: dict[str, Any], now_ms: int) -> bytes:
    if "hex" in batch:
        return bytes.fromhex(batch["hex"])
    base_timestamp = batch.get("baseTimestamp", now_ms)
    pairs = _pairs(batch)
    deltas = batch.get("timestampDeltas", [0] * len(pairs))
    section = b"".join(
        encode_record(Record(0, 0, key, value), index, deltas[index]) for index, (key, value) in enumerate(pairs)
    )
    codec = Compression[batch.get("codec", "none").upper()]
    if codec is Compression.GZIP:
        section = gzip.compress(section, mtime=0)
    if "body" in batch:
        section = bytes.fromhex(batch["body"])
    attributes = codec | (16 if batch.get("transactional") else 0) | (32 if batch.get("control") else 0)
    checked = (
        struct.pack(
            ">hiqqqhii",
            attributes,
            batch.get("lastOffsetDelta", len(pairs) - 1),
            base_timestamp,
            base_timestamp + max(deltas, default=0),
            batch.get("producerId", -1),
            batch.get("producerEpoch", -1),
            batch.get("baseSequence", -1),
            batch.get("recordsCount", len(pairs)),
        )
        + section
    )
    crc = google_crc32c.value(checked) ^ (1 if batch.get("crc") == "bad" else 0)
    front = struct.pack(">qiibI", batch.get("baseOffset", 0), 9 + len(checked), -1, batch.get("magic", 2), crc)
    data = front + checked
    return data[: len(data) - batch["truncate"]] if "truncate" in batch else data


def _pairs(batch: dict[str, Any]) -> list[tuple[bytes | None, bytes | None]]:
    if "control" in batch:
        return [(struct.pack(">hh", 0, _MARKER_KINDS[batch["control"]]), struct.pack(">hi", 0, 0))]
    values = ["x" * batch["pad"]] if "pad" in batch else batch.get("values", ["v"])
    keys = batch.get("keys", [None] * len(values))
    return [
        (None if key is None else str(key).encode(), None if value is None else str(value).encode())
        for key, value in zip(keys, values, strict=True)
    ]


def describe_batches(data: bytes) -> list[dict[str, Any]]:
    """Describe every whole batch."""
    return [_describe(header, data[position : position + header.size_bytes]) for position, header in iter_headers(data)]


def _describe(header: BatchHeader, batch: bytes) -> dict[str, Any]:
    shown: dict[str, Any] = {"baseOffset": header.base_offset}
    if header.magic != 2:
        return shown | {"magic": header.magic}
    shown |= {
        "lastOffset": header.last_offset,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "maxTimestamp": header.max_timestamp,
    }
    if header.producer_id >= 0:
        shown |= {
            "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch,
            "baseSequence": header.base_sequence,
        }
    if header.is_transactional:
        shown["transactional"] = True
    if header.codec:
        shown["codec"] = Compression(header.codec).name.lower()
    if header.is_log_append_time:
        shown["timestampType"] = "LogAppendTime"
    records = decode_records(batch, header)
    if header.is_control:
        marker = decode_control(records[0])
        if isinstance(marker, EndTxnMarker):
            shown["control"] = "COMMIT" if marker.committed else "ABORT"
            shown["coordinatorEpoch"] = marker.coordinator_epoch
        return shown
    if any(record.key is not None for record in records):
        shown["keys"] = [_text(record.key) for record in records]
    shown["values"] = [_shorten(_text(record.value)) for record in records]
    return shown


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def _shorten(text: str | None) -> str | None:
    if text is None or len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:8]}... ({len(text)} bytes)"
