"""The two anomalies of replication by high watermark alone (before KIP-101): both come back with the old rule.

Replicas A, B and C in this order: A leads first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.bugs import find_bug
from eosctl.sandbox.replication.partition import Partition
from eosctl.storage.checkpoints import EpochStart, read_epoch_checkpoint
from eosctl.wire.error_codes import ErrorCode
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
OLD_RULE = pytest.mark.parametrize("old_rule", [True, False], ids=["high watermark", "leader epoch"])


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    settings = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1"}
    harness = Harness(tmp_path, ClusterShape(3, settings=settings, fast=True), seed=3)
    yield harness
    harness.close()


def replica(harness: Harness, broker_id: int) -> Partition:
    return harness.core.broker(broker_id).replicas.partitions[ORDERS]


def leads(harness: Harness, broker_id: int) -> bool:
    hosted = harness.core.broker(broker_id).replicas.partitions.get(ORDERS)
    return hosted is not None and hosted.is_leader


def follow_by(harness: Harness, *, old_rule: bool) -> None:
    bug = find_bug("high-watermark-truncation", "4.3")
    for broker in harness.core.brokers():
        bug.switch(broker, old_rule)


def start(harness: Harness, broker_id: int, *, old_rule: bool) -> None:
    harness.core.start_node(broker_id)
    follow_by(harness, old_rule=old_rule)


def contents(harness: Harness, broker_id: int) -> bytes:
    return b"".join(data for _, data in replica(harness, broker_id).log.batches())


def write(client: EosClient, value: str) -> None:
    assert client.produce(None, ORDERS, [value]) is ErrorCode.NONE


@OLD_RULE
def test_an_acknowledged_record_is_lost_without_leader_epochs(harness: Harness, old_rule: bool) -> None:
    """B has m2 but not its high watermark. Following C, it truncates m2; then it is the last replica, and leads."""
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    harness.advance(1000)
    a, c, b = replica(harness, client.leader(ORDERS)).replicas
    follow_by(harness, old_rule=old_rule)
    write(client, "m1")
    harness.advance(1000)
    write(client, "m2")
    assert (replica(harness, b).log.high_watermark, replica(harness, b).log.end_offset) == (1, 2)
    harness.core.network.cut(b, c)
    harness.kill(a)
    harness.run_until(lambda: replica(harness, b).leader_id == c)
    harness.kill(c)
    harness.run_until(lambda: leads(harness, b))
    assert client.read(ORDERS) == (["m1"] if old_rule else ["m1", "m2"])
    harness.core.network.heal()
    for broker_id in (a, c):
        start(harness, broker_id, old_rule=old_rule)
    harness.run_until(lambda: harness.core.is_ready and len(replica(harness, b).isr) == 3)
    assert client.read(ORDERS) == (["m1"] if old_rule else ["m1", "m2"]), "gone everywhere, or nowhere"


@OLD_RULE
def test_replicas_differ_when_high_watermarks_are_equal(harness: Harness, old_rule: bool) -> None:
    """A alone has m2; an unclean leader B puts m3 in its place. A returns, sees equal offsets, and keeps m2."""
    client = EosClient(harness)
    client.create_topic("orders", 1, 2, unclean_leader_election_enable="true")
    harness.advance(1000)
    a, b = replica(harness, client.leader(ORDERS)).replicas
    follow_by(harness, old_rule=old_rule)
    write(client, "m1")
    harness.advance(1000)
    harness.stop(b)
    harness.run_until(lambda: replica(harness, a).isr == (a,))
    write(client, "m2")
    harness.stop(a)  # it notes its high watermark, which is behind m2
    start(harness, b, old_rule=old_rule)
    harness.run_until(lambda: leads(harness, b))
    write(client, "m3")
    start(harness, a, old_rule=old_rule)
    harness.run_until(lambda: harness.core.is_ready and len(replica(harness, b).isr) == 2)
    assert client.read(ORDERS) == ["m1", "m3"]
    assert (contents(harness, a) != contents(harness, b)) is old_rule


def test_the_checkpoint_of_epochs_says_who_wrote_what(harness: Harness) -> None:
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    write(client, "m1")
    first = client.leader(ORDERS)
    harness.stop(first)
    harness.run_until(lambda: client.leader(ORDERS) != first)
    write(client, "m2")
    second = client.leader(ORDERS)
    epoch = replica(harness, second).leader_epoch
    harness.advance(10_000)  # replica.high.watermark.checkpoint.interval.ms is 5 s
    path = harness.core.directory_of(second) / "orders-0" / "leader-epoch-checkpoint"
    assert path.read_text() == f"0\n2\n0 0\n{epoch} 1\n"
    assert read_epoch_checkpoint(path) == [EpochStart(0, 0), EpochStart(epoch, 1)]
