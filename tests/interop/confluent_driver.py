"""confluent-kafka, on librdkafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import confluent_kafka

from tests.interop.drivers import PATIENCE_S, Fenced, Reader, Writer, gather


class ConfluentWriter:
    def __init__(self, bootstrap: str, transactional_id: str, compression: str) -> None:
        self._offset = -1
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "compression.type": compression,
                "linger.ms": 0,
            }
        )
        self._producer.init_transactions(PATIENCE_S)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, partition: int, value: bytes) -> int:
        failed: list[Any] = []

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                failed.append(error)
            else:
                self._offset = message.offset()

        self._producer.produce(topic, value, partition=partition, on_delivery=delivered)
        assert self._producer.flush(PATIENCE_S) == 0
        if failed:
            raise Fenced(failed[0])
        return self._offset

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None:
        offsets = [confluent_kafka.TopicPartition(*place, offset) for place, offset in positions.items()]
        self._producer.send_offsets_to_transaction(offsets, reader.group(), PATIENCE_S)

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(PATIENCE_S)
        except confluent_kafka.KafkaException as error:
            if error.args[0].code() in (confluent_kafka.KafkaError._FENCED, confluent_kafka.KafkaError.PRODUCER_FENCED):
                raise Fenced(error) from error
            raise

    def abort(self) -> None:
        self._producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        self._producer.purge()


class ConfluentReader:
    def __init__(self, bootstrap: str, topic: str, group: str, partitions: int | None, committed: bool) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "isolation.level": "read_committed" if committed else "read_uncommitted",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 200,
                "fetch.wait.max.ms": 100,
            }
        )
        if partitions is None:
            self._consumer.subscribe([topic])
        else:
            self._consumer.assign([confluent_kafka.TopicPartition(topic, index, 0) for index in range(partitions)])

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        def poll() -> list[tuple[int, int, bytes]]:
            messages = self._consumer.consume(1000, timeout=0.1)
            for message in messages:
                assert message.error() is None, message.error()
            return [(message.partition(), message.offset(), message.value()) for message in messages]

        return gather(poll, count)

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None:
        offsets = [confluent_kafka.TopicPartition(*place, offset) for place, offset in positions.items()]
        self._consumer.commit(offsets=offsets, asynchronous=False)

    def committed(self, topic: str, partition: int) -> int | None:
        (found,) = self._consumer.committed([confluent_kafka.TopicPartition(topic, partition)], PATIENCE_S)
        return None if found.offset < 0 else int(found.offset)

    def group(self) -> Any:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._consumer.close()


class Confluent:
    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer:
        return ConfluentWriter(bootstrap, transactional_id, compression)

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        return ConfluentReader(bootstrap, topic, group, partitions, committed)
