"""Read a topic as a downstream consumer does: committed records only, up to the last stable offset.

    python read_committed.py --bootstrap 127.0.0.1:9092 --topic payments --group audit

Reads until each partition is at its end and no record has arrived for a second (`--patience-seconds`), commits, and
prints the number of records and its positions. If the log has records that it may not read, it logs this on standard
error; brokers do not. Run it again after a hanging transaction was aborted, and it continues from there.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

ANSWER_TIMEOUT_S = 600

log = logging.getLogger("reader")


def list_ends(
    admin: AdminClient, partitions: Sequence[TopicPartition], isolation: IsolationLevel
) -> dict[tuple[str, int], int]:
    """Return the end of each partition for an isolation level: its last stable offset or high watermark."""
    asked = {TopicPartition(p.topic, p.partition): OffsetSpec.latest() for p in partitions}
    futures = admin.list_offsets(asked, isolation_level=isolation, request_timeout=ANSWER_TIMEOUT_S)
    return {(place.topic, place.partition): future.result().offset for place, future in futures.items()}


def warn_of_blocked_partitions(bootstrap: str, places: Sequence[TopicPartition], quiet_s: float) -> None:
    """Warn of each partition with records beyond its last stable offset, where this consumer must stop.

    The consumer has no position in a partition without received records.
    """
    # Warnings only: an admin client with unserved events logs them at the information level.
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})
    stable = list_ends(admin, places, IsolationLevel.READ_COMMITTED)
    ends = list_ends(admin, places, IsolationLevel.READ_UNCOMMITTED)
    for place in places:
        name = (place.topic, place.partition)
        position = place.offset if place.offset >= 0 else stable[name]
        if position == stable[name] < ends[name]:
            log.warning(
                "no progress on %s-%d for %d s: position=%d last-stable-offset=%d high-watermark=%d",
                *(place.topic, place.partition, quiet_s, position, stable[name], ends[name]),
            )


def main() -> int:
    """Read all readable records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--group", default="audit")
    parser.add_argument("--patience-seconds", type=float, default=1.0)
    options = parser.parse_args()
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(threadName)s] %(name)s: %(message)s")

    consumer = Consumer(
        {
            "bootstrap.servers": options.bootstrap,
            "group.id": options.group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
        }
    )
    metadata = consumer.list_topics(options.topic).topics[options.topic]
    partitions = [TopicPartition(options.topic, partition) for partition in sorted(metadata.partitions)]
    consumer.assign(
        [p if p.offset >= 0 else TopicPartition(p.topic, p.partition) for p in consumer.committed(partitions)]
    )

    records = 0
    at_end: set[int] = set()
    quiet_since = time.monotonic()
    # Silence alone does not prove the end, since a busy machine may be quiet too.
    while len(at_end) < len(partitions) or time.monotonic() - quiet_since < options.patience_seconds:
        message = consumer.poll(0.1)
        if message is None:
            continue
        if message.error() is None:
            records += 1
            at_end.discard(message.partition())
            quiet_since = time.monotonic()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            at_end.add(message.partition())
    reached = consumer.position(partitions)
    warn_of_blocked_partitions(options.bootstrap, reached, options.patience_seconds)
    positions = [place for place in reached if place.offset >= 0]
    if positions:
        consumer.commit(offsets=positions, asynchronous=False)
    places = []
    for place in positions:
        # The end for read_uncommitted; this consumer cannot see the records in between.
        _, end = consumer.get_watermark_offsets(place)
        places.append(f"{place.topic}-{place.partition} at {place.offset} of {end}")
    consumer.close()
    print(f"{records} committed records read; " + ", ".join(places))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
