"""A template for confluent-kafka: read a topic, process each record, write results and dead letters, exactly once.

    python exactly_once_app.py --bootstrap 127.0.0.1:9092 --input orders --output invoices --dead-letters rejected

What makes it exactly-once:

* results, dead letters, and input offsets are part of one transaction: all of them are committed, or none is;
* the input is read with read_committed: aborted records have no results;
* after an abort the application returns to the group's offsets; an error that it cannot repair ends the process, and
  its supervisor restarts it: the new instance fences the old one by its transactional id.

Check it: ``eosctl verify dlq --read orders --write invoices --dlq rejected --group pricing --yes``.
"""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

BATCH_SIZE = 20
POLL_S = 0.2
TIMEOUT_S = 10.0
MAX_ATTEMPTS = 10

log = logging.getLogger("pricing")


class UnprocessableRecord(Exception):  # noqa: N818
    """A record that can never be processed."""


@dataclass(frozen=True)
class Settings:
    """The cluster, topics, group, and transactional id of the application.

    ``transactional_id`` must be one that no other running instance has: derive it from a stable name of the instance,
    such as a StatefulSet's ordinal.
    """

    bootstrap: str
    input_topic: str
    output_topic: str
    dead_letters: str
    group_id: str = "pricing"
    transactional_id: str = "pricing-0"


class Application:
    """One instance; after an error that it cannot repair, start a new one."""

    isolation_level = "read_committed"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.consumer = Consumer(
            {
                "bootstrap.servers": settings.bootstrap,
                "group.id": settings.group_id,
                "isolation.level": self.isolation_level,
                "enable.auto.commit": False,  # offsets belong to the transaction
                "auto.offset.reset": "earliest",
            }
        )
        self.producer = Producer(
            {
                "bootstrap.servers": settings.bootstrap,
                "transactional.id": settings.transactional_id,
                "transaction.timeout.ms": 10_000,
                "linger.ms": 5,
            }
        )

    def run(self, stop: threading.Event) -> None:
        """Process batches until `stop` is set.

        Raises:
            KafkaException: This instance cannot continue; start another one.
        """
        self.producer.init_transactions(TIMEOUT_S)
        self.consumer.subscribe([self.settings.input_topic])
        try:
            while not stop.is_set():
                batch = self.consumer.consume(BATCH_SIZE, POLL_S)
                for message in batch:
                    if message.error() is not None:
                        raise KafkaException(message.error())
                if batch:
                    self.process(batch)
        finally:
            self.consumer.close()

    def process(self, batch: Sequence[Message]) -> None:
        """Process a batch in one transaction, or return to its beginning."""
        self.producer.begin_transaction()
        try:
            for message in batch:
                self.write_result(message)
            self.finish(batch)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            log.warning("aborting: %s", error)
            self.producer.abort_transaction(TIMEOUT_S)
            self.seek_to_committed()

    def write_result(self, message: Message) -> None:
        """Write the result of one record, or send it to the dead-letter topic."""
        try:
            self.send(self.settings.output_topic, message, process_value(message.value() or b""))
        except UnprocessableRecord as reason:
            log.info("rejected %s@%s: %s", message.topic(), message.offset(), reason)
            self.reject(message)

    def reject(self, message: Message) -> None:
        """Write a dead letter, in the same transaction."""
        self.send(self.settings.dead_letters, message, message.value() or b"")

    def send(self, topic: str, message: Message, value: bytes) -> None:
        """Write one record under the key of its input."""
        self.producer.produce(topic, value, key=message.key())
        self.producer.poll(0)

    def finish(self, batch: Sequence[Message]) -> None:
        """Commit results and offsets together."""
        self.producer.send_offsets_to_transaction(
            next_offsets(batch), self.consumer.consumer_group_metadata(), TIMEOUT_S
        )
        self.commit()

    def commit(self) -> None:
        """Commit; repeat the call while its error is retriable."""
        for _ in range(MAX_ATTEMPTS):
            try:
                self.producer.commit_transaction(TIMEOUT_S)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
                log.warning("retrying: %s", error)
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no response to the commit"))

    def seek_to_committed(self) -> None:
        """Seek to the group's offsets, so that records of the aborted transaction are processed again."""
        for place in self.consumer.committed(self.consumer.assignment(), TIMEOUT_S):
            start = place.offset if place.offset >= 0 else self.consumer.get_watermark_offsets(place, TIMEOUT_S)[0]
            self.consumer.seek(TopicPartition(place.topic, place.partition, start))


def process_value(value: bytes) -> bytes:
    """Return the result of an input; your code goes here.

    Raises:
        UnprocessableRecord: The input cannot be processed.
    """
    if value.startswith(b"poison"):
        raise UnprocessableRecord("it is poison")
    return b"priced " + value


def next_offsets(batch: Sequence[Message]) -> list[TopicPartition]:
    """Return the offsets at which to continue after a batch."""
    last: dict[tuple[str, int], int] = {}
    for message in batch:
        last[message.topic(), message.partition()] = message.offset() + 1
    return [TopicPartition(topic, partition, offset) for (topic, partition), offset in last.items()]


def main() -> None:
    """Parse the command line and run until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("bootstrap", "input", "output", "dead-letters"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--group", default="pricing")
    parser.add_argument("--transactional-id", default="pricing-0")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    stop = threading.Event()
    if given.seconds is not None:
        timer = threading.Timer(given.seconds, stop.set)
        timer.daemon = True
        timer.start()
    settings = Settings(
        given.bootstrap, given.input, given.output, given.dead_letters, given.group, given.transactional_id
    )
    Application(settings).run(stop)


if __name__ == "__main__":
    main()
