"""Kafka's dump tool reads every file that the storage package writes, in every codec."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.storage.config import LogConfig
from eosctl.storage.descriptors import Descriptors
from eosctl.storage.names import Suffix
from eosctl.storage.producer_replay import ProducerReplay
from eosctl.storage.producer_snapshot import read_snapshot, write_snapshot
from eosctl.storage.recovery import open_log
from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import (
    BatchHeader,
    decode_header,
    decode_records,
    encode_batch,
    encode_retained,
    with_append_time,
    with_offset,
)
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record
from tests.apache.conftest import KafkaTool

DUMP = {"3.9.2": "kafka.tools.DumpLogSegments", "4.3.1": "org.apache.kafka.tools.DumpLogSegments"}
COMPLAINTS = re.compile(
    r"mismatch|invalid bytes|not found|out of order|exception|corrupt|isvalid: false", re.IGNORECASE
)
START_MS = 1_700_000_000_000


class Written(NamedTuple):
    """A partition directory and what was put into it."""

    directory: Path
    batches: list[tuple[BatchHeader, bytes]]
    aborted: list[AbortedTxn]
    snapshot_offsets: list[int]


def batches() -> list[bytes]:
    """Every kind of batch: codecs, headers, nulls, transactions and their markers, append time, retained batches."""
    found: list[bytes] = []
    for turn in range(4):
        for codec in Compression:
            records = [
                Record(
                    0,
                    START_MS + 1000 * turn + n,
                    None if n % 3 == 0 else b"key-%d" % n,
                    None if n % 5 == 4 else b"value of record %d; " % n * (20 * turn + 1),
                    (("trace", b"t-%d" % n), ("none", None)) if n % 2 else (),
                )
                for n in range(10)
            ]
            options = {"codec": codec, "producer_id": 100 + codec, "producer_epoch": 0, "base_sequence": 10 * turn}
            found.append(encode_batch(records, transactional=True, **options))  # type: ignore[arg-type]
            if codec is not Compression.ZSTD:
                marker = EndTxnMarker(committed=turn % 2 == 0, coordinator_epoch=3)
                found.append(encode_marker_batch(marker, 100 + codec, 0, START_MS + 1000 * turn))
    plain = encode_batch([Record(0, START_MS, b"k", b"append time")])
    found.append(with_append_time(plain, START_MS + 9999))
    sparse = encode_batch([Record(0, START_MS, b"k%d" % n, b"v%d" % n) for n in range(5)], codec=Compression.LZ4)
    header = decode_header(sparse)
    kept = decode_records(sparse, header)[1::2]
    found.append(encode_retained(header, kept))
    found.append(encode_retained(header, kept, delete_horizon_ms=START_MS + 86_400_000))
    found.append(encode_retained(header, []))
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    directory = tmp_path_factory.mktemp("storage") / "orders-0"
    log = open_log(directory, LogConfig(segment_bytes=6000, index_interval_bytes=500), Descriptors(), clean=True).log
    replay = ProducerReplay()
    placed: list[tuple[BatchHeader, bytes]] = []
    aborted: list[AbortedTxn] = []
    snapshots: list[int] = []
    for batch in batches():
        sealed = with_offset(batch, log.log_end_offset, 2)
        header = decode_header(sealed)
        rolled = log.append(sealed, header)
        if rolled is not None:
            write_snapshot(directory, rolled, replay.producers.values())
            snapshots.append(rolled)
        completed = replay.apply(header, sealed)
        if completed is not None and not completed.committed:
            aborted.append(completed.as_aborted())
            log.append_aborted_txn(aborted[-1])
        placed.append((header, sealed))
    write_snapshot(directory, log.log_end_offset, replay.producers.values())
    log.close(clean=True)
    return Written(directory, placed, aborted, snapshots)


def dump(kafka_tool: KafkaTool, version: str, files: list[Path], *options: str) -> list[str]:
    result = kafka_tool(DUMP[version], "--files", ",".join(map(str, files)), *options, version=version)
    assert result.exit_code == 0, result.complaint
    lines = result.stdout.splitlines()
    # Compaction leaves gaps, which the tool also reports on stderr; 4.3 does so for every segment but the first.
    assert not [line for line in lines if COMPLAINTS.search(line)]
    assert not COMPLAINTS.search(result.stderr)
    return lines


def files(written: Written, suffix: Suffix) -> list[Path]:
    found = sorted(written.directory.glob(f"*{suffix}"))
    assert len(found) > 1
    return found


def numbers(line: str) -> list[int]:
    return [int(n) for n in re.findall(r"-?\d+", line)]


@pytest.mark.parametrize("version", DUMP)
def test_logs(written: Written, version: str, kafka_tool: KafkaTool) -> None:
    lines = dump(kafka_tool, version, files(written, Suffix.LOG), "--print-data-log")
    found_batches = [line for line in lines if line.startswith("baseOffset:")]
    found_records = [line for line in lines if line.startswith("| offset:")]
    assert len(found_batches) == len(written.batches)
    for line, (header, _) in zip(found_batches, written.batches, strict=True):
        fields = dict(re.findall(r"(\w+): (\S+)", line))
        assert fields["baseOffset"] == str(header.base_offset)
        assert fields["lastOffset"] == str(header.last_offset)
        assert fields["producerId"] == str(header.producer_id)
        assert fields["compresscodec"].lower() == Compression(header.codec).name.lower()
        assert fields["isvalid"] == "true"
    records = [(header, record) for header, batch in written.batches for record in decode_records(batch, header)]
    assert len(found_records) == len(records)
    for line, (header, record) in zip(found_records, records, strict=True):
        assert line.startswith(f"| offset: {record.offset} ")
        assert f"Time: {record.timestamp} " in line
        if header.is_control:
            assert f"endTxnMarker: {'ABORT' if record.key == bytes(4) else 'COMMIT'} coordinatorEpoch: 3" in line
            continue
        if record.key is not None:
            assert f" key: {record.key.decode()} " in f"{line} "
        if record.value is not None:
            assert line.endswith(f" payload: {record.value.decode()}".rstrip()) or record.value.decode() in line
        header_keys = [key for key, _ in record.headers]
        assert f"headerKeys: [{','.join(header_keys)}]" in line


@pytest.mark.parametrize("version", DUMP)
def test_indexes(written: Written, version: str, kafka_tool: KafkaTool) -> None:
    for suffix in (Suffix.OFFSET_INDEX, Suffix.TIME_INDEX):
        lines = dump(kafka_tool, version, files(written, suffix))
        assert sum(line.startswith(("offset:", "timestamp:")) for line in lines) > len(files(written, suffix))
        sane = dump(kafka_tool, version, files(written, suffix), "--index-sanity-check")
        assert sum("passed sanity check" in line or "is empty" in line for line in sane) == len(files(written, suffix))


@pytest.mark.parametrize("version", DUMP)
def test_transaction_indexes(written: Written, version: str, kafka_tool: KafkaTool) -> None:
    lines = dump(kafka_tool, version, files(written, Suffix.TXN_INDEX))
    found = [numbers(line) for line in lines if line.startswith("version:")]
    assert found == [[0, *txn[:4]] for txn in written.aborted]


@pytest.mark.parametrize("version", DUMP)
def test_producer_snapshots(written: Written, version: str, kafka_tool: KafkaTool) -> None:
    paths = files(written, Suffix.PRODUCER_SNAPSHOT)
    assert [int(path.stem) for path in paths[:-1]] == written.snapshot_offsets
    lines = dump(kafka_tool, version, paths)
    found = [numbers(line)[:2] for line in lines if line.startswith("producerId:")]
    assert found == [[entry.producer_id, entry.producer_epoch] for path in paths for entry in read_snapshot(path)]
