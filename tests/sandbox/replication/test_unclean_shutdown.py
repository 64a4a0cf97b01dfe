"""A broker that was killed may have lost records: it is not eligible to lead when it comes back (KIP-966)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
STRICT = {"min.insync.replicas": "2"}


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), settings=STRICT, fast=True))
    EosClient(harness).create_topic("orders", 1, 2)
    yield harness
    harness.close()


def leadership(harness: Harness, broker_id: int) -> tuple[int, list[int], list[int], list[int]]:
    """Return leader, ISR, eligible leader replicas, and the last known leader, as clients receive them."""
    request = DescribeTopicPartitionsRequest([TopicRequest("orders")], 10, None)
    found = harness.request(broker_id, ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, request).topics[0].partitions[0]
    lists = (found.isr_nodes, found.eligible_leader_replicas, found.last_known_elr)
    return found.leader_id, *(list(part or ()) for part in lists)


def end(harness: Harness, broker_id: int, *, clean: bool) -> None:
    if clean:
        harness.core.stop_node(broker_id, clean=True)
    else:
        harness.kill(broker_id)
    harness.advance(3000)


@pytest.mark.parametrize("clean", [True, False])
def test_who_was_killed_is_not_eligible_any_more(harness: Harness, clean: bool) -> None:
    state = harness.core.brokers()[0].metadata.topics["orders"].partitions[0]
    leader, follower = state.replicas
    (other,) = {1, 2, 3} - {leader, follower}
    end(harness, follower, clean=clean)
    assert leadership(harness, other) == (leader, [leader], [follower], [])
    end(harness, leader, clean=clean)
    left, isr, eligible, last = leadership(harness, other)
    assert (left, isr, sorted(eligible), last) == (-1, [], sorted((leader, follower)), [leader])
    harness.core.start_node(follower)
    harness.advance(3000)
    if clean:  # it wrote down with which epoch it ended, so it holds what it held: all that was acknowledged
        assert leadership(harness, other)[0] == follower
        return
    assert leadership(harness, other) == (-1, [], [leader], [leader])
    harness.core.start_node(leader)
    harness.run_until(lambda: set(leadership(harness, other)[1]) == {leader, follower})
    assert leadership(harness, other)[0] == leader
    assert leadership(harness, other)[2:] == ([], [])


def test_who_forgot_its_directory_is_as_good_as_killed(harness: Harness) -> None:
    leader, follower = harness.core.brokers()[0].metadata.topics["orders"].partitions[0].replicas
    end(harness, follower, clean=True)
    mark = harness.core.directory_of(follower) / ".kafka_cleanshutdown"
    mark.unlink()
    harness.core.network.cut(leader, follower)  # it does not catch up
    harness.core.start_node(follower)
    harness.advance(1000)
    (other,) = {1, 2, 3} - {leader, follower}
    assert leadership(harness, other)[:3] == (leader, [leader], [])
