"""Three independent clients behind one small face, so that each behaviour is asked of all of them.

A driver translates names and waits; it repeats nothing and forgives nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import aiokafka
import aiokafka.admin
import aiokafka.errors
import confluent_kafka

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its resources in an old way
    import kafka
    import kafka.codec
    import kafka.errors

PATIENCE_S = 20.0
kafka_python_admin = kafka.KafkaAdminClient
aiokafka_admin = aiokafka.admin.AIOKafkaAdminClient
T = TypeVar("T")


class Fenced(Exception):  # noqa: N818 - the field's term
    """Another producer took over this transactional id."""


class Writer(Protocol):
    """A transactional producer, ready for its first transaction."""

    def begin(self) -> None: ...

    def send(self, topic: str, partition: int, value: bytes) -> int:
        """Produce one record and return its offset."""

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class Reader(Protocol):
    """A consumer: a member of a group, or one that reads given partitions."""

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        """Return partition, offset and value of the next records, ``count`` or a few more."""

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None: ...

    def committed(self, topic: str, partition: int) -> int | None: ...

    def group(self) -> Any: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """A client library."""

    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer: ...

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        """Open a consumer that subscribes, or with ``partitions`` is assigned that many of the topic."""


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
        def poll(timeout_s: float) -> list[tuple[int, int, bytes]]:
            messages = self._consumer.consume(1000, timeout=min(timeout_s, 0.1))
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


class KafkaPythonWriter:
    def __init__(self, bootstrap: str, transactional_id: str, compression: str) -> None:
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap.split(","),
            transactional_id=transactional_id,
            compression_type=None if compression == "none" else compression,
        )
        self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, partition: int, value: bytes) -> int:
        try:
            return int(self._producer.send(topic, value, partition=partition).get(PATIENCE_S).offset)
        except (kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError) as error:
            raise Fenced(error) from error

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None:
        offsets = {
            kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(offset, "", -1)
            for place, offset in positions.items()
        }
        self._producer.send_offsets_to_transaction(offsets, reader.group())

    def commit(self) -> None:
        try:
            self._producer.commit_transaction()
        except (kafka.errors.ProducerFencedError, kafka.errors.InvalidProducerEpochError) as error:
            raise Fenced(error) from error

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=PATIENCE_S)


class KafkaPythonReader:
    def __init__(self, bootstrap: str, topic: str, group: str, partitions: int | None, committed: bool) -> None:
        self._consumer = kafka.KafkaConsumer(
            bootstrap_servers=bootstrap.split(","),
            group_id=group,
            isolation_level="read_committed" if committed else "read_uncommitted",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
            fetch_max_wait_ms=100,
        )
        if partitions is None:
            self._consumer.subscribe([topic])
        else:
            self._consumer.assign([kafka.TopicPartition(topic, index) for index in range(partitions)])
            self._consumer.seek_to_beginning()

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        def poll(timeout_s: float) -> list[tuple[int, int, bytes]]:
            batches = self._consumer.poll(timeout_ms=int(min(timeout_s, 0.1) * 1000), max_records=1000).values()
            return [(record.partition, record.offset, record.value) for batch in batches for record in batch]

        return gather(poll, count)

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None:
        self._consumer.commit(
            {
                kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(offset, "", -1)
                for place, offset in positions.items()
            }
        )

    def committed(self, topic: str, partition: int) -> int | None:
        found = self._consumer.committed(kafka.TopicPartition(topic, partition))
        return None if found is None else int(found)

    def group(self) -> Any:
        return self._consumer.group_metadata()

    def close(self) -> None:
        self._consumer.close()


class KafkaPython:
    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer:
        return KafkaPythonWriter(bootstrap, transactional_id, compression)

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        return KafkaPythonReader(bootstrap, topic, group, partitions, committed)


class AiokafkaWriter:
    def __init__(self, loop: LoopThread, bootstrap: str, transactional_id: str, compression: str) -> None:
        async def open_producer() -> aiokafka.AIOKafkaProducer:
            producer = aiokafka.AIOKafkaProducer(
                bootstrap_servers=bootstrap.split(","),
                transactional_id=transactional_id,
                compression_type=None if compression == "none" else compression,
            )
            await producer.start()
            return producer

        self._loop = loop
        self._group_id = ""
        self._producer = loop.run(open_producer())

    def begin(self) -> None:
        self._loop.run(self._producer.begin_transaction())

    def send(self, topic: str, partition: int, value: bytes) -> int:
        try:
            return int(self._loop.run(self._producer.send_and_wait(topic, value, partition=partition)).offset)
        except aiokafka.errors.ProducerFenced as error:
            raise Fenced(error) from error

    def send_offsets(self, positions: Mapping[tuple[str, int], int], reader: Reader) -> None:
        offsets = {aiokafka.TopicPartition(*place): offset for place, offset in positions.items()}
        self._loop.run(self._producer.send_offsets_to_transaction(offsets, reader.group()))

    def commit(self) -> None:
        try:
            self._loop.run(self._producer.commit_transaction())
        except aiokafka.errors.ProducerFenced as error:
            raise Fenced(error) from error

    def abort(self) -> None:
        self._loop.run(self._producer.abort_transaction())

    def close(self) -> None:
        self._loop.run(self._producer.stop())


class AiokafkaReader:
    def __init__(
        self, loop: LoopThread, bootstrap: str, topic: str, group: str, partitions: int | None, committed: bool
    ) -> None:
        async def open_consumer() -> aiokafka.AIOKafkaConsumer:
            consumer = aiokafka.AIOKafkaConsumer(
                bootstrap_servers=bootstrap.split(","),
                group_id=group,
                isolation_level="read_committed" if committed else "read_uncommitted",
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                session_timeout_ms=6000,
                heartbeat_interval_ms=200,
                fetch_max_wait_ms=100,
            )
            if partitions is None:
                consumer.subscribe([topic])
            else:
                consumer.assign([aiokafka.TopicPartition(topic, index) for index in range(partitions)])
            await consumer.start()
            return consumer

        self._loop = loop
        self._group = group
        self._consumer = loop.run(open_consumer())

    def take(self, count: int) -> list[tuple[int, int, bytes]]:
        def poll(timeout_s: float) -> list[tuple[int, int, bytes]]:
            many = self._consumer.getmany(timeout_ms=int(min(timeout_s, 0.1) * 1000), max_records=1000)
            return [(r.partition, r.offset, r.value) for batch in self._loop.run(many).values() for r in batch]

        return gather(poll, count)

    def commit(self, positions: Mapping[tuple[str, int], int]) -> None:
        offsets = {aiokafka.TopicPartition(*place): offset for place, offset in positions.items()}
        self._loop.run(self._consumer.commit(offsets))

    def committed(self, topic: str, partition: int) -> int | None:
        found = self._loop.run(self._consumer.committed(aiokafka.TopicPartition(topic, partition)))
        return None if found is None else int(found)

    def group(self) -> Any:
        return self._group

    def close(self) -> None:
        self._loop.run(self._consumer.stop())


class Aiokafka:
    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop

    def writer(self, bootstrap: str, transactional_id: str, compression: str = "none") -> Writer:
        return AiokafkaWriter(self._loop, bootstrap, transactional_id, compression)

    def reader(
        self, bootstrap: str, topic: str, *, group: str, partitions: int | None = None, committed: bool = True
    ) -> Reader:
        return AiokafkaReader(self._loop, bootstrap, topic, group, partitions, committed)


def kafka_python_knows(codec: str) -> bool:
    """Tell whether kafka-python finds the library that it needs for a codec; the other clients bring theirs along."""
    return codec == "none" or bool(getattr(kafka.codec, f"has_{codec}")())


class LoopThread:
    """An event loop for the asyncio client, so that the tests can be plain functions."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="aiokafka", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def gather(poll: Any, count: int) -> list[tuple[int, int, bytes]]:
    """Poll until ``count`` records came; fewer fail after the patience."""
    found: list[tuple[int, int, bytes]] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += poll(0.1)
    assert len(found) >= count, f"{len(found)} records came in {PATIENCE_S} s, {count} were expected: {found}"
    return found
