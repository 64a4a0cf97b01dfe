"""Steps that place replicas, and kill brokers at critical moments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from eosctl.client.destinations import Role
from eosctl.client.outcome import any_error, error_for_code
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.lab.rehearsals.steps.cluster import POLL_S, kill_broker, kill_controller
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from eosctl.wire.messages.list_transactions import ListTransactionsRequest


async def place_first(cluster: RehearsalCluster, *, topic: str, broker: int, elect: bool = True) -> None:
    """Make a broker the first replica of every partition of a topic and, by default, its leader."""
    await _reassign(cluster, topic, lambda _, replicas: [broker, *(other for other in replicas if other != broker)])
    if elect:
        await _elect(cluster, topic)


async def spread(cluster: RehearsalCluster, *, topic: str) -> None:
    """Spread the first replicas of a topic over its brokers, elect them, and wait for coordinators among them."""
    await _reassign(cluster, topic, lambda index, replicas: [*_turned(sorted(replicas), index)])
    await _elect(cluster, topic)
    for broker in (await cluster.client.refresh_metadata()).brokers:
        while await _is_loading(cluster, broker.node_id):
            await asyncio.sleep(POLL_S)


async def move(cluster: RehearsalCluster, *, topic: str, source: int, target: int) -> None:
    """Move every replica of a topic from one broker to another, and wait until they are in sync."""
    await _reassign(cluster, topic, lambda _, replicas: [target if one == source else one for one in replicas])
    while True:
        found = (await cluster.client.refresh_metadata([topic])).topic(topic)
        if found and all(source not in p.replicas and target in p.isr for p in found.partitions):
            return
        await asyncio.sleep(POLL_S)


async def die_in_sync(cluster: RehearsalCluster, *, broker: int) -> None:
    """Kill a broker and the controller once all replicas are in sync, so that no other leader is elected."""

    async def watch() -> None:
        while True:
            await asyncio.sleep(POLL_S)
            topics = (await cluster.client.refresh_metadata()).topics
            if all(len(p.isr) == len(p.replicas) for topic in topics for p in topic.partitions):
                await kill_controller(cluster)
                await kill_broker(cluster, broker=broker)
                return

    cluster.in_background(watch())


async def _is_loading(cluster: RehearsalCluster, broker_id: int) -> bool:
    answer = await cluster.client.request(broker_id, ApiKey.LIST_TRANSACTIONS, ListTransactionsRequest())
    return bool(answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _turned(replicas: Sequence[int], by: int) -> list[int]:
    by %= len(replicas)
    return [*replicas[by:], *replicas[:by]]


async def _reassign(cluster: RehearsalCluster, topic: str, target: Callable[[int, list[int]], list[int]]) -> None:
    found = (await cluster.client.refresh_metadata([topic])).topic(topic)
    assert found is not None
    wanted = [
        ReassignablePartition(p.partition.partition, target(p.partition.partition, list(p.replicas)))
        for p in found.partitions
    ]
    request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(topic, wanted)])
    answer = await cluster.client.request(Role.CONTROLLER, ApiKey.ALTER_PARTITION_REASSIGNMENTS, request, cap=0)
    if code := any_error(answer):
        raise error_for_code(code, f"AlterPartitionReassignments of {topic}")


async def _elect(cluster: RehearsalCluster, topic: str) -> None:
    found = (await cluster.client.refresh_metadata([topic])).topic(topic)
    assert found is not None
    indexes = [p.partition.partition for p in found.partitions]
    request = ElectLeadersRequest(0, [TopicPartitions(topic, indexes)], 10_000)
    await cluster.client.request(Role.CONTROLLER, ApiKey.ELECT_LEADERS, request, floor=1)
    while not all(p.leader_id == p.replicas[0] for p in found.partitions):
        await asyncio.sleep(POLL_S)
        found = (await cluster.client.refresh_metadata([topic])).topic(topic)
        assert found is not None
