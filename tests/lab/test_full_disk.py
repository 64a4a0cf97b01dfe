"""The kernel itself refuses to write: a sandbox's process may not make files larger, as on a disk that is full.

The limit (RLIMIT_FSIZE) allows a write up to its last byte, so the batch at the limit is torn, as on a full disk.
"""

from __future__ import annotations

import asyncio
import resource
import time
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from eosctl.client import connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import Bounds, produce
from eosctl.errors import EosctlError
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from scripts.endurance.sandbox_process import SandboxProcess, free_ports

ORDERS = TopicPartition("orders", 0)
LIMIT_BYTES = 100_000
VALUE_BYTES = 3_000


async def write_until_refused(config: ClientConfig) -> list[str]:
    """Write values one by one and return those that were acknowledged."""
    acknowledged: list[str] = []
    async with connect(replace(config, request_timeout_ms=500, timeout_ms=1_000)) as client:
        await ensure_topic(client, ORDERS.topic, partition_count=1)
        while len(acknowledged) * VALUE_BYTES < 2 * LIMIT_BYTES:
            value = f"value-{len(acknowledged)}"
            record = Record(0, int(time.time() * 1000), None, value.ljust(VALUE_BYTES).encode())
            try:
                await produce(client, ORDERS, encode_batch([record]), transactional_id=None, bounds=Bounds(3, 11))
            except EosctlError:
                break
            acknowledged.append(value)
    return acknowledged


async def read_all(config: ClientConfig) -> list[str]:
    values: list[str] = []
    async with connect(config) as client:
        reader = Reader(client, IsolationLevel.READ_COMMITTED, {ORDERS: 0})
        while found := (await reader.poll(max_wait_ms=100)).get(ORDERS, ()):
            values += [(record.value or b"").decode().strip() for record in found]
    return values


def test_a_full_disk_acknowledges_nothing_and_keeps_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sandbox = SandboxProcess(SandboxSpec("full", str(tmp_path / "data"), port_base=free_ports(1), fast=True))
    sandbox.start()
    try:
        assert sandbox.running is not None
        process = psutil.Process(sandbox.running.pid)
        process.rlimit(psutil.RLIMIT_FSIZE, (LIMIT_BYTES, resource.RLIM_INFINITY))
        acknowledged = asyncio.run(write_until_refused(sandbox.config))
        assert 10 < len(acknowledged) < LIMIT_BYTES / VALUE_BYTES
        (log,) = (tmp_path / "data").rglob("orders-0/*.log")
        assert log.stat().st_size == LIMIT_BYTES, "a batch is torn"
        sandbox.stop()
        sandbox.start()
        assert asyncio.run(read_all(sandbox.config)) == acknowledged
    finally:
        sandbox.stop()
