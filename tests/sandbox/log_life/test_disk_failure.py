"""A failed disk stops its broker before anything is acknowledged; others continue, and a restart recovers."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.errors import EosctlError
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    harness = Harness(tmp_path / "data", ClusterShape(3, Emulation("4.3"), fast=True, logs_dir=tmp_path / "logs"))
    client = EosClient(harness, implicit=True)
    client.create_topic("orders", 1, 3, min_insync_replicas="2")
    yield client
    harness.close()


def refuse_writes(directory: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every write to a directory, as on a full or read-only disk."""
    write = os.write

    def refused(descriptor: int, data: bytes) -> int:
        if str(directory) in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(code, os.strerror(code))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", refused)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS], ids=["full", "read-only"])
def test_nothing_is_acknowledged_that_the_disk_refused(
    client: EosClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    harness = client.harness
    assert client.produce(None, ORDERS, ["before"]) is ErrorCode.NONE
    leader = client.leader(ORDERS)
    refuse_writes(harness.core.directory_of(leader), code, monkeypatch)
    batch = encode_batch([Record(0, harness.core.brokers()[0].runtime.now_ms(), None, b"lost")])
    assert client.append(ORDERS, batch, acks=1) is None, "the connection breaks"
    assert leader not in harness.core.nodes
    assert client.produce(None, ORDERS, ["after"]) is ErrorCode.NONE
    assert client.leader(ORDERS) != leader
    log = "".join(path.read_text() for path in (tmp_path / "logs").rglob("server.log"))
    assert os.strerror(code) in log
    assert f"Shutdown broker because all log dirs in {harness.core.directory_of(leader)} have failed" in log
    monkeypatch.undo()
    harness.restart(leader)
    harness.run_until(lambda: len(harness.core.broker(leader).metadata.partition(ORDERS).isr) == 3)
    # What was not acknowledged may be there all the same: followers fetch from memory.
    assert [value for value in client.read(ORDERS) if value != "lost"] == ["before", "after"]
    ends = {harness.core.broker(node).replicas.partitions[ORDERS].log.end_offset for node in (1, 2, 3)}
    assert len(ends) == 1


def test_a_second_directory_that_fails_leaves_its_broker_running(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=1, log_dirs=2, data_dir=tmp_path) as embedded:
            cluster = embedded.cluster
            commands = cluster.commands()
            with pytest.raises(EosctlError, match="has no log directory 3"):
                await commands["inject"]({"words": ["fail-disk", "node=1", "directory=3"]})
            await commands["inject"]({"words": ["fail-disk", "node=1", "directory=2"]})
            assert sorted(cluster.core.nodes) == [1]
            host, _, port = cluster.bootstrap.rpartition(":")
            socket.create_connection((host, int(port)), timeout=5).close()
            await commands["inject"]({"words": ["fail-disk", "node=1"]})
            assert not cluster.core.nodes

    asyncio.run(scenario())


def test_a_failed_disk_ends_its_broker_until_it_is_started_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=2, data_dir=tmp_path) as embedded:
            cluster = embedded.cluster
            commands = cluster.commands()
            host, _, port = cluster.bootstrap.split(",")[1].rpartition(":")
            await commands["inject"]({"words": ["fail-disk", "node=2"]})
            assert sorted(cluster.core.nodes) == [1, 100]
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((host, int(port)), timeout=5)
            with pytest.raises(EosctlError, match="does not run"):
                await commands["inject"]({"words": ["fail-disk", "node=2"]})
            assert await commands["start-broker"]({"broker": 2}) == "started"
            socket.create_connection((host, int(port)), timeout=5).close()

    asyncio.run(scenario())
