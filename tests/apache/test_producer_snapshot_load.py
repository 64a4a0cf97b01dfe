"""The time for a real broker to load its producer snapshots matches the capacity plans."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.capacity.recovery import producer_snapshot_load_ms
from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.settings.endpoints import parse_endpoints
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, snapshot_offsets, write_snapshot

BROKER = 1
PRODUCERS = 100_000
#: Loads depend on what else the machine does: only the proof asks for them.
TIMES = "EOSCTL_CALIBRATE_TIMES" in os.environ
TOOK = re.compile(r"partition=known-0,.*Producer state recovery took (\d+) ?ms for snapshot load")


async def write_one(engine: ApacheNodes) -> None:
    """Leave a log that is not empty: a broker reads no snapshot for an empty one."""
    async with connect(ClientConfig(parse_endpoints(engine.bootstrap, "test"))) as client:
        topic = await ensure_topic(client, "known", partition_count=1)
        producer = TransactionalProducer(client, "one", now_ms=lambda: time.time_ns() // 1_000_000, dialect=TV1)
        await producer.init_transactions()
        await producer.send(topic.partitions[0].partition, [OutgoingRecord(b"k", b"v")])
        await producer.commit()


def fill_snapshot(partition: Path) -> None:
    """Add a hundred thousand producers to the newest snapshot of a stopped broker."""
    now_ms = time.time_ns() // 1_000_000
    entries = [ProducerSnapshotEntry(5_000 + number, 0, 0, 0, 0, now_ms, -1, -1) for number in range(PRODUCERS)]
    write_snapshot(partition, max(snapshot_offsets(partition)), entries)


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_producer_snapshots_load_as_fast_as_plans_say(
    release: str, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
) -> None:
    with apache_running(release, tmp_path / "kafka") as engine:
        asyncio.run(write_one(engine))
        asyncio.run(engine.stop(BROKER))
        fill_snapshot(next(Path(engine.data_dirs()[BROKER]).glob("known-0")))
        asyncio.run(engine.restart(BROKER))
        result = "".join(log.read_text("utf-8") for log in (tmp_path / "kafka").rglob("server.log"))
    took_ms = int(TOOK.findall(result)[-1])
    least, most = producer_snapshot_load_ms(PRODUCERS)
    assert took_ms > 0
    assert not TIMES or least <= took_ms <= most
