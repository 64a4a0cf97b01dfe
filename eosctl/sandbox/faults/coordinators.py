"""Faults of coordinators: move a coordinator like an administrator, or reload its log.

A move reassigns the partition and elects the preferred leader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from eosctl.errors import EosctlError
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.metadata.image import PartitionState
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions

_TIMEOUT_MS: Final = 10_000
_POLL_S: Final = 0.02
_PREFERRED: Final = 0


async def move_coordinator(core: ClusterCore, order: FaultOrder) -> str:
    """Move the coordinator of a group or transactional id to another replica, or reload it.

    Returns:
        A description of the change.

    Raises:
        EosctlError: The partition does not exist, has no leader or no other replica, or did not move in time.
    """
    partition = _partition_of(core, order)
    if order.kind is FaultKind.UNLOAD_COORDINATOR:
        return _unload(core, partition)
    state = _state(core, partition)
    to = order.to if order.to is not None else _next_replica(state, partition)
    if to not in state.isr:
        raise EosctlError(
            f"Broker {to} cannot coordinate {partition} now.",
            f"In sync are {_describe_move(state.isr)}.",
            "Choose one of these.",
        )
    former = state.leader
    replicas = [to, *(replica for replica in state.replicas if replica != to)]
    topic = ReassignableTopic(partition.topic, [ReassignablePartition(partition.partition, replicas)])
    await _request(
        core, ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, AlterPartitionReassignmentsRequest(_TIMEOUT_MS, True, [topic])
    )
    wanted = [TopicPartitions(partition.topic, [partition.partition])]
    await _request(core, ApiKey.ELECT_LEADERS, 2, ElectLeadersRequest(_PREFERRED, wanted, _TIMEOUT_MS))
    async with asyncio.timeout(_TIMEOUT_MS / 1000):
        while any(state.leader != to for state in _states(core, partition)):
            await asyncio.sleep(_POLL_S)
    return f"{partition} is led by {to} instead of {former}"


def _unload(core: ClusterCore, partition: TopicPartition) -> str:
    leading = [broker for broker in core.brokers() if _leads(broker, partition)]
    if not leading:
        raise EosctlError(f"{partition} has no leader.", "Its replicas are down or fenced.", "Start its brokers.")
    _reload(leading[0], partition)
    return f"broker {leading[0].node_id} reads {partition} again"


def _reload(broker: Broker, partition: TopicPartition) -> None:
    """Unload a partition that the broker leads and load it like a new leader."""
    coordinator = broker.groups if partition.topic == CONSUMER_OFFSETS_TOPIC else broker.transactions
    coordinator.resign(partition.partition, None)
    coordinator.become_leader(partition.partition, broker.replicas.partitions[partition].leader_epoch)


def begin_replay_storm(broker: Broker, load_ms: float) -> Callable[[], None]:
    """Reload all partitions of a broker's transaction coordinator; every load takes `load_ms` from now on.

    Returns:
        A function that ends the fault: loads take no extra time, and pending loads complete immediately.
    """
    states = broker.transactions.states
    former, states.load_ms = states.load_ms, load_ms
    _reload_transactions(broker)

    def end() -> None:
        states.load_ms = former
        if states.is_loading and not broker.stopped:
            _reload_transactions(broker)

    return end


def _reload_transactions(broker: Broker) -> None:
    for partition in tuple(broker.replicas.partitions):
        if partition.topic == TRANSACTION_STATE_TOPIC and _leads(broker, partition):
            _reload(broker, partition)


def _leads(broker: Broker, partition: TopicPartition) -> bool:
    hosted = broker.replicas.partitions.get(partition)
    return hosted is not None and hosted.is_leader


def _partition_of(core: ClusterCore, order: FaultOrder) -> TopicPartition:
    topic, key = (
        (CONSUMER_OFFSETS_TOPIC, order.group) if order.group else (TRANSACTION_STATE_TOPIC, order.transactional_id)
    )
    brokers = core.brokers()
    count = brokers[0].metadata.partition_count(topic) if brokers else 0
    if not count:
        raise EosctlError(
            f"{key} has no coordinator yet.",
            f"{topic} does not exist before the first group or id is used.",
            "Use the group or id first.",
        )
    return TopicPartition(topic, partition_for(key, count))


def _states(core: ClusterCore, partition: TopicPartition) -> list[PartitionState]:
    found = (broker.metadata.partition(partition) for broker in core.brokers())
    return [state for state in found if state is not None]


def _state(core: ClusterCore, partition: TopicPartition) -> PartitionState:
    return _states(core, partition)[0]


def _next_replica(state: PartitionState, partition: TopicPartition) -> int:
    others = [replica for replica in state.isr if replica != state.leader]
    if not others:
        raise EosctlError(
            f"{partition} has no other replica in sync.",
            f"Its replicas are {_describe_move(state.replicas)}.",
            "Use more brokers.",
        )
    return others[0]


async def _request(core: ClusterCore, api: ApiKey, version: int, request: Any) -> None:
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def take(answer: Any | None) -> None:
        if not answered.done():
            answered.set_result(answer)

    core.brokers()[0].channel.send_to_controller(api, version, request, take)
    core.ticks.schedule()
    answer = await asyncio.wait_for(answered, _TIMEOUT_MS / 1000)
    if answer is None or answer.error_code:
        raise EosctlError(f"The controller did not take {api.name}.", f"It answered {answer}.", "Is one running?")


def _describe_move(nodes: tuple[int, ...]) -> str:
    return ", ".join(map(str, nodes)) or "none"
