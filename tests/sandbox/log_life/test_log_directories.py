"""Brokers with several log directories: where replicas go, and what one directory that fails takes with it."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.harness import Harness, VirtualLoop
from eosctl.sandbox.log import moving
from eosctl.sandbox.log.directories import directory_paths
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.moving import ReplicaMove
from eosctl.sandbox.metadata.image import directory_of
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.replication.partition import Partition, TopicTraffic
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResult
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.log_life.logs import NOW, TABLE, TOPIC_ID, Disk, Sent

PARTITIONS = [TopicPartition("orders", index) for index in range(6)]


def shape(brokers: int) -> ClusterShape:
    return ClusterShape(brokers, Emulation("4.3"), fast=True, log_dir_count=2)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    harness = Harness(tmp_path / "data", shape(3))
    client = EosClient(harness, implicit=True)
    client.create_topic("orders", len(PARTITIONS), 3, min_insync_replicas="1")
    harness.run_until(lambda: all(told(harness, node) for node in (1, 2, 3)))
    yield client
    harness.close()


def told(harness: Harness, node: int) -> bool:
    """Whether the metadata says where every replica of a broker is."""
    broker = harness.core.broker(node)
    return all(
        (home := broker.logs.home_of(name)) is not None
        and (state := broker.metadata.partition(name)) is not None
        and directory_of(state, node) == home.directory_id
        for name in PARTITIONS
    )


def second(harness: Harness, node: int) -> LogDirectory:
    return harness.core.broker(node).logs.all[1]


def fail(harness: Harness, directory: LogDirectory) -> None:
    directory.fail(OSError(errno.EIO, os.strerror(errno.EIO)))
    harness.core.ticks.schedule()


def within(directory: LogDirectory) -> list[TopicPartition]:
    return [name for name, _ in directory.logs()]


def describe(harness: Harness, node: int) -> list[DescribeLogDirsResult]:
    found = harness.request(node, ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(None)).results
    assert isinstance(found, list)
    return found


def test_replicas_spread_evenly_and_the_metadata_tells_where_they_are(client: EosClient) -> None:
    harness = client.harness
    for node in (1, 2, 3):
        broker = harness.core.broker(node)
        homes = Counter(str(home.path) for name in PARTITIONS if (home := broker.logs.home_of(name)) is not None)
        assert sorted(homes.values()) == [3, 3]
        assert len(broker.metadata.brokers[node].log_dirs) == 2
        described = {result.log_dir: result for result in describe(harness, node)}
        assert {path: len(result.topics[0].partitions) for path, result in described.items()} == dict(homes)
        assert broker.config.get_str("log.dirs") == ",".join(described)


def test_each_directory_has_a_disk_of_its_own_that_its_logs_fill(client: EosClient) -> None:
    def used() -> int:
        return sum(told.total_bytes - told.usable_bytes for told in describe(client.harness, leader))

    leader = client.leader(PARTITIONS[0])
    before = used()
    client.produce(None, PARTITIONS[0], ["x" * 1000])
    assert 1000 < used() - before < 1200
    second(client.harness, 1).refusal = OSError(errno.ENOSPC, "No space left on device")
    assert [told.usable_bytes == 0 for told in describe(client.harness, 1)] == [False, True]


def test_files_are_where_the_broker_says(client: EosClient) -> None:
    for name in PARTITIONS:
        assert client.produce(None, name, ["value"]) is ErrorCode.NONE
    client.harness.advance(1000)
    for node in (1, 2, 3):
        for directory in client.harness.core.broker(node).logs.all:
            assert sorted(path.name for path in directory.path.glob("orders-*")) == sorted(
                f"orders-{name.partition}" for name in within(directory) if name.topic == "orders"
            )


def test_a_failed_directory_takes_only_its_own_partitions_and_leaders_move(client: EosClient) -> None:
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


def test_what_has_no_other_replica_is_offline_and_no_other_broker_start_elects_it(tmp_path: Path) -> None:
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


def test_a_disk_that_refuses_acknowledges_nothing_and_its_broker_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_without_the_directory_of_the_metadata_log_the_broker_halts(client: EosClient) -> None:
    fail(client.harness, client.harness.core.broker(2).logs.metadata_directory)
    assert 2 not in client.harness.core.nodes


def test_directories_of_an_earlier_start_stay(tmp_path: Path) -> None:
    first = tmp_path / "broker-1"
    assert directory_paths(first, 1) == [first]
    (tmp_path / "broker-1-dir3").mkdir()
    assert directory_paths(first, 1) == [first, tmp_path / "broker-1-dir2", tmp_path / "broker-1-dir3"]
    assert len(directory_paths(first, 4)) == 4


# --- moving ---------------------------------------------------------------------------------------------------------


def alter(harness: Harness, node: int, name: TopicPartition, path: str) -> ErrorCode:
    request = AlterReplicaLogDirsRequest(
        [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name.topic, [name.partition])])]
    )
    answer = harness.request(node, ApiKey.ALTER_REPLICA_LOG_DIRS, 2, request)
    return ErrorCode(answer.results[0].partitions[0].error_code)


def other_directory(harness: Harness, node: int, name: TopicPartition) -> LogDirectory:
    logs = harness.core.broker(node).logs
    return next(directory for directory in logs.all if directory is not logs.home_of(name))


@pytest.mark.parametrize("leads", [True, False])
def test_a_replica_moves_while_it_is_written_to(
    client: EosClient, leads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(moving, "CHUNK_BYTES", 200)
    handle = client.init("mover")
    for number in range(40):
        assert client.produce(handle, name, [f"{number}"]) is ErrorCode.NONE
    node = client.leader(name) if leads else next(id for id in (1, 2, 3) if id != client.leader(name))
    broker, target = harness.core.broker(node), other_directory(harness, node, name)
    source = broker.logs.home_of(name)
    assert source is not None
    assert alter(harness, node, name, str(target.path)) is ErrorCode.NONE
    assert name in broker.moves.under_way
    shown = {result.log_dir: result for result in describe(harness, node)}
    (future,) = [entry for topic in shown[str(target.path)].topics for entry in topic.partitions if entry.is_future_key]
    assert future.offset_lag > 0
    assert client.produce(handle, name, ["meanwhile"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    harness.run_until(lambda: name not in broker.moves.under_way)
    harness.run_until(lambda: told(harness, node))
    assert broker.logs.home_of(name) is target
    handle = client.init("mover")
    assert client.produce(handle, name, ["afterwards"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    expected = [*(f"{number}" for number in range(40)), "meanwhile", "afterwards"]
    assert client.read(name) == expected
    harness.run_until(
        lambda: len({harness.core.broker(id).replicas.partitions[name].log.end_offset for id in (1, 2, 3)}) == 1
    )
    contents = [
        b"".join(data for _, data in harness.core.broker(id).replicas.partitions[name].log.batches())
        for id in (1, 2, 3)
    ]
    assert contents[0] == contents[1] == contents[2]
    harness.advance(70_000)  # file.delete.delay.ms
    assert not list(source.path.glob("orders-0*"))
    assert [path.name for path in target.path.glob("orders-0*")] == ["orders-0"]
    harness.kill(node)
    harness.restart(node)
    assert harness.core.broker(node).logs.home_of(name).path == target.path  # type: ignore[union-attr]
    assert client.read(name) == expected


def test_a_move_is_given_up_when_its_replica_is_called_back(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(moving, "CHUNK_BYTES", 100)
    for number in range(20):
        client.produce(None, name, [f"{number}"])
    broker, target = harness.core.broker(1), other_directory(harness, 1, name)
    source = broker.logs.home_of(name)
    assert source is not None
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    assert list(target.path.glob("*-future"))
    assert alter(harness, 1, name, str(source.path)) is ErrorCode.NONE
    harness.advance(1000)
    assert broker.logs.home_of(name) is source
    assert not list(target.path.glob("orders-0*"))


def test_a_move_ends_with_the_topic(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(moving, "CHUNK_BYTES", 100)
    for number in range(20):
        client.produce(None, name, [f"{number}"])
    broker, target = harness.core.broker(1), other_directory(harness, 1, name)
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    broker.replicas.partitions[name].log.close(clean=False)  # as dropping it does
    harness.advance(1000)
    assert not broker.moves.under_way
    assert not list(target.path.glob("orders-0*"))


@pytest.mark.parametrize("clean", [True, False])
def test_a_move_goes_on_after_the_broker_was_away(
    client: EosClient, monkeypatch: pytest.MonkeyPatch, clean: bool
) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(moving, "CHUNK_BYTES", 100)
    values = [f"{number}" for number in range(40)]
    for value in values:
        assert client.produce(None, name, [value]) is ErrorCode.NONE
    broker, target = harness.core.broker(1), other_directory(harness, 1, name)
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    move = broker.moves.under_way[name]
    assert 0 < move.future.end_offset < move.current.end_offset
    (before,) = target.path.glob("orders-0.*-future")
    harness.core.stop_node(1, clean=clean)
    assert before.is_dir()
    for value in ("while", "away"):
        assert client.produce(None, name, [value]) is ErrorCode.NONE
    harness.restart(1)
    again = harness.core.broker(1)
    harness.run_until(lambda: (home := again.logs.home_of(name)) is not None and home.path == target.path)
    harness.run_until(lambda: told(harness, 1))
    assert not list(target.path.glob("*-future"))
    contents = {node: b"".join(data for _, data in hosted(harness, node, name).log.batches()) for node in (1, 2)}
    harness.run_until(lambda: hosted(harness, 1, name).log.end_offset == len(values) + 2)
    assert client.read(name) == [*values, "while", "away"]
    assert contents[2].startswith(contents[1])


def hosted(harness: Harness, node: int, name: TopicPartition) -> Partition:
    return harness.core.broker(node).replicas.partitions[name]


def test_a_move_of_a_topic_that_went_meanwhile_is_dropped(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(moving, "CHUNK_BYTES", 100)
    for number in range(20):
        assert client.produce(None, name, [f"{number}"]) is ErrorCode.NONE
    target = other_directory(harness, 1, name)
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    harness.kill(1)
    gone = DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    assert not harness.request(2, ApiKey.DELETE_TOPICS, 5, gone).responses[0].error_code
    client.create_topic("orders", len(PARTITIONS), 3, min_insync_replicas="1")
    harness.restart(1)
    harness.advance(1000)
    assert not list(target.path.glob("*-future"))
    assert hosted(harness, 1, name).log.end_offset == 0


def test_a_wish_for_a_replica_that_is_not_here_yet_is_remembered(client: EosClient) -> None:
    harness = client.harness
    wished = harness.core.broker(1).logs.all[1]
    names = [TopicPartition("later", index) for index in range(4)]
    for name in names:
        assert alter(harness, 1, name, str(wished.path)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    client.create_topic("later", len(names), 3)
    harness.advance(500)
    assert {harness.core.broker(1).logs.home_of(name) for name in names} == {wished}
    state = harness.core.broker(2).metadata.partition(names[0])
    assert state is not None
    assert directory_of(state, 1) == wished.directory_id


def test_the_last_of_several_directories_counts(client: EosClient) -> None:
    harness, name = client.harness, PARTITIONS[0]
    first, last = (str(directory.path) for directory in harness.core.broker(1).logs.all)
    topic = AlterReplicaLogDirTopic(name.topic, [name.partition, name.partition])
    request = AlterReplicaLogDirsRequest([AlterReplicaLogDir(first, [topic]), AlterReplicaLogDir(last, [topic])])
    (answer,) = harness.request(1, ApiKey.ALTER_REPLICA_LOG_DIRS, 2, request).results
    assert [(part.partition_index, part.error_code) for part in answer.partitions] == [(0, ErrorCode.NONE)]
    harness.advance(1000)
    assert str(harness.core.broker(1).logs.home_of(name).path) == last  # type: ignore[union-attr]


def test_a_copy_that_was_cut_off_behind_begins_anew(tmp_path: Path) -> None:
    disk, other = Disk(tmp_path / "a"), LogDirectory(tmp_path / "b", Ticks(VirtualLoop()))
    other.open_directory(1, "cluster", bytes(16))
    partition = Partition(1, TABLE, TOPIC_ID, disk.log, TopicTraffic())
    for number in range(10):
        disk.write(Sent(-1, False, ((b"key", b"%d" % number),)))
    move = ReplicaMove(partition, other, "unique")
    assert any(move.copy(NOW) for _ in range(10))
    disk.log.truncate_to(5)
    for number in range(8):  # another leader's batches, beyond what is copied
        batch = encode_batch([Record(0, NOW, b"key", b"other %d" % number)])
        disk.log.append_as_leader(batch, decode_header(batch), 1, NOW)
    assert any(move.copy(NOW) for _ in range(10))
    assert [data for _, data in move.future.batches()] == [data for _, data in disk.log.batches()]
    move.give_up()


def test_a_move_to_nowhere_is_refused(client: EosClient) -> None:
    harness, name = client.harness, PARTITIONS[0]
    assert alter(harness, 1, name, "/nowhere") is ErrorCode.LOG_DIR_NOT_FOUND
    unknown = TopicPartition("unknown", 0)
    path = str(second(harness, 1).path)
    assert alter(harness, 1, unknown, path) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    fail(harness, second(harness, 1))
    assert alter(harness, 1, name, path) is ErrorCode.KAFKA_STORAGE_ERROR
