"""Read a topic as a downstream consumer does: committed records only, up to the last stable offset.

    python read_committed.py --bootstrap 127.0.0.1:9092 --topic payments --group audit

Reads until nothing has come for a second, commits, and prints how many records it got and where it stands. Run it again
after a hanging transaction was aborted, and it goes on from there.
"""

from __future__ import annotations

import argparse
import time

from confluent_kafka import Consumer, TopicPartition


def main() -> int:
    """Read what is readable now."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--group", default="audit")
    options = parser.parse_args()

    consumer = Consumer(
        {
            "bootstrap.servers": options.bootstrap,
            "group.id": options.group,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    metadata = consumer.list_topics(options.topic, timeout=10).topics[options.topic]
    partitions = [TopicPartition(options.topic, partition) for partition in sorted(metadata.partitions)]
    consumer.assign(
        [p if p.offset >= 0 else TopicPartition(p.topic, p.partition) for p in consumer.committed(partitions)]
    )

    records = 0
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < 1.0:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            records += 1
            quiet_since = time.monotonic()
    positions = [p for p in consumer.position(partitions) if p.offset >= 0]
    if positions:
        consumer.commit(offsets=positions, asynchronous=False)
    places = []
    for place in positions:
        # The newest offset by a read_uncommitted reader's count: what lies between is not visible to this consumer.
        _, end = consumer.get_watermark_offsets(place, timeout=10)
        places.append(f"{place.topic}-{place.partition} at {place.offset} of {end}")
    consumer.close()
    print(f"{records} committed records read; " + ", ".join(places))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
