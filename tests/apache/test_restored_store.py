"""RocksDB in a real Kafka Streams application takes the memory, and restoring the time, that capacity plans say."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.capacity.memory import MEMTABLE_BYTES, ROCKSDB_BLOCK_CACHE_BYTES, rocksdb_bytes, table_reader_bytes
from eosctl.capacity.recovery import RESTORE_CPU_FACTOR, restore_ms, restore_rate
from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.java_programs import compile_java, java_command

SOURCE = Path(__file__).with_name("java") / "RestoredStore.java"
LONG_S = 300
PARTITIONS = 4
CHANGELOG = "restoring-store-changelog"
KEY_BYTES = 16
#: Times depend on what else the machine does: only the proof asks for them.
TIMES = "EOSCTL_CALIBRATE_TIMES" in os.environ


def fill_changelog(bootstrap: str, count: int, value_bytes: int) -> None:
    """Write the changelog that an application without a state directory restores."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topics = [
        NewTopic("input", PARTITIONS, 1),
        NewTopic(CHANGELOG, PARTITIONS, 1, config={"cleanup.policy": "compact"}),
    ]
    for created in admin.create_topics(topics).values():
        created.result(LONG_S)
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "queue.buffering.max.messages": count})
    value = os.urandom(value_bytes)
    for number in range(count):
        # No order of keys, as in a live changelog: RocksDB has to merge its files.
        key = f"{number * 7919 % count:0{KEY_BYTES}d}"
        producer.produce(CHANGELOG, key=key, value=value, partition=number % PARTITIONS)
    assert producer.flush(LONG_S) == 0


def run_restoring(jars: Path, classes: Path, bootstrap: str, state: Path) -> list[tuple[str, int]]:
    """Restore and read the store; return what the application prints, in order."""
    compile_java(SOURCE, classes, f"{jars}/*")
    jvm = () if TIMES else QUICK_START
    command = java_command(f"{classes}:{jars}/*", "RestoredStore", heap_mib=512, jvm=jvm)
    done = subprocess.run([*command, bootstrap, str(state)], capture_output=True, text=True, timeout=LONG_S, check=True)
    return [(name, int(value)) for name, value in (line.split() for line in done.stdout.splitlines())]


@pytest.mark.parametrize(
    ("count", "value_bytes"),
    [(2_000_000, 60), (1_000_000, 150), (300_000, 1_000), (100_000, 4_096)] if TIMES else [(300_000, 1_000)],
)
def test_a_restored_store_takes_the_planned_memory_and_time(
    count: int,
    value_bytes: int,
    streams_jars: Path,
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
) -> None:
    with apache_running("4.3.1", tmp_path / "kafka", heap_bytes=1 << 30) as engine:
        fill_changelog(engine.bootstrap, count, value_bytes)
        printed = run_restoring(streams_jars, tmp_path / "classes", engine.bootstrap, tmp_path / "state")
    assert [value for name, value in printed if name == "restored"] == [count // PARTITIONS] * PARTITIONS
    # The last figures are those after everything was read once.
    figures = dict(printed)
    live = count * (KEY_BYTES + value_bytes)
    assert figures["read"] == count
    held = min(PARTITIONS * ROCKSDB_BLOCK_CACHE_BYTES, live)
    assert figures["block-cache-usage"] == pytest.approx(held, rel=0.1)
    assert figures["size-all-mem-tables"] <= PARTITIONS * 3 * MEMTABLE_BYTES
    readers = table_reader_bytes(live, KEY_BYTES + value_bytes)
    assert 0.5 < figures["estimate-table-readers-mem"] / readers < 1.5
    names = ("block-cache-usage", "size-all-mem-tables", "estimate-table-readers-mem")
    assert sum(figures[name] for name in names) <= rocksdb_bytes(PARTITIONS) + readers
    if TIMES:
        # Processor time: that of the wall also depends on the other programs of the machine. Under a load of 14 on two
        # cores it was two thirds more, as programs share caches.
        planned_ms = restore_ms(live, restore_rate(KEY_BYTES + value_bytes), dirty_ratio=0) * RESTORE_CPU_FACTOR
        assert planned_ms * 0.75 < figures["restore_cpu_ms"] < planned_ms * 2
