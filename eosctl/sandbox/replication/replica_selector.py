"""Selection of the replica that a consumer reads from (KIP-392, Kafka's `RackAwareReplicaSelector`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.replication.partition import Partition

RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class ReplicaView(NamedTuple):
    """A replica for reading; the greatest is preferred: by log end offset, then by time of being caught up."""

    end_offset: int
    caught_up_ms: int
    broker_id: int


def client_rack(rack_id: str, config: BrokerConfig) -> str:
    """Return the rack in which a client reads; empty without a replica selector for it."""
    return rack_id if rack_id and config.get_str("replica.selector.class") == RACK_AWARE_SELECTOR else ""


def select_replica(
    partition: Partition, offset: int, client_rack: str, rack_of: Callable[[int], str | None]
) -> int | None:
    """Return a follower in the client's rack that has the offset; None to read from the leader.

    Args:
        partition: A partition that this broker leads.
        offset: The fetch offset.
        client_rack: The client's `client.rack`, empty for none.
        rack_of: The rack of a live broker, else None.
    """
    if not client_rack or rack_of(partition.broker_id) == client_rack:
        return None
    near = [
        ReplicaView(follower.end_offset, follower.caught_up_ms, broker_id)
        for broker_id, follower in partition.followers.items()
        if broker_id in partition.isr
        and follower.start_offset <= offset <= follower.end_offset
        and rack_of(broker_id) == client_rack
    ]
    return max(near).broker_id if near else None
