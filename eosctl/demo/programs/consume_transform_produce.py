"""Consume, transform, produce: every order is priced exactly once.

Each batch of input is one transaction: the results and the input offsets become visible together, or not at all.

    python consume_transform_produce.py --bootstrap 127.0.0.1:9092 --seconds 5

Three parts run side by side: a transactional producer that writes orders, the application that reads them and writes
invoices, and an auditor that reads the invoices as a downstream consumer would (read_committed) and counts.
"""

from __future__ import annotations

import argparse
import json
import logging
import threading
import time
from collections import Counter

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

ORDERS, INVOICES = "orders", "invoices"
BATCH_SIZE = 20
# Time without invoices after which missing ones count as lost, even on a busy machine.
QUIET_S = 600

log = logging.getLogger("pricing")


def create_topics(bootstrap: str, partitions: int) -> None:
    """Create both topics unless they exist."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})  # Warnings only.
    futures = admin.create_topics([NewTopic(name, num_partitions=partitions) for name in (ORDERS, INVOICES)])
    for future in futures.values():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def write_orders(bootstrap: str, stop: threading.Event, written: Counter[str]) -> None:
    """Write orders in transactions of ten, and abort some of them."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "order-entry", "linger.ms": 5})
    producer.init_transactions()
    number = 0
    while not stop.is_set():
        producer.begin_transaction()
        for _ in range(10):
            order = {"order": f"o-{number}", "cents": 100 + number % 900}
            producer.produce(ORDERS, key=order["order"], value=json.dumps(order))
            number += 1
        if number % 100 == 0:
            producer.abort_transaction()
            written["aborted"] += 10
        else:
            producer.commit_transaction()
            written["committed"] += 10


def price_orders(bootstrap: str, group: str, stop: threading.Event) -> None:
    """Convert orders to invoices; input offsets are committed in the same transaction as the output."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"{group}-1", "linger.ms": 5})
    producer.init_transactions()
    consumer.subscribe([ORDERS])
    while not stop.is_set():
        orders = [message for message in consumer.consume(BATCH_SIZE, timeout=0.2) if message.error() is None]
        if not orders:
            continue
        producer.begin_transaction()
        for message in orders:
            order = json.loads(message.value())
            invoice = {"invoice": order["order"], "total_cents": round(order["cents"] * 1.19)}
            producer.produce(INVOICES, key=message.key(), value=json.dumps(invoice))
        next_offsets = {(m.topic(), m.partition()): m.offset() + 1 for m in orders}
        producer.send_offsets_to_transaction(
            [TopicPartition(topic, partition, offset) for (topic, partition), offset in next_offsets.items()],
            consumer.consumer_group_metadata(),
        )
        producer.commit_transaction()
    consumer.close()


def audit_invoices(bootstrap: str, group: str, stop: threading.Event, seen: Counter[str]) -> None:
    """Read as a downstream consumer; a duplicate invoice is a violation of exactly-once."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{group}-audit",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([INVOICES])
    while not stop.is_set():
        for message in consumer.consume(100, timeout=0.2):
            if message.error() is None:
                seen[json.loads(message.value())["invoice"]] += 1
    consumer.close()


def main() -> int:
    """Run the three parts for the given time, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--group", default="pricing")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(threadName)s %(message)s")

    create_topics(options.bootstrap, options.partitions)
    writing, reading = threading.Event(), threading.Event()
    written: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    bootstrap, group = options.bootstrap, options.group
    producer_thread = threading.Thread(target=write_orders, args=(bootstrap, writing, written), name="orders")
    reader_threads = [
        threading.Thread(target=price_orders, args=(bootstrap, group, reading), name="pricing"),
        threading.Thread(target=audit_invoices, args=(bootstrap, group, reading, seen), name="audit"),
    ]
    for thread in (producer_thread, *reader_threads):
        thread.start()
    try:
        time.sleep(options.seconds)
        writing.set()
        producer_thread.join()
        count, quiet_since = -1, time.monotonic()
        while len(seen) < written["committed"] and time.monotonic() - quiet_since < QUIET_S:
            if len(seen) > count:
                count, quiet_since = len(seen), time.monotonic()
            time.sleep(0.1)
    except KeyboardInterrupt:
        log.warning("interrupted; what is open is aborted when its producer's timeout is over")
    finally:
        writing.set()
        reading.set()
        for thread in (producer_thread, *reader_threads):
            thread.join()

    doubled = [invoice for invoice, times in seen.items() if times > 1]
    print(
        f"{written['committed']} orders committed, {written['aborted']} aborted on purpose; "
        f"{len(seen)} invoices seen, {len(doubled)} twice, {written['committed'] - len(seen)} missing"
    )
    return 0 if len(seen) == written["committed"] and not doubled else 1


if __name__ == "__main__":
    raise SystemExit(main())
