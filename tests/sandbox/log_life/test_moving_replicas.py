"""Replicas move between the log directories of a broker, also over its restarts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log import replica_moves
from eosctl.sandbox.log.directory import LogDirectory
from eosctl.sandbox.log.replica_moves import ReplicaMove
from eosctl.sandbox.metadata.image import directory_of
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
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, VirtualLoop
from tests.sandbox.log_life.directories import PARTITIONS, describe, fail, has_all_directories, second, three_brokers
from tests.sandbox.log_life.logs import NOW, TABLE, TOPIC_ID, Disk, Sent


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    yield from three_brokers(tmp_path)


def alter(harness: Harness, node: int, name: TopicPartition, path: str) -> ErrorCode:
    request = AlterReplicaLogDirsRequest(
        [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name.topic, [name.partition])])]
    )
    answer = harness.request(node, ApiKey.ALTER_REPLICA_LOG_DIRS, 2, request)
    return ErrorCode(answer.results[0].partitions[0].error_code)


def other_directory(harness: Harness, node: int, name: TopicPartition) -> LogDirectory:
    logs = harness.core.broker(node).logs
    return next(directory for directory in logs.all if directory is not logs.directory_of_log(name))


@pytest.mark.parametrize("leads", [True, False])
def test_a_replica_moves_while_it_is_written_to(
    client: EosClient, leads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(replica_moves, "CHUNK_BYTES", 200)
    handle = client.init("mover")
    for number in range(40):
        assert client.produce(handle, name, [f"{number}"]) is ErrorCode.NONE
    node = client.leader(name) if leads else next(id for id in (1, 2, 3) if id != client.leader(name))
    broker, target = harness.core.broker(node), other_directory(harness, node, name)
    source = broker.logs.directory_of_log(name)
    assert source is not None
    assert alter(harness, node, name, str(target.path)) is ErrorCode.NONE
    assert name in broker.moves.under_way
    shown = {result.log_dir: result for result in describe(harness, node)}
    (future,) = [entry for topic in shown[str(target.path)].topics for entry in topic.partitions if entry.is_future_key]
    assert future.offset_lag > 0
    assert client.produce(handle, name, ["meanwhile"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    harness.run_until(lambda: name not in broker.moves.under_way)
    harness.run_until(lambda: has_all_directories(harness, node))
    assert broker.logs.directory_of_log(name) is target
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
    assert harness.core.broker(node).logs.directory_of_log(name).path == target.path  # type: ignore[union-attr]
    assert client.read(name) == expected


def test_a_move_is_given_up_when_its_replica_is_called_back(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(replica_moves, "CHUNK_BYTES", 100)
    for number in range(20):
        client.produce(None, name, [f"{number}"])
    broker, target = harness.core.broker(1), other_directory(harness, 1, name)
    source = broker.logs.directory_of_log(name)
    assert source is not None
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    assert list(target.path.glob("*-future"))
    assert alter(harness, 1, name, str(source.path)) is ErrorCode.NONE
    harness.advance(1000)
    assert broker.logs.directory_of_log(name) is source
    assert not list(target.path.glob("orders-0*"))


def test_a_move_ends_with_the_topic(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(replica_moves, "CHUNK_BYTES", 100)
    for number in range(20):
        client.produce(None, name, [f"{number}"])
    broker, target = harness.core.broker(1), other_directory(harness, 1, name)
    assert alter(harness, 1, name, str(target.path)) is ErrorCode.NONE
    broker.replicas.partitions[name].log.close(clean=False)  # as dropping it does
    harness.advance(1000)
    assert not broker.moves.under_way
    assert not list(target.path.glob("orders-0*"))


@pytest.mark.parametrize("clean", [True, False])
def test_a_move_continues_after_the_broker_was_away(
    client: EosClient, monkeypatch: pytest.MonkeyPatch, clean: bool
) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(replica_moves, "CHUNK_BYTES", 100)
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
    harness.run_until(lambda: (home := again.logs.directory_of_log(name)) is not None and home.path == target.path)
    harness.run_until(lambda: has_all_directories(harness, 1))
    assert not list(target.path.glob("*-future"))
    contents = {node: b"".join(data for _, data in hosted(harness, node, name).log.batches()) for node in (1, 2)}
    harness.run_until(lambda: hosted(harness, 1, name).log.end_offset == len(values) + 2)
    assert client.read(name) == [*values, "while", "away"]
    assert contents[2].startswith(contents[1])


def hosted(harness: Harness, node: int, name: TopicPartition) -> Partition:
    return harness.core.broker(node).replicas.partitions[name]


def test_a_move_of_a_topic_that_went_meanwhile_is_dropped(client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    harness, name = client.harness, PARTITIONS[0]
    monkeypatch.setattr(replica_moves, "CHUNK_BYTES", 100)
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
    assert {harness.core.broker(1).logs.directory_of_log(name) for name in names} == {wished}
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
    assert str(harness.core.broker(1).logs.directory_of_log(name).path) == last  # type: ignore[union-attr]


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
