"""A metadata log without its start needs the snapshot that replaces it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.storage.errors import DamagedFile
from eosctl.wire.records.batch import iter_headers
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

SHAPE = ClusterShape(1, Emulation("4.3"), fast=True)


def cut(directory: Path, *, keep_snapshot: bool) -> int:
    """Keep the last batch in the log and the rest in a snapshot; return the log start offset."""
    (log,) = directory.glob("*.log")
    data = log.read_bytes()
    position, header = list(iter_headers(data))[-1]
    for path in (*directory.glob("*index"), *directory.glob("*.snapshot"), log):
        path.unlink()
    (directory / f"{header.base_offset:020d}.log").write_bytes(data[position:])
    name = f"{header.base_offset:020d}-{header.partition_leader_epoch:010d}.checkpoint"
    if keep_snapshot:
        (directory / name).write_bytes(data[:position])
    return header.base_offset


def test_topics_and_records_are_there_with_a_snapshot(tmp_path: Path) -> None:
    harness = Harness(tmp_path, SHAPE)
    client = EosClient(harness, implicit=True)
    client.create_topic("orders", 2, 1, retention_ms="123456789")
    assert not client.produce(None, TopicPartition("orders", 1), ["kept"])
    harness.close()
    start = cut(tmp_path / "broker-1" / "__cluster_metadata-0", keep_snapshot=True)
    assert start > 1
    harness = Harness(tmp_path, SHAPE)
    client = EosClient(harness, implicit=True)
    broker = harness.core.broker(1)
    assert broker.metadata.partition_count("orders") == 2
    assert broker.topic_settings("orders").retention_ms == 123456789
    assert client.read(TopicPartition("orders", 1)) == ["kept"]
    client.create_topic("later")
    harness.kill(1)
    harness.restart(1)
    assert harness.core.broker(1).metadata.partition_count("later") == 1
    harness.close()


def test_without_it_the_directory_is_refused(tmp_path: Path) -> None:
    Harness(tmp_path, SHAPE).close()
    start = cut(tmp_path / "broker-1" / "__cluster_metadata-0", keep_snapshot=False)
    with pytest.raises(DamagedFile, match=f"begins at offset {start} and no snapshot is there"):
        Harness(tmp_path, SHAPE)
