"""Brokers with several log directories: where replicas go, and what one directory that fails takes with it."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.directories import directory_paths
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness
from tests.sandbox.log_life.directories import PARTITIONS, describe, fail, second, shape, three_brokers, within


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    yield from three_brokers(tmp_path)


def test_replicas_spread_evenly_and_are_in_the_metadata(client: EosClient) -> None:
    harness = client.harness
    for node in (1, 2, 3):
        broker = harness.core.broker(node)
        homes = Counter(
            str(home.path) for name in PARTITIONS if (home := broker.logs.directory_of_log(name)) is not None
        )
        assert sorted(homes.values()) == [3, 3]
        assert len(broker.metadata.brokers[node].log_dirs) == 2
        described = {result.log_dir: result for result in describe(harness, node)}
        assert {path: len(result.topics[0].partitions) for path, result in described.items()} == dict(homes)
        assert broker.config.get_str("log.dirs") == ",".join(described)


def test_each_directory_has_a_disk_of_its_own_that_its_logs_fill(client: EosClient) -> None:
    def used() -> int:
        return sum(directory.total_bytes - directory.usable_bytes for directory in describe(client.harness, leader))

    leader = client.leader(PARTITIONS[0])
    before = used()
    client.produce(None, PARTITIONS[0], ["x" * 1000])
    assert 1000 < used() - before < 1200
    second(client.harness, 1).refusal = OSError(errno.ENOSPC, "No space left on device")
    assert [directory.usable_bytes == 0 for directory in describe(client.harness, 1)] == [False, True]


def test_files_are_where_the_broker_says(client: EosClient) -> None:
    for name in PARTITIONS:
        assert client.produce(None, name, ["value"]) is ErrorCode.NONE
    client.harness.advance(1000)
    for node in (1, 2, 3):
        for directory in client.harness.core.broker(node).logs.all:
            assert sorted(path.name for path in directory.path.glob("orders-*")) == sorted(
                f"orders-{name.partition}" for name in within(directory) if name.topic == "orders"
            )


def test_a_failed_directory_affects_only_its_own_partitions(client: EosClient) -> None:
    harness = client.harness
    for name in PARTITIONS:
        client.produce(None, name, ["before"])
    victim = 1
    lost = second(harness, victim)
    gone = [name for name in within(lost) if name.topic == "orders"]
    fail(harness, lost)
    other = harness.core.broker(2)
    harness.run_until(
        lambda: all((state := other.metadata.partition(name)) is not None and victim not in state.isr for name in gone)
    )
    broker = harness.core.broker(victim)
    assert not other.metadata.brokers[victim].fenced
    assert lost.directory_id not in other.metadata.brokers[victim].log_dirs
    for name in PARTITIONS:
        state = other.metadata.partition(name)
        assert state is not None
        assert (victim in state.isr) == (name not in gone)
        assert (state.leader == victim) <= (name not in gone)
        assert client.produce(None, name, ["after"]) is ErrorCode.NONE
        assert client.read(name) == ["before", "after"]
        assert (broker.replicas.leader(name) is ErrorCode.KAFKA_STORAGE_ERROR) == (name in gone)
    failed = describe(harness, victim)[1]
    assert (failed.error_code, failed.log_dir, list(failed.topics)) == (
        ErrorCode.KAFKA_STORAGE_ERROR,
        str(lost.path),
        [],
    )
    asked = MetadataRequest([MetadataRequestTopic(bytes(16), "orders")], False)
    (topic,) = harness.request(2, ApiKey.METADATA, 12, asked).topics
    assert {entry.partition_index for entry in topic.partitions if list(entry.offline_replicas) == [victim]} == {
        name.partition for name in gone
    }


def test_a_broker_that_starts_again_brings_its_replicas_back(client: EosClient) -> None:
    harness = client.harness
    fail(harness, second(harness, 1))
    harness.advance(500)
    for name in PARTITIONS:
        client.produce(None, name, ["while it was away"])
    harness.kill(1)
    harness.restart(1)
    other = harness.core.broker(2)
    harness.run_until(
        lambda: all((state := other.metadata.partition(name)) is not None and 1 in state.isr for name in PARTITIONS)
    )
    for name in PARTITIONS:
        ends = {harness.core.broker(node).replicas.partitions[name].log.end_offset for node in (1, 2, 3)}
        assert ends == {1}


def test_an_offline_partition_is_not_led_by_another_broker(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "data", shape(2))
    client = EosClient(harness, implicit=True)
    client.create_topic("alone", 4, 1)
    names = [TopicPartition("alone", index) for index in range(4)]
    for name in names:
        assert client.produce(None, name, ["kept"]) is ErrorCode.NONE
    harness.advance(500)
    lost = second(harness, 1)
    gone = [name for name in within(lost) if name.topic == "alone"]
    assert gone
    fail(harness, lost)
    harness.run_until(lambda: harness.core.broker(2).metadata.partition(gone[0]).leader == -1)  # type: ignore[union-attr]
    harness.kill(2)
    harness.restart(2)
    assert all(harness.core.broker(1).metadata.partition(name).leader == -1 for name in gone)  # type: ignore[union-attr]
    harness.kill(1)
    harness.restart(1)
    harness.run_until(lambda: harness.core.broker(2).metadata.partition(gone[0]).leader == 1)  # type: ignore[union-attr]
    assert all(client.read(name) == ["kept"] for name in names)
    harness.close()


def test_a_rejecting_disk_acknowledges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = Harness(tmp_path / "data", shape(1))
    client = EosClient(harness, implicit=True)
    client.create_topic("alone", 2, 1)
    lost = second(harness, 1)
    bad = next(name for name in within(lost) if name.topic == "alone")
    good = TopicPartition("alone", 1 - bad.partition)
    write = os.write

    def refused(descriptor: int, data: bytes) -> int:
        if str(lost.path) in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", refused)
    batch = encode_batch([Record(0, harness.core.broker(1).runtime.now_ms(), None, b"lost")])
    assert client.append(bad, batch, acks=1) is None, "the connection breaks"
    assert client.produce(None, good, ["kept"]) is ErrorCode.NONE
    assert harness.core.broker(1).replicas.leader(bad) is ErrorCode.KAFKA_STORAGE_ERROR
    harness.close()


def test_a_broker_without_its_metadata_directory_halts(client: EosClient) -> None:
    fail(client.harness, client.harness.core.broker(2).logs.metadata_directory)
    assert 2 not in client.harness.core.nodes


def test_directories_of_an_earlier_start_stay(tmp_path: Path) -> None:
    first = tmp_path / "broker-1"
    assert directory_paths(first, 1) == [first]
    (tmp_path / "broker-1-dir3").mkdir()
    assert directory_paths(first, 1) == [first, tmp_path / "broker-1-dir2", tmp_path / "broker-1-dir3"]
    assert len(directory_paths(first, 4)) == 4
