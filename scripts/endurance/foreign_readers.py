"""Consumers of two other vendors that read what is committed."""

from __future__ import annotations

import threading
from typing import Final

import confluent_kafka
import kafka

from scripts.endurance.ledger import PARTITIONS, Record

PATIENCE_S: Final = 60.0
CHUNK: Final = 1_000


def read_with_librdkafka(bootstrap: str, topic: str) -> list[Record]:
    """Return every committed record.

    Raises:
        SystemExit: The end of the topic is not reached.
    """
    consumer = _librdkafka(bootstrap, {"enable.partition.eof": True})
    consumer.assign([confluent_kafka.TopicPartition(topic, place, 0) for place in range(PARTITIONS)])
    found: list[Record] = []
    ends: set[int | None] = set()
    while len(ends) < PARTITIONS:
        message = consumer.poll(PATIENCE_S)
        if message is None:
            raise SystemExit(f"The end of {topic} is not reached: a transaction is still open.")
        error = message.error()
        if error is None:
            found.append(_record(message))
        elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
            ends.add(message.partition())
    consumer.close()
    return found


def read_with_kafka_python(bootstrap: str, topic: str) -> list[Record]:
    """Return every committed record.

    Raises:
        SystemExit: The end of the topic is not reached.
    """
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap, isolation_level="read_committed", enable_auto_commit=False
    )
    places = [kafka.TopicPartition(topic, place) for place in range(PARTITIONS)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    ends = consumer.end_offsets(places)
    found: list[Record] = []
    while any(consumer.position(place) < ends[place] for place in places):
        batches = consumer.poll(timeout_ms=int(PATIENCE_S * 1000), max_records=CHUNK)
        if not batches and any(consumer.position(place) < ends[place] for place in places):
            raise SystemExit(f"The end of {topic} is not reached: a transaction is still open.")
        found += [Record(one.partition, one.offset, one.value.decode()) for batch in batches.values() for one in batch]
    consumer.close()
    return found


def committed_offsets(bootstrap: str, group: str, topic: str) -> dict[int, int]:
    """Return the committed offset of each partition that has one."""
    consumer = _librdkafka(bootstrap, {"group.id": group})
    places = [confluent_kafka.TopicPartition(topic, place) for place in range(PARTITIONS)]
    found = {one.partition: one.offset for one in consumer.committed(places, PATIENCE_S) if one.offset >= 0}
    consumer.close()
    return found


def commit_start(bootstrap: str, group: str, topic: str) -> None:
    """Commit the start of each partition for a group."""
    consumer = _librdkafka(bootstrap, {"group.id": group})
    places = [confluent_kafka.TopicPartition(topic, place, 0) for place in range(PARTITIONS)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def watch(bootstrap: str, topic: str, watched: dict[tuple[int, int], str], ended: threading.Event) -> None:
    """Note each committed record by its partition and offset until the end."""
    consumer = _librdkafka(bootstrap, {"auto.offset.reset": "error"})
    consumer.assign([confluent_kafka.TopicPartition(topic, place, 0) for place in range(PARTITIONS)])
    while not ended.is_set():
        for message in consumer.consume(CHUNK, 0.2):
            if message.error() is None:
                record = _record(message)
                watched[record.partition, record.offset] = record.value
    consumer.close()


def _librdkafka(bootstrap: str, settings: dict[str, str | bool]) -> confluent_kafka.Consumer:
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "check",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "log_level": 0,
            **settings,
        }
    )


def _record(message: confluent_kafka.Message) -> Record:
    partition, offset, value = message.partition(), message.offset(), message.value()
    assert partition is not None and offset is not None and value is not None
    return Record(partition, offset, value.decode())
