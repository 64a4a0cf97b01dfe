"""Transactional producers of three other vendors, each as one function that runs one transaction."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

import aiokafka
import confluent_kafka
import kafka

from scripts.endurance.ledger import Outcome

PATIENCE_S: Final = 15.0
Result = TypeVar("Result")


class Writer(Protocol):
    """A producer with one transactional id."""

    def write(self, topic: str, values: Sequence[bytes], outcome: Outcome) -> None:
        """Run a transaction that writes the values to partitions 0, 1, ... and commits, aborts, or abandons it.

        Raises:
            Exception: Anything: the outcome is unknown then, and the writer must be closed.
        """

    def close(self) -> None:
        """Close the producer without waiting."""


class LibrdkafkaWriter:
    """confluent-kafka, on librdkafka."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "log_level": 0}
        )
        self._producer.init_transactions(PATIENCE_S)

    def write(self, topic: str, values: Sequence[bytes], outcome: Outcome) -> None:
        """Run a transaction."""
        producer = self._producer
        producer.begin_transaction()
        for partition, value in enumerate(values):
            producer.produce(topic, value, partition=partition)
        if outcome is Outcome.COMMITTED:
            producer.commit_transaction(PATIENCE_S)
            return
        producer.flush(PATIENCE_S)
        if outcome is Outcome.ABORTED:
            producer.abort_transaction(PATIENCE_S)

    def close(self) -> None:
        """Drop what was not sent."""
        self._producer.purge()


class KafkaPythonWriter:
    """kafka-python."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap, transactional_id=transactional_id, max_block_ms=int(PATIENCE_S * 1000)
        )
        self._producer.init_transactions()

    def write(self, topic: str, values: Sequence[bytes], outcome: Outcome) -> None:
        """Run a transaction."""
        producer = self._producer
        producer.begin_transaction()
        for sent in [producer.send(topic, value, partition=place) for place, value in enumerate(values)]:
            sent.get(PATIENCE_S)
        if outcome is not Outcome.ABANDONED:
            bounded(producer.commit_transaction if outcome is Outcome.COMMITTED else producer.abort_transaction)

    def close(self) -> None:
        """Close without waiting."""
        self._producer.close(timeout=0)


def bounded(call: Callable[[], Result], limit_s: float = PATIENCE_S) -> Result:
    """Run a call that has no time limit of its own.

    Raises:
        TimeoutError: It has not returned in time. Its thread is left behind.
    """
    returned: list[Result] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            returned.append(call())
        except Exception as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if raised:
        raise raised[0]
    if not returned:
        raise TimeoutError(f"no result after {limit_s:.0f} s")
    return returned[0]


class AiokafkaWriter:
    """aiokafka, on an event loop of its own."""

    def __init__(self, bootstrap: str, transactional_id: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._producer = self._run(self._start(bootstrap, transactional_id))

    async def _start(self, bootstrap: str, transactional_id: str) -> aiokafka.AIOKafkaProducer:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
        await producer.start()
        return producer

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def write(self, topic: str, values: Sequence[bytes], outcome: Outcome) -> None:
        """Run a transaction."""
        self._run(self._write(topic, values, outcome))

    async def _write(self, topic: str, values: Sequence[bytes], outcome: Outcome) -> None:
        producer = self._producer
        await producer.begin_transaction()
        await asyncio.gather(
            *[await producer.send(topic, value, partition=place) for place, value in enumerate(values)]
        )
        if outcome is Outcome.COMMITTED:
            await producer.commit_transaction()
        elif outcome is Outcome.ABORTED:
            await producer.abort_transaction()

    def close(self) -> None:
        """Stop its tasks."""
        try:
            self._run(self._producer.client.close())
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()


WRITERS: Final[dict[str, Callable[[str, str], Writer]]] = {
    "librdkafka": LibrdkafkaWriter,
    "kafka-python": KafkaPythonWriter,
    "aiokafka": AiokafkaWriter,
}
