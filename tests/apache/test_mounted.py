"""A real broker comes up on a sandbox's data directory, and a sandbox on a real broker's; both compact it alike."""

from __future__ import annotations

import random
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from msgspec.structs import replace

from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.log.cleaning.cleaner import LogCleaning
from eosctl.sandbox.log.cleaning.plan import plan_cleaning
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.ticks import Ticks
from eosctl.storage.checkpoints import read_offset_checkpoint
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.storage.names import CLEANER_CHECKPOINT, PARTITION_METADATA, Suffix
from eosctl.storage.partition_metadata import read_partition_metadata
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.storage.txn_index import decode_aborted_txns
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.records.batch import decode_records, encode_batch, iter_headers
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.apache.conftest import KafkaTool
from tests.sandbox.eos_client import EosClient, Handle
from tests.sandbox.harness import Harness

pytestmark = pytest.mark.apache

FEW = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "1", "log.cleaner.enable": "false"}
ORDERS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
TABLE = TopicPartition("table", 0)
#: 4.x refuses small segments: there they are closed by age. 3.9 joins them up to their size as well.
ROLLING = {"3.9.2": {"segment_bytes": "1200"}, "4.3.1": {"segment_ms": "1000"}}
TABLE_CONFIG = {"cleanup_policy": "compact", "min_cleanable_dirty_ratio": "0.01"}
PATIENCE_S = 120


def sandbox(folder: Path, version: str) -> tuple[Harness, EosClient]:
    """Start a sandbox of one combined node on a folder, at today's date, since real brokers delete old data."""
    shape = ClusterShape(1, Emulation(version[:3]), None, FEW, fast=True)
    harness = Harness(folder, shape, start_ms=int(time.time() * 1000) - 600_000)
    return harness, EosClient(harness, implicit=version.startswith("4"))


def send(client: EosClient, handle: Handle | None, records: list[Record], codec: Compression) -> None:
    """Append one batch to the table."""
    if handle is not None and not client.implicit and TABLE not in handle.added:
        assert not client.add_partition(handle, TABLE)
    batch = encode_batch(
        records,
        codec=codec,
        producer_id=handle.producer_id if handle else -1,
        producer_epoch=handle.producer_epoch if handle else -1,
        base_sequence=handle.sequences.get(TABLE, 0) if handle else -1,
        transactional=handle is not None,
    )
    answer = client.append(TABLE, batch, handle.transactional_id if handle else None)
    assert answer is not None and answer.error_code == 0, answer
    if handle is not None:
        handle.sequences[TABLE] = handle.sequences.get(TABLE, 0) + len(records)
        handle.added.add(TABLE)


def write_history(client: EosClient, rng: random.Random, count: int) -> None:
    """Append committed, aborted and plain records of few keys, with tombstones, in every codec."""
    producers = [client.init(name) for name in ("first", "second", "third")]
    begun: set[int] = set()
    for _ in range(count):
        client.harness.advance(rng.randrange(300))
        chosen = rng.randrange(5)
        handle = producers[chosen] if chosen < 3 else None
        now_ms = client.harness.core.brokers()[0].runtime.now_ms()
        records = [
            Record(0, now_ms, b"key-%d" % rng.randrange(12), rng.choice([None, b"x" * rng.randrange(90), b"y"]))
            for _ in range(rng.randrange(1, 4))
        ]
        send(client, handle, records, rng.choice(list(Compression)))
        if handle is not None:
            begun.add(chosen)
        for index in tuple(begun):
            if rng.random() < 0.4:
                begun.discard(index)
                assert not client.end(producers[index], commit=rng.random() < 0.6)
    for index in begun:
        assert not client.end(producers[index], commit=True)
    now_ms = client.harness.core.brokers()[0].runtime.now_ms()
    for number in range(12):  # a few segments that no transaction holds back
        client.harness.advance(1100)
        send(client, None, [Record(0, now_ms + number, b"last", b"z" * 400)], Compression.NONE)


@contextmanager
def real_broker(version: str, home: Path, data: Path) -> Iterator[KafkaNode]:
    """Run a real combined broker on a copy of a data directory."""
    try:
        runtime = prepare_runtime(resolve_release(version))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    address = NodeAddress(1, *free_ports(2, random.Random()))
    node = KafkaNode(runtime, address, home, heap_bytes=400 << 20, jvm_options=())
    shutil.copytree(data, node.files.data_dir)
    node.files.log_dir.mkdir(parents=True)
    settings = node_settings(
        address,
        [address],
        node.files.data_dir,
        {"log.cleaner.backoff.ms": "200", "metadata.log.max.record.bytes.between.snapshots": "1"},
    )
    node.files.settings.write_text(render_properties(settings))
    try:
        node.start()
        node.wait_ready(1, time.monotonic() + PATIENCE_S, threading.Event())
        yield node
    finally:
        node.end(signal.SIGTERM)


def wait(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.1)


def consume(bootstrap: str, partition: TopicPartition) -> list[str]:
    """Read a partition to its end, committed records only."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    found: list[str] = []

    def reached_end() -> bool:
        message: Message | None = consumer.poll(0.2)
        if message is None:
            return False
        if message.error():
            return True
        found.append((message.value() or b"").decode())
        return False

    try:
        consumer.assign([Place(partition.topic, partition.partition, -2)])
        wait(reached_end, f"the end of {partition}")
    finally:
        consumer.close()
    return found


def content(directory: Path) -> dict[str, list[Any]]:
    """What a partition's live segments hold; delete horizons are times of their own and count only as there."""
    found: dict[str, list[Any]] = {}
    for path in sorted(directory.glob(f"*{Suffix.LOG}")):
        batches: list[Any] = []
        for fact in scan_log(path):
            assert isinstance(fact, LogBatch) and fact.crc_valid, fact
            header = fact.header
            records = decode_records(fact.buffer, header, fact.buffer_position)
            base_timestamp = None if header.has_delete_horizon or not records else header.base_timestamp
            batches.append((replace(header, batch_length=0, crc=0, base_timestamp=0), base_timestamp, records))
        index = path.with_suffix(Suffix.TXN_INDEX)
        found[path.name] = [batches, decode_aborted_txns(index.read_bytes()) if index.exists() else []]
    return found


class NoLoop:
    """Nothing is scheduled: the log is cleaned by hand."""

    def call_soon(self, *_: Any) -> None: ...


def clean_ours(data: Path, version: str) -> tuple[Path, int]:
    """Clean the table in a copy of a data directory; returns its directory and up to where it is clean."""
    logs = LogDirectory(data, Ticks(NoLoop()))  # type: ignore[arg-type]
    meta = read_meta_properties(data)
    logs.open_directory(meta.node_id, meta.cluster_id, bytes(16))
    directory = data / "table-0"
    settings = TopicSettings(is_compacted=True, is_deleted=False, segment_ms=1000)
    if version.startswith("3"):
        settings = TopicSettings(is_compacted=True, is_deleted=False, segment_bytes=1200)
    log = logs.open(TABLE, read_partition_metadata(directory / PARTITION_METADATA), settings)
    log.advance_high_watermark(log.end_offset)
    now_ms = int(time.time() * 1000)
    plan = plan_cleaning(log, now_ms)
    assert plan is not None and plan.needs_cleaning(0.01)
    cleaning = LogCleaning(log, plan, now_ms, 1_000_000)
    for _ in cleaning.steps():
        pass
    logs.close(clean=False)
    return directory, cleaning.end_offset


def compare_cleaned(node: KafkaNode, data: Path, ours: Path, version: str) -> Path:
    """Let both brokers compact the same files; return the sandbox's directory."""
    shutil.copytree(data, ours)
    before = content(ours / "table-0")
    directory, end_offset = clean_ours(ours, version)
    checkpoint = node.files.data_dir / CLEANER_CHECKPOINT
    wait(
        lambda: checkpoint.exists() and read_offset_checkpoint(checkpoint).get(TABLE, 0) >= end_offset,
        "the real broker compacts the table",
    )
    assert read_offset_checkpoint(checkpoint)[TABLE] == end_offset
    assert content(directory) == content(node.files.data_dir / "table-0")
    assert content(directory) != before
    return directory


def cut_metadata_log(directory: Path) -> None:
    """Remove what the newest snapshot of a metadata log stands for, as Kafka does when the log has grown large."""
    snapshot_end = max(int(path.name[:20]) for path in directory.glob("*.checkpoint"))
    (log,) = directory.glob("*.log")
    data = log.read_bytes()
    start = next((position for position, header in iter_headers(data) if header.base_offset >= snapshot_end), len(data))
    assert start > 0
    for path in (*directory.glob("*index"), log):
        path.unlink()
    (directory / f"{snapshot_end:020d}.log").write_bytes(data[start:])


@pytest.mark.parametrize(("version", "is_clean"), [("3.9.2", False), ("4.3.1", True)])
def test_both_come_up_on_the_others_files(tmp_path: Path, kafka_tool: KafkaTool, version: str, is_clean: bool) -> None:
    harness, client = sandbox(tmp_path / "sandbox", version)
    client.create_topic("orders", 2, 1, retention_ms="86400001")
    client.create_topic("table", 1, 1, **TABLE_CONFIG, **ROLLING[version])
    producer = client.init("app")
    for number in range(20):
        assert not client.produce(producer, ORDERS[number % 2], [f"order {number}"])
        assert not client.end(producer, commit=number % 3 > 0)
    deletion = DeleteRecordsRequest([DeleteRecordsTopic("orders", [DeleteRecordsPartition(1, 5)])], 5000)
    assert not harness.request(1, ApiKey.DELETE_RECORDS, 2, deletion).topics[0].partitions[0].error_code
    client.coordinator_of_group("billing")
    commit = OffsetCommitRequest(
        "billing", topics=[OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 6)])]
    )
    assert not harness.request(1, ApiKey.OFFSET_COMMIT, 7, commit).topics[0].partitions[0].error_code
    write_history(client, random.Random(7), 60)
    harness.advance(120_000)  # every checkpoint was written
    expected = [client.read(partition, start=start) for partition, start in zip(ORDERS, (0, 5), strict=True)]
    assert all(expected)
    if is_clean:
        harness.close()
    else:
        harness.kill(1)
    left = tmp_path / "sandbox" / "broker-1"

    with real_broker(version, tmp_path / "first", left) as node:
        bootstrap = f"{HOST}:{node.address.port}"
        assert [consume(bootstrap, partition) for partition in ORDERS] == expected
        billing = Consumer({"bootstrap.servers": bootstrap, "group.id": "billing"})
        low, _ = billing.get_watermark_offsets(Place("orders", 1), timeout=PATIENCE_S)
        assert low == 5
        assert billing.committed([Place("orders", 0)], timeout=PATIENCE_S)[0].offset == 6
        billing.close()
        resource = ConfigResource(ResourceType.TOPIC, "orders")
        admin = AdminClient({"bootstrap.servers": bootstrap})
        described = admin.describe_configs([resource])[resource].result(PATIENCE_S)
        assert described["retention.ms"].value == "86400001"
        successor = Producer({"bootstrap.servers": bootstrap, "transactional.id": "app"})
        successor.init_transactions(PATIENCE_S)
        successor.begin_transaction()
        successor.produce("orders", b"written by a real broker", partition=0)
        successor.commit_transaction(PATIENCE_S)
        cleaned = compare_cleaned(node, left, tmp_path / "ours", version)
        files = [str(path) for path in sorted(cleaned.iterdir()) if path.suffix in (".log", ".index", ".timeindex")]
        main_class = "kafka.tools.DumpLogSegments" if version == "3.9.2" else "org.apache.kafka.tools.DumpLogSegments"
        dumped = kafka_tool(main_class, "--deep-iteration", "--files", ",".join(files), version=version)
        assert dumped.exit_code == 0 and "mismatch" not in dumped.stdout.lower(), dumped
        assert "isvalid: false" not in dumped.stdout

    # The other way round: what the real broker left, with its own compacted segments, and a second pass over it.
    back = tmp_path / "back" / "broker-1"
    shutil.copytree(node.files.data_dir, back)
    cut_metadata_log(back / "__cluster_metadata-0")
    harness, client = sandbox(back.parent, version)
    assert client.read(ORDERS[0]) == [*expected[0], "written by a real broker"]
    before = producer.producer_epoch if client.init("app").producer_id == producer.producer_id else -1
    assert client.init("app").producer_epoch > before
    write_history(client, random.Random(8), 60)
    harness.close()
    with real_broker(version, tmp_path / "second", back) as node:
        compare_cleaned(node, back, tmp_path / "ours-again", version)
