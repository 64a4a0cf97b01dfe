"""Every batch and record of the recorded logs is read as Kafka's own classes read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eosctl.storage.scan import LogBatch, scan_log
from eosctl.wire.records.batch import encode_batch, encode_retained
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.control import EndTxnMarker, decode_control
from tests.storage.cases import FIXTURES, batch_bytes, expected_log, raw

GOLDEN = sorted(FIXTURES.glob("*/golden*/*/*.log.expected.json*"))


def case_name(golden: Path) -> str:
    return f"{golden.parents[2].name}/{golden.parent.name}/{golden.name[:20]}"


def log_of(golden: Path, expected: dict[str, Any]) -> Path:
    root = golden.parent.parent
    return root.parent / root.name.replace("golden", "data") / str(expected["file"])


def test_there_are_recorded_logs_of_every_codec() -> None:
    assert len(GOLDEN) > 150
    codecs = {batch["compression"] for golden in GOLDEN for batch in expected_log(golden)["batches"]}
    assert codecs == {"none", "gzip", "snappy", "lz4", "zstd"}


@pytest.mark.parametrize("golden", GOLDEN, ids=case_name)
def test_log_reads_as_kafka_reads_it(golden: Path) -> None:
    expected = expected_log(golden)
    batches = list(scan_log(log_of(golden, expected)))
    assert len(batches) == len(expected["batches"])
    for batch, wanted in zip(batches, expected["batches"], strict=True):
        assert isinstance(batch, LogBatch)
        assert header_fields(batch) == {name: wanted[name] for name in header_fields(batch)}
        records = batch.records()
        assert [(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in records] == [
            (
                w["offset"],
                w["timestamp"],
                raw(w["key"]),
                raw(w["value"]),
                [(key, raw(value)) for key, value in w.get("headers", [])],
            )
            for w in wanted["records"]
        ]
        for record, w in zip(records, wanted["records"], strict=True):
            if batch.header.is_control:
                marker = decode_control(record)
                assert isinstance(marker, EndTxnMarker)
                assert marker.committed == (w["control"]["type"] == "COMMIT")
                assert marker.coordinator_epoch == w["control"]["coordinatorEpoch"]


def header_fields(batch: LogBatch) -> dict[str, object]:
    header = batch.header
    return {
        "position": batch.position,
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "batchLength": header.batch_length,
        "sizeInBytes": header.size_bytes,
        "partitionLeaderEpoch": header.partition_leader_epoch,
        "magic": header.magic,
        "crc": header.crc,
        "crcValid": batch.crc_valid,
        "attributes": header.attributes,
        "compression": Compression(header.codec).name.lower(),
        "timestampType": "LogAppendTime" if header.is_log_append_time else "CreateTime",
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.delete_horizon_ms,
        "lastOffsetDelta": header.last_offset_delta,
        "baseTimestamp": header.base_timestamp,
        "maxTimestamp": header.max_timestamp,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "recordsCount": header.records_count,
    }


@pytest.mark.parametrize("golden", GOLDEN, ids=case_name)
def test_uncompressed_batches_are_written_as_kafka_wrote_them(golden: Path) -> None:
    for batch in scan_log(log_of(golden, expected_log(golden))):
        assert isinstance(batch, LogBatch)
        header, records = batch.header, batch.records()
        if header.codec or header.is_log_append_time:  # there the records' own timestamps cannot be read back
            continue
        assert encode_retained(header, records) == batch_bytes(batch)
        if len(records) == header.last_offset_delta + 1 and not header.has_delete_horizon:
            assert encode_batch(
                records,
                base_offset=header.base_offset,
                partition_leader_epoch=header.partition_leader_epoch,
                producer_id=header.producer_id,
                producer_epoch=header.producer_epoch,
                base_sequence=header.base_sequence,
                transactional=header.is_transactional,
                control=header.is_control,
                base_timestamp=header.base_timestamp,
            ) == batch_bytes(batch)
