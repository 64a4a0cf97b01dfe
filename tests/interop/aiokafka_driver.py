"""aiokafka, on asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import aiokafka
import aiokafka.errors

from tests.interop.drivers import PATIENCE_S, Fenced, Reader, Writer, gather

T = TypeVar("T")


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
        def poll() -> list[tuple[int, int, bytes]]:
            many = self._consumer.getmany(timeout_ms=100, max_records=1000)
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
