"""Applications of other vendors' clients that copy a topic, records and consumed offsets in one transaction.

A copier reads committed records from the committed offsets of its group and writes each to the partition of its source.
It opens its producer first, which ends the transaction of its predecessor: the offsets are then final. Without a
committed offset it fails: aiokafka 0.14 takes an OffsetFetch that a loading coordinator refuses for a group without
offsets, and would begin at the start of the topic again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol

import aiokafka
import confluent_kafka
import kafka

from scripts.endurance.foreign_clients import PATIENCE_S, bounded
from scripts.endurance.ledger import PARTITIONS, Record, copy_of

POLL_S: Final = 0.5
LARGEST: Final = 50
"""Records of one transaction at most."""

Positions = dict[int, int]
"""The next offset in each partition."""


class Copier(Protocol):
    """A consumer and a transactional producer."""

    def read(self) -> list[Record]:
        """Return the next records; none after a short time without any."""

    def write(self, records: Sequence[Record], *, commit: bool) -> None:
        """Copy the records and commit their offsets, or abort both.

        Raises:
            Exception: Anything: the outcome is unknown then, and the copier must be closed.
        """

    def close(self) -> None:
        """Close both clients without waiting."""


def positions_after(records: Sequence[Record]) -> Positions:
    """Return the offsets to commit after these records."""
    return {record.partition: record.offset + 1 for record in records}


class LibrdkafkaCopier:
    """confluent-kafka, on librdkafka."""

    def __init__(self, bootstrap: str, name: str, source: str, target: str) -> None:
        self._source, self._target = source, target
        self._producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": name, "log_level": 0}
        )
        self._producer.init_transactions(PATIENCE_S)
        self._consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": bootstrap, "group.id": name, "isolation.level": "read_committed",
             "enable.auto.commit": False, "auto.offset.reset": "error", "log_level": 0}
        )  # fmt: skip
        self._consumer.assign([confluent_kafka.TopicPartition(source, place) for place in range(PARTITIONS)])

    def read(self) -> list[Record]:
        """Return the next records."""
        found = []
        for message in self._consumer.consume(LARGEST, POLL_S):
            partition, offset, value = message.partition(), message.offset(), message.value()
            if message.error() is None and partition is not None and offset is not None and value is not None:
                found.append(Record(partition, offset, value.decode()))
        return found

    def write(self, records: Sequence[Record], *, commit: bool) -> None:
        """Run a transaction."""
        producer = self._producer
        producer.begin_transaction()
        for record in records:
            producer.produce(self._target, copy_of(record).encode(), partition=record.partition)
        producer.send_offsets_to_transaction(
            [confluent_kafka.TopicPartition(self._source, *place) for place in positions_after(records).items()],
            self._consumer.consumer_group_metadata(),
            PATIENCE_S,
        )
        if commit:
            producer.commit_transaction(PATIENCE_S)
        else:
            producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        """Drop what was not sent."""
        self._producer.purge()
        self._consumer.close()


class KafkaPythonCopier:
    """kafka-python."""

    def __init__(self, bootstrap: str, name: str, source: str, target: str) -> None:
        self._source, self._target = source, target
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap, transactional_id=name, max_block_ms=int(PATIENCE_S * 1000)
        )
        self._producer.init_transactions()
        self._consumer = kafka.KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=name, isolation_level="read_committed", enable_auto_commit=False,
            auto_offset_reset="none", fetch_max_wait_ms=100,
        )  # fmt: skip
        self._consumer.assign([kafka.TopicPartition(source, place) for place in range(PARTITIONS)])

    def read(self) -> list[Record]:
        """Return the next records."""
        batches = self._consumer.poll(timeout_ms=int(POLL_S * 1000), max_records=LARGEST).values()
        return [Record(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]

    def write(self, records: Sequence[Record], *, commit: bool) -> None:
        """Run a transaction."""
        producer = self._producer
        producer.begin_transaction()
        for sent in [
            producer.send(self._target, copy_of(record).encode(), partition=record.partition) for record in records
        ]:
            sent.get(PATIENCE_S)
        offsets = {
            kafka.TopicPartition(self._source, partition): kafka.structs.OffsetAndMetadata(offset, "", -1)
            for partition, offset in positions_after(records).items()
        }
        group = self._consumer.group_metadata()
        bounded(lambda: producer.send_offsets_to_transaction(offsets, group))
        bounded(producer.commit_transaction if commit else producer.abort_transaction)

    def close(self) -> None:
        """Close without waiting."""
        self._producer.close(timeout=0)
        self._consumer.close()


class AiokafkaCopier:
    """aiokafka, on an event loop of its own."""

    def __init__(self, bootstrap: str, name: str, source: str, target: str) -> None:
        self._name, self._source, self._target = name, source, target
        self._loop = asyncio.new_event_loop()
        self._producer, self._consumer = self._run(self._start(bootstrap))

    async def _start(self, bootstrap: str) -> tuple[aiokafka.AIOKafkaProducer, aiokafka.AIOKafkaConsumer]:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=self._name)
        await producer.start()
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=bootstrap, group_id=self._name, isolation_level="read_committed",
            enable_auto_commit=False, auto_offset_reset="none", fetch_max_wait_ms=100,
        )  # fmt: skip
        consumer.assign([aiokafka.TopicPartition(self._source, place) for place in range(PARTITIONS)])
        await consumer.start()
        return producer, consumer

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def read(self) -> list[Record]:
        """Return the next records."""
        batches = self._run(self._consumer.getmany(timeout_ms=int(POLL_S * 1000), max_records=LARGEST)).values()
        return [Record(one.partition, one.offset, one.value.decode()) for batch in batches for one in batch]

    def write(self, records: Sequence[Record], *, commit: bool) -> None:
        """Run a transaction."""
        self._run(self._write(records, commit=commit))

    async def _write(self, records: Sequence[Record], *, commit: bool) -> None:
        producer = self._producer
        await producer.begin_transaction()
        for record in records:
            await producer.send(self._target, copy_of(record).encode(), partition=record.partition)
        offsets = {
            aiokafka.TopicPartition(self._source, partition): offset
            for partition, offset in positions_after(records).items()
        }
        await producer.send_offsets_to_transaction(offsets, self._name)
        if commit:
            await producer.commit_transaction()
        else:
            await producer.abort_transaction()

    def close(self) -> None:
        """Stop the tasks of both clients."""
        try:
            self._run(self._consumer.stop())
            self._run(self._producer.client.close())
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()


COPIERS: Final[dict[str, Callable[[str, str, str, str], Copier]]] = {
    "librdkafka": LibrdkafkaCopier,
    "kafka-python": KafkaPythonCopier,
    "aiokafka": AiokafkaCopier,
}
