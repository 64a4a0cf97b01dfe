"""Transactions as real clients run them: what each reader sees, who is fenced, which offsets moved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from eosctl.testing import SandboxThread
from tests.interop.conftest import CLIENTS, NewTopicName
from tests.interop.drivers import Driver, Fenced, Reader
from tests.interop.kafka_python_driver import kafka_python_knows

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def values(records: list[tuple[int, int, bytes]]) -> list[bytes]:
    return [value for _, _, value in records]


def test_commits_are_read_and_aborts_are_not(client: Driver, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    topic = new_topic()
    with closing(client.writer(cluster.bootstrap, topic)) as writer:
        offsets = []
        for number, finish in enumerate((writer.commit, writer.abort, writer.abort, writer.commit)):
            writer.begin()
            offsets += [writer.send(topic, 0, b"%d-%d" % (number, n)) for n in range(2)]
            finish()
    assert offsets == [0, 1, 3, 4, 6, 7, 9, 10]  # a marker after each pair
    with closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1)) as reader:
        assert values(reader.take(4)) == [b"0-0", b"0-1", b"3-0", b"3-1"]
    with closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1, committed=False)) as reader:
        assert [offset for _, offset, _ in reader.take(8)] == offsets


def test_an_open_transaction_holds_back_what_comes_after_it(
    client: Driver, cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    with (
        closing(client.writer(cluster.bootstrap, f"{topic}-slow")) as slow,
        closing(client.writer(cluster.bootstrap, f"{topic}-quick")) as quick,
        closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1)) as reader,
        closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1, committed=False)) as impatient,
    ):
        slow.begin()
        slow.send(topic, 0, b"slow")
        quick.begin()
        quick.send(topic, 0, b"quick")
        quick.commit()
        assert values(impatient.take(2)) == [b"slow", b"quick"]
        slow.commit()
        assert values(reader.take(2)) == [b"slow", b"quick"]  # in the order of the log, not of the commits


def test_the_older_of_two_producers_is_fenced(client: Driver, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    topic = new_topic()
    zombie = client.writer(cluster.bootstrap, topic)
    zombie.begin()
    zombie.send(topic, 0, b"zombie")
    with closing(client.writer(cluster.bootstrap, topic)) as successor:
        successor.begin()
        successor.send(topic, 0, b"successor")
        with pytest.raises(Fenced):
            zombie.commit()
        successor.commit()
    zombie.close()
    with closing(client.reader(cluster.bootstrap, topic, group=topic, partitions=1)) as reader:
        assert values(reader.take(1)) == [b"successor"]


def test_offsets_travel_in_the_transaction(client: Driver, cluster: SandboxThread, new_topic: NewTopicName) -> None:
    source, target = new_topic(), new_topic()
    with closing(client.writer(cluster.bootstrap, f"{source}-input")) as input_writer:
        input_writer.begin()
        for number in range(4):
            input_writer.send(source, 0, b"%d" % number)
        input_writer.commit()
    with (
        closing(client.reader(cluster.bootstrap, source, group=source)) as reader,
        closing(client.writer(cluster.bootstrap, source)) as writer,
    ):
        records = reader.take(4)
        for finish, attempt in ((writer.abort, b"first"), (writer.commit, b"second")):
            writer.begin()
            for _, _, value in records:
                writer.send(target, 0, attempt + b" " + value)
            writer.send_offsets({(source, 0): 4}, reader)
            finish()
            assert reader.committed(source, 0) == (None if finish == writer.abort else 4)
    with closing(client.reader(cluster.bootstrap, target, group=target, partitions=1)) as reader:
        assert values(reader.take(4)) == [b"second %d" % number for number in range(4)]


@pytest.mark.parametrize("codec", CODECS)
def test_what_one_client_writes_every_other_reads(
    codec: str, drivers: dict[str, Driver], cluster: SandboxThread, new_topic: NewTopicName
) -> None:
    topic = new_topic()
    payload = bytes(range(256)) * 20
    able = [name for name in CLIENTS if name != "kafka-python" or kafka_python_knows(codec)]
    for name in able:
        with closing(drivers[name].writer(cluster.bootstrap, f"{topic}-{name}", codec)) as writer:
            writer.begin()
            writer.send(topic, 0, name.encode() + payload)
            writer.commit()
    expected = [name.encode() + payload for name in able]
    for name in able:
        with closing(drivers[name].reader(cluster.bootstrap, topic, group=topic, partitions=1)) as reader:
            assert values(reader.take(len(able))) == expected


@pytest.fixture
def members(client: Driver, cluster: SandboxThread) -> Iterator[list[Reader]]:
    opened: list[Reader] = []
    yield opened
    for reader in opened:
        reader.close()


def test_a_group_shares_partitions_and_resumes_at_its_offsets(
    client: Driver, cluster: SandboxThread, new_topic: NewTopicName, members: list[Reader]
) -> None:
    topic = new_topic(4)
    with closing(client.writer(cluster.bootstrap, topic)) as writer:

        def write(label: bytes) -> None:
            writer.begin()
            for partition in range(4):
                writer.send(topic, partition, label)
            writer.commit()

        write(b"first")
        members.append(client.reader(cluster.bootstrap, topic, group=topic))
        first = members[0].take(4)
        assert sorted(partition for partition, _, _ in first) == [0, 1, 2, 3]
        members[0].commit({(topic, partition): offset + 1 for partition, offset, _ in first})
        members.pop().close()

        write(b"second")
        members.append(client.reader(cluster.bootstrap, topic, group=topic))
        second = members[0].take(4)
        assert sorted((partition, value) for partition, _, value in second) == [(n, b"second") for n in range(4)]
