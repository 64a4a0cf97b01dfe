"""The load of a healthy cluster: transactions, an application that copies exactly once, and a group that reads it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.settings.filled_profiles import filled

PATIENCE_S = 120
SOURCE, TARGET, COPIER, READER = "orders", "totals", "totals-app", "billing"
ABORTED_EVERY = 10


class Load:
    """Applications in threads of their own, and how far each has come."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._ending = threading.Event()
        self._errors: list[BaseException] = []
        self._done = threading.Condition()
        self._rounds = {"produced": 0, "copied": 0, "read": 0}
        works = (self._produce, self._copy, self._read)
        self._threads = [threading.Thread(target=self._guard, args=(work,)) for work in works]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, rounds: int) -> None:
        """Return once every application has done so many further rounds; raise what one of them failed with."""
        with self._done:
            goal = {name: count + rounds for name, count in self._rounds.items()}
            self._done.wait_for(lambda: self._errors or all(self._rounds[name] >= goal[name] for name in goal))
        if self._errors:
            raise self._errors[0]

    def _guard(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (AssertionError, KafkaException) as error:
            with self._done:
                self._errors.append(error)
                self._done.notify_all()

    def _count(self, name: str) -> None:
        with self._done:
            self._rounds[name] += 1
            self._done.notify_all()

    def _produce(self) -> None:
        """Write transactions; some are aborted, as in every application."""
        producer = self._producer("orders-writer")
        number = 0
        while not self._ending.is_set():
            number += 1
            producer.begin_transaction()
            for line in range(3):
                producer.produce(SOURCE, f"{number}-{line}".encode(), key=str(number).encode())
            if number % ABORTED_EVERY:
                producer.commit_transaction(PATIENCE_S)
                self._count("produced")
            else:
                producer.abort_transaction(PATIENCE_S)
            self._ending.wait(0.05)  # the rate of the load

    def _copy(self) -> None:
        """Read committed records and write their copies with the offsets, as a task of Kafka Streams does."""
        producer, consumer = self._producer(f"{COPIER}-0"), self._consumer(COPIER, SOURCE)
        while not self._ending.is_set():
            if not (records := [one for one in consumer.consume(100, 0.1) if one.error() is None]):
                continue
            producer.begin_transaction()
            for record in records:
                producer.produce(TARGET, record.value())
            positions = [one for one in consumer.position(consumer.assignment()) if one.offset >= 0]
            producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), PATIENCE_S)
            producer.commit_transaction(PATIENCE_S)
            self._count("copied")
        consumer.close()

    def _read(self) -> None:
        """Read the copies as an ordinary group, and commit after each batch."""
        consumer = self._consumer(READER, TARGET)
        while not self._ending.is_set():
            if [one for one in consumer.consume(100, 0.1) if one.error() is None]:
                consumer.commit(asynchronous=False)
                self._count("read")
        consumer.close()

    def _producer(self, transactional_id: str) -> Producer:
        settings = filled("librdkafka-transactional", TRANSACTIONAL_ID=transactional_id)
        producer = Producer(self._bootstrap | settings)
        producer.init_transactions(PATIENCE_S)
        return producer

    def _consumer(self, group: str, topic: str) -> Consumer:
        consumer = Consumer(self._bootstrap | filled("consumer-read-committed", GROUP_ID=group))
        consumer.subscribe([topic])
        return consumer


@contextmanager
def ordinary_load(bootstrap: str) -> Iterator[Load]:
    """Run the applications, and yield once each of them works."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(SOURCE, 3, -1), NewTopic(TARGET, 3, -1)]).values():
        created.result(PATIENCE_S)
    load = Load(bootstrap)
    load.start()
    try:
        load.wait_for(5)
        yield load
    finally:
        load.end()
