"""Hours of load on virtual time: what a cluster keeps in memory and in files does not grow with the time that it runs.

Every id begins, writes, ends, and returns an hour later, when all nodes have forgotten it: state that Kafka keeps for
days expires within a quarter of an hour here. Topics are created and deleted. ``make prove virtual-day`` runs a day.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition, topic_partition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

HOURS = float(os.environ.get("EOSCTL_VIRTUAL_HOURS", "1.5"))
WARM_UP_HOURS = 0.75
STEPS_PER_HOUR = 360
HOUR_MS = 3_600_000
PARTITIONS = 3
EXPIRY_MS = "900000"
VALUE = "x" * 2_000  # so much that what each log keeps in memory of its end is full within the warm-up
SETTINGS = {
    "broker.heartbeat.interval.ms": "5000",  # idling costs most of the time
    "broker.session.timeout.ms": "20000",
    "log.cleaner.backoff.ms": "60000",
    "log.cleaner.delete.retention.ms": EXPIRY_MS,
    "log.cleaner.min.cleanable.ratio": "0.1",
    "log.retention.check.interval.ms": "60000",
    "log.retention.ms": EXPIRY_MS,
    "log.roll.ms": "300000",
    "log.segment.delete.delay.ms": "1000",
    "metadata.log.max.snapshot.interval.ms": EXPIRY_MS,
    "metadata.log.segment.ms": "300000",
    "metadata.max.idle.interval.ms": "1000",
    "metadata.max.retention.ms": EXPIRY_MS,
    "producer.id.expiration.check.interval.ms": "60000",
    "producer.id.expiration.ms": EXPIRY_MS,
    "transaction.remove.expired.transaction.cleanup.interval.ms": "60000",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.segment.bytes": str(1 << 20),
    "transactional.id.expiration.ms": EXPIRY_MS,
}
#: One object kept for each transaction is 360 blocks an hour; waves of what comes and goes are some 600 high.
BLOCKS_OF_WAVES = 900
BLOCKS_AN_HOUR = 24


class Held(NamedTuple):
    """What the process and the data directory hold: blocks of Python's memory, descriptors, files, bytes in them."""

    blocks: int
    descriptors: int
    files: int
    disk: int


def held(data: Path) -> Held:
    # It remembers 16,384 names at most, also of topics that have gone, and would fill up for weeks here.
    topic_partition.cache_clear()
    gc.collect()
    sizes = [path.stat().st_size for path in data.rglob("*") if path.is_file()]
    return Held(sys.getallocatedblocks(), len(list(Path("/proc/self/fd").iterdir())), len(sizes), sum(sizes))


def test_a_long_running_cluster_does_not_grow(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(1, Emulation("4.3"), settings=SETTINGS))
    client = EosClient(harness, implicit=True)
    client.create_topic("orders", PARTITIONS)
    looks: list[Held] = []
    steps = round(HOURS * STEPS_PER_HOUR)
    for step in range(steps + 1):
        if step >= WARM_UP_HOURS * STEPS_PER_HOUR and step % (STEPS_PER_HOUR // 4) == 0:
            looks.append(held(tmp_path))
        handle = client.init(f"app-{step % STEPS_PER_HOUR}")
        place = TopicPartition("orders", step % PARTITIONS)
        assert client.produce(handle, place, [VALUE]) is ErrorCode.NONE
        if not step % 10:
            client.create_topic(f"brief-{step}")
            deletion = DeleteTopicsRequest(topic_names=[f"brief-{step}"], timeout_ms=1_000)
            deleted = harness.request(1, ApiKey.DELETE_TOPICS, 4, deletion)
            assert [topic.error_code for topic in deleted.responses] == [ErrorCode.NONE]
        if step % 7:  # every seventh is left to its timeout
            assert client.end(handle, commit=bool(step % 5)) is ErrorCode.NONE
        harness.advance(HOUR_MS / STEPS_PER_HOUR)
    harness.close()
    # Segments come and go in rhythms of their own: the most of a half hour is held against the most of another.
    first = Held(*map(max, zip(*looks[:2], strict=True)))
    last = Held(*map(max, zip(*looks[-2:], strict=True)))
    assert last.blocks - first.blocks < BLOCKS_OF_WAVES + BLOCKS_AN_HOUR * (HOURS - WARM_UP_HOURS), looks
    # A leak of one descriptor for each topic that comes and goes would be 13 in the half hour between the two.
    assert last.descriptors <= first.descriptors + 5, looks
    assert last.files <= first.files + 10, looks
    assert last.disk <= first.disk * 1.2 + 100_000, looks
