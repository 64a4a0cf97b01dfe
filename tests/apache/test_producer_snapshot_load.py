"""The time and heap that producer snapshots take of a real broker match the capacity plans."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from benchmarks.calibrating.jvm import read_live_object_bytes
from eosctl.capacity.memory import producer_heap_bytes
from eosctl.capacity.recovery import producer_snapshot_load_ms
from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, snapshot_offsets, write_snapshot

BROKER = 1
#: Loads depend on what else the machine does: only the proof asks for them, and for a million producers.
TIMES = "EOSCTL_CALIBRATE_TIMES" in os.environ
COUNTS = (100_000, 1_000_000) if TIMES else (100_000,)
#: Of measured figures.
TOLERANCE = 0.25
TOOK = re.compile(r"partition=known-0,.*Producer state recovery took (\d+) ?ms for snapshot load")


async def write_one(engine: ApacheNodes) -> None:
    """Leave a log that is not empty: a broker reads no snapshot for an empty one."""
    async with connect(ClientConfig(parse_endpoints(engine.bootstrap, "test"))) as client:
        topic = await ensure_topic(client, "known", partition_count=1)
        producer = TransactionalProducer(client, "one", now_ms=lambda: time.time_ns() // 1_000_000, dialect=TV1)
        await producer.init_transactions()
        await producer.send(topic.partitions[0].partition, [OutgoingRecord(b"k", b"v")])
        await producer.commit()


def fill_snapshot(partition: Path, count: int) -> None:
    """Add producers to the newest snapshot of a stopped broker."""
    now_ms = time.time_ns() // 1_000_000
    entries = [ProducerSnapshotEntry(5_000 + number, 0, 0, 0, 0, now_ms, -1, -1) for number in range(count)]
    write_snapshot(partition, max(snapshot_offsets(partition)), entries)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("release", ["3.9.2", "4.4.0"])
def test_producer_snapshots_take_the_planned_time_and_heap(
    release: str, count: int, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    with apache_running(release, tmp_path / "kafka", heap_bytes=1 << 30) as engine:
        asyncio.run(write_one(engine))
        record = engine.records()[BROKER]
        # The first life of a broker keeps objects of its start that later ones do not have.
        asyncio.run(engine.stop(BROKER))
        asyncio.run(engine.restart(BROKER))
        before = read_live_object_bytes(record)
        asyncio.run(engine.stop(BROKER))
        fill_snapshot(next(Path(engine.data_dirs()[BROKER]).glob("known-0")), count)
        asyncio.run(engine.restart(BROKER))
        grown = read_live_object_bytes(record) - before
        result = "".join(log.read_text("utf-8") for log in (tmp_path / "kafka").rglob("server.log"))
    took_ms = int(TOOK.findall(result)[-1])
    least, most = producer_snapshot_load_ms(count)
    assert took_ms > 0
    assert not TIMES or least <= took_ms <= most
    # A snapshot has the last batch of each producer.
    assert grown == pytest.approx(producer_heap_bytes(count)[0], rel=TOLERANCE)
