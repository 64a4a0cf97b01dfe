"""The state of a simulation's brokers, as an outside observer sees it."""

from __future__ import annotations

from collections.abc import Collection

from eosctl.lab.simulation import Simulation
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode


def views_of_group(simulation: Simulation, group_id: str) -> list[Partition]:
    """Return the replica of a group's offsets partition on each running broker."""
    return [
        broker.replicas.partitions[partition]
        for broker in simulation.core.brokers()
        if (partition := TopicPartition(CONSUMER_OFFSETS_TOPIC, broker.groups.partition_for(group_id)))
        in broker.replicas.partitions
    ]


def has_open_transactions(simulation: Simulation) -> bool:
    """Return whether a coordinator has an open transaction, or is still loading."""
    for broker in simulation.core.brokers():
        known = broker.transactions.transactions()
        if isinstance(known, ErrorCode) or any(one.state.is_open for one in known):
            return True
    return False


def open_ends(simulation: Simulation, topics: Collection[str]) -> dict[TopicPartition, tuple[int, int]]:
    """Return the leader's last stable offset and high watermark of each partition with an open transaction."""
    return {
        partition: (stable, end)
        for broker in simulation.core.brokers()
        for partition, replica in broker.replicas.partitions.items()
        if replica.is_leader and partition.topic in topics
        if (stable := replica.log.last_stable_offset()) < (end := replica.log.high_watermark)
    }
