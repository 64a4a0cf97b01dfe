"""Brokers go and come back while clients work: what was acknowledged stays, exactly once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from eosctl.testing import SandboxThread
from tests.interop.conftest import Shape, create_topic, sandbox

PARTITIONS = 3
LEADER_CHANGES = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
}
ENOUGH = 20  # records between one event and the next


def write_transactions(bootstrap: str, topic: str, stop: threading.Event, committed: list[bytes]) -> None:
    """Write transactions of five records until `stop` is set; note those with an acknowledged commit."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 1})
    producer.init_transactions(30)
    number = 0
    while not stop.is_set():
        values = [b"%d" % (number + n) for n in range(5)]
        number += 5
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value, partition=number % PARTITIONS)
        try:
            producer.commit_transaction(30)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            producer.abort_transaction(30)
        else:
            committed += values


def write_plain(bootstrap: str, topic: str, stop: threading.Event, acknowledged: list[bytes]) -> None:
    """Write with acks=all and idempotence until `stop` is set; note the acknowledged records."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1})

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acknowledged.append(message.value())

    number = 0
    while not stop.is_set():
        producer.produce(topic, b"%d" % number, partition=number % PARTITIONS, on_delivery=delivered)
        number += 1
        producer.poll(0.005)
    assert producer.flush(30) == 0


def read_all(bootstrap: str, topic: str) -> Counter[bytes]:
    """Count what a read_committed consumer finds from the beginning to the end of every partition."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "isolation.level": "read_committed"})
    found: Counter[bytes] = Counter()
    ends = {}
    for index in range(PARTITIONS):
        ends[index] = end_offset(consumer, TopicPartition(topic, index))
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    for _ in range(500):
        for message in consumer.consume(1000, timeout=0.1):
            assert message.error() is None, message.error()
            found[message.value()] += 1
        positions = consumer.position([TopicPartition(topic, index) for index in range(PARTITIONS)])
        if all(position.offset >= ends[position.partition] for position in positions):
            break
    else:
        pytest.fail(f"the end was not reached: {positions}, {ends}")
    consumer.close()
    return found


def end_offset(consumer: Consumer, place: TopicPartition) -> int:
    """Return where a partition ends; asks again while its leader is about to change, which this call does not do."""
    for _ in range(100):
        try:
            _, end = consumer.get_watermark_offsets(place, 20)
        except KafkaException as error:
            if error.args[0].code() not in LEADER_CHANGES:
                raise
            consumer.poll(0.1)
        else:
            return int(end)
    raise TimeoutError(f"{place} finds no leader")


@pytest.mark.parametrize("write", [write_transactions, write_plain])
@pytest.mark.parametrize("go_down", [SandboxThread.stop_broker, SandboxThread.kill_broker])
def test_nothing_acknowledged_is_lost_or_doubled(
    go_down: Callable[[SandboxThread, int], None],
    write: Callable[[str, str, threading.Event, list[bytes]], None],
) -> None:
    with sandbox(Shape(3, "4.3", 2), fast=True) as cluster:
        topic = "restarts"
        create_topic(cluster.bootstrap, topic, PARTITIONS)
        stop = threading.Event()
        acknowledged: list[bytes] = []
        writer = threading.Thread(target=write, args=(cluster.bootstrap, topic, stop, acknowledged))
        writer.start()
        for broker_id in (1, 2, 3):
            wait_for_more(acknowledged, ENOUGH, writer)
            go_down(cluster, broker_id)
            wait_for_more(acknowledged, ENOUGH, writer)
            cluster.start_broker(broker_id)
        wait_for_more(acknowledged, ENOUGH, writer)
        stop.set()
        writer.join()
        found = read_all(cluster.bootstrap, topic)
    assert set(acknowledged) <= set(found)
    assert max(found.values()) == 1


def wait_for_more(acknowledged: list[bytes], count: int, writer: threading.Thread) -> None:
    """Return when so many more records were acknowledged; a writer that fails ends the wait."""
    enough = len(acknowledged) + count
    while len(acknowledged) < enough:
        writer.join(0.01)
        assert writer.is_alive(), "the writer failed"
