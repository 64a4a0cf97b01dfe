"""A payment service with a fixed transactional.id: start it twice, and the first instance becomes a zombie.

    python payments.py --bootstrap 127.0.0.1:9092 --stand-still 2> payments-a.log
    python payments.py --bootstrap 127.0.0.1:9092 2> payments-b.log               (in another terminal)

The first instance pauses in the middle of a transaction until Enter is pressed, like a process in a long garbage
collection or on a sleeping laptop. The second one takes over: the open transaction is aborted, and the next request of
the first one is refused. It must then end, and it does, with exit status 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time

from confluent_kafka import KafkaException, Producer

TOPIC = "payments"
# The maximum that brokers allow, so that a paused instance is fenced instead of timing out.
STANDING_STILL_MS = 900_000

log = logging.getLogger("payments")


def pay(producer: Producer, first: int, count: int) -> None:
    """Write payments in the open transaction, and wait until they are acknowledged."""
    for number in range(first, first + count):
        producer.produce(TOPIC, key=f"payment-{number}", value=json.dumps({"cents": 100 + number}))
    producer.flush()


def run(bootstrap: str, transactional_id: str, *, stand_still: bool) -> None:
    """Commit two transactions; optionally pause in the second one until a line can be read."""
    log.info("starting, transactional.id=%s", transactional_id)
    settings = {"bootstrap.servers": bootstrap, "transactional.id": transactional_id}
    if stand_still:
        settings["transaction.timeout.ms"] = str(STANDING_STILL_MS)
    producer = Producer(settings)
    producer.init_transactions()
    for first in (0, 10):
        producer.begin_transaction()
        pay(producer, first, 5)
        if first and stand_still:
            log.info("standing still")
            sys.stdin.readline()
            log.info("continuing")
        pay(producer, first + 5, 5)
        producer.commit_transaction()
        log.info("committed 10 payments")


def main() -> int:
    """Run one instance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--transactional-id", default="payment-service")
    parser.add_argument("--stand-still", action="store_true")
    options = parser.parse_args()
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")
    try:
        run(options.bootstrap, options.transactional_id, stand_still=options.stand_still)
    except KafkaException:
        log.exception("payments failed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
