"""Hanging transactions of each kind, with later changes of their partition."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from eosctl.client.client import Client
from eosctl.client.destinations import Role, transaction_coordinator
from eosctl.client.metadata import PartitionMetadata
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TransactionDialect, produce, wait_until_ended
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.lab.rehearsals.steps.cluster import kill_broker, start_broker, stop_broker
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import alter_partition_reassignments as reassign
from eosctl.wire.messages import create_topics, describe_producers, elect_leaders

OWNER: Final = "shop"
BROKERS: Final = (1, 2, 3)
SETTINGS: Final = {
    "transaction.partition.verification.enable": "false",
    "transactional.id.expiration.ms": "20000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "1",
    "unclean.leader.election.enable": "true",
    "unclean.leader.election.interval.ms": "1000",
    "replica.lag.time.max.ms": "3000",
}


class Hung(NamedTuple):
    """A transaction that hangs, and the marker that ends it rightly."""

    partition: TopicPartition
    committed: bool


async def late_produce(cluster: RehearsalCluster, dialect: TransactionDialect) -> Hung:
    """A batch arrives after the marker of its transaction, from a client below TV2."""
    partition = await _topic(cluster, (1,))
    producer = await _producer(cluster, TV1)
    await producer.send(partition, _records("before"))
    await producer.commit()
    await producer.send(partition, _records("a"))
    late = producer.encode(partition, _records("late"))
    await producer.commit()
    await wait_until_ended(cluster.client, OWNER)
    await produce(cluster.client, partition, late, transactional_id=OWNER, bounds=TV1.produce)
    return Hung(partition, committed=False)


async def expired_id(cluster: RehearsalCluster, dialect: TransactionDialect) -> Hung:
    """The same, and the transactional id expires before the reading."""
    hung = await late_produce(cluster, dialect)
    await asyncio.sleep(40)
    return hung


async def skipped_marker(cluster: RehearsalCluster, dialect: TransactionDialect) -> Hung:
    """A commit is decided while the partition has no leader (KAFKA-20734); one before it was delivered."""
    producer = await _producer(cluster, dialect)
    coordinator = await cluster.client.node_id(transaction_coordinator(OWNER))
    leader = next(broker for broker in BROKERS if broker != coordinator)
    partition = await _topic(cluster, (leader,))
    await producer.send(partition, _records("before"))
    await producer.commit()
    await producer.send(partition, _records("a"))
    await stop_broker(cluster, broker=leader)
    await producer.commit()
    await wait_until_ended(cluster.client, OWNER)
    await start_broker(cluster, broker=leader)
    await _led_by(cluster, partition, (leader,))
    return Hung(partition, committed=True)


async def unclean_election(cluster: RehearsalCluster, dialect: TransactionDialect) -> Hung:
    """A marker is written to one replica only, and the other one leads after that."""
    producer = await _producer(cluster, dialect)
    coordinator = await cluster.client.node_id(transaction_coordinator(OWNER))
    first, second = (broker for broker in BROKERS if broker != coordinator)
    partition = await _topic(cluster, (first, second))
    await producer.send(partition, _records("a"))
    await asyncio.sleep(2)
    await stop_broker(cluster, broker=second)
    await producer.commit()
    await wait_until_ended(cluster.client, OWNER)
    await kill_broker(cluster, broker=first)
    await start_broker(cluster, broker=second)
    await _led_by(cluster, partition, (second,))
    await start_broker(cluster, broker=first)
    await asyncio.sleep(5)
    return Hung(partition, committed=True)


async def fenced_instance(cluster: RehearsalCluster, dialect: TransactionDialect) -> Hung:
    """An instance that was fenced writes to a partition that its transaction did not declare."""
    partition = await _topic(cluster, (1,))
    other = (await ensure_topic(cluster.client, "other", partition_count=1, replica_count=1)).partitions[0].partition
    old = await _producer(cluster, TV1)
    await old.send(other, _records("a"))
    new = await _producer(cluster, dialect)
    await new.send(other, _records("b"))
    await new.commit()
    await wait_until_ended(cluster.client, OWNER)
    late = old.encode(partition, _records("late"))
    await produce(cluster.client, partition, late, transactional_id=OWNER, bounds=TV1.produce)
    return Hung(partition, committed=False)


async def no_change(cluster: RehearsalCluster, partition: TopicPartition) -> None:
    """Leave everything as it is."""


async def clean_election(cluster: RehearsalCluster, partition: TopicPartition) -> None:
    """Make another replica the leader, with all of them in sync."""
    leader = await _leader(cluster.client, partition)
    other = next(broker for broker in BROKERS if broker != leader)
    await _assign(cluster, partition, (other, leader))
    chosen = elect_leaders.TopicPartitions(partition.topic, [partition.partition])
    # Refused until the new replica is in sync; without another attempt, brokers try again after five minutes.
    while await _leader(cluster.client, partition) != other:
        await cluster.client.request(
            Role.CONTROLLER, ApiKey.ELECT_LEADERS, elect_leaders.ElectLeadersRequest(0, [chosen], 10_000)
        )
    await _led_by(cluster, partition, (other,))


async def restart(cluster: RehearsalCluster, partition: TopicPartition) -> None:
    """Restart the leader."""
    leader = await _leader(cluster.client, partition)
    await stop_broker(cluster, broker=leader)
    await start_broker(cluster, broker=leader)
    await _led_by(cluster, partition, BROKERS)


async def reassignment(cluster: RehearsalCluster, partition: TopicPartition) -> None:
    """Move the partition to a broker that has never held it."""
    info = await _info(cluster.client, partition)
    assert info is not None
    other = next((broker for broker in BROKERS if broker not in info.replicas), info.replicas[-1])
    await _assign(cluster, partition, (other,))
    await _led_by(cluster, partition, (other,))


async def _topic(cluster: RehearsalCluster, replicas: tuple[int, ...]) -> TopicPartition:
    assignment = create_topics.CreatableReplicaAssignment(0, list(replicas))
    topic = create_topics.CreatableTopic("orders", -1, -1, [assignment], [])
    await cluster.client.request(
        Role.CONTROLLER, ApiKey.CREATE_TOPICS, create_topics.CreateTopicsRequest([topic], 10_000, False)
    )
    partition = TopicPartition("orders", 0)
    await _led_by(cluster, partition, replicas)
    return partition


async def _producer(cluster: RehearsalCluster, dialect: TransactionDialect) -> TransactionalProducer:
    producer = TransactionalProducer(cluster.client, OWNER, now_ms=cluster.now_ms, dialect=dialect)
    await producer.init_transactions()
    return producer


async def _assign(cluster: RehearsalCluster, partition: TopicPartition, replicas: tuple[int, ...]) -> None:
    move = reassign.ReassignablePartition(partition.partition, list(replicas))
    request = reassign.AlterPartitionReassignmentsRequest(
        timeout_ms=10_000, topics=[reassign.ReassignableTopic(partition.topic, [move])]
    )
    await cluster.client.request(Role.CONTROLLER, ApiKey.ALTER_PARTITION_REASSIGNMENTS, request)
    while (info := await _info(cluster.client, partition)) is None or info.replicas != replicas:
        await asyncio.sleep(0.1)


async def _info(client: Client, partition: TopicPartition) -> PartitionMetadata | None:
    return (await client.refresh_metadata([partition.topic])).partition(partition)


async def _leader(client: Client, partition: TopicPartition) -> int:
    info = await _info(client, partition)
    assert info is not None
    assert info.leader_id is not None
    return info.leader_id


async def _led_by(cluster: RehearsalCluster, partition: TopicPartition, brokers: tuple[int, ...]) -> None:
    """Return once one of these brokers leads and knows it, which others may report before."""
    request = describe_producers.DescribeProducersRequest(
        [describe_producers.TopicRequest(partition.topic, [partition.partition])]
    )
    while True:
        info = await _info(cluster.client, partition)
        if info is not None and info.leader_id is not None and info.leader_id in brokers:
            answer = await cluster.client.request(info.leader_id, ApiKey.DESCRIBE_PRODUCERS, request)
            if answer.topics[0].partitions[0].error_code == ErrorCode.NONE:
                return
        await asyncio.sleep(0.1)


def _records(name: str) -> list[OutgoingRecord]:
    return [OutgoingRecord(name.encode(), b"{}")]
