"""The internal state of a cluster as JSON values: nodes, leaders, offsets, and open transactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.transaction.metadata import AT_REST
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.metadata.image import ClusterImage


def describe_cluster(core: ClusterCore, addresses: Mapping[int, str]) -> dict[str, Any]:
    """Describe a cluster.

    Args:
        core: The nodes.
        addresses: The client address of each broker, running or not.

    Returns:
        `cluster_id`, `emulate`, `transaction_version` (None while unknown), `metadata_offset` (of the metadata that is
        described, None without), `controller` (the id of the active one, None without), `controllers`, `brokers`,
        `partitions` (offsets only where the leader runs) and `transactions` (open or ending, from their coordinators).
    """
    image = next((broker.metadata for broker in core.brokers()), None)
    controllers = [_controller(core, node_id) for node_id in core.controller_ids]
    return {
        "cluster_id": core.cluster_id,
        "emulate": core.shape.emulation.release,
        "transaction_version": image.finalized_feature("transaction.version") if image is not None else None,
        "metadata_offset": image.last_offset if image is not None else None,
        "controller": next((found["id"] for found in controllers if found["active"]), None),
        "controllers": controllers,
        "brokers": [
            {
                "id": broker_id,
                "address": addresses.get(broker_id, ""),
                "running": broker_id in core.nodes,
                "ready": broker_id in core.nodes and core.broker(broker_id).is_ready,
            }
            for broker_id in core.broker_ids
        ],
        "partitions": list(_partitions(core, image)) if image is not None else [],
        "transactions": list(_transactions(core)),
    }


def _controller(core: ClusterCore, node_id: int) -> dict[str, Any]:
    node = core.nodes.get(node_id)
    controller = node.controller if node is not None else None
    return {
        "id": node_id,
        "running": node is not None,
        "active": controller is not None and controller.is_active,
        "epoch": controller.leader_epoch if controller is not None else None,
    }


def _partitions(core: ClusterCore, image: ClusterImage) -> Iterator[dict[str, Any]]:
    for name, topic in sorted(image.topics.items()):
        for index, state in sorted(topic.partitions.items()):
            yield {
                "topic": name,
                "partition": index,
                "leader": state.leader,
                "leader_epoch": state.leader_epoch,
                "replicas": list(state.replicas),
                "isr": list(state.isr),
                **_offsets(core, TopicPartition(name, index), state.leader),
            }


def _offsets(core: ClusterCore, partition: TopicPartition, leader: int) -> dict[str, int]:
    node = core.nodes.get(leader)
    hosted = node.broker.replicas.partitions.get(partition) if node is not None and node.broker is not None else None
    if hosted is None:
        return {}
    log = hosted.log
    return {
        "high_watermark": log.high_watermark,
        "last_stable_offset": log.last_stable_offset(),
        "log_end_offset": log.end_offset,
        "open_transactions": len(log.producers.ongoing),
    }


def _transactions(core: ClusterCore) -> Iterator[dict[str, Any]]:
    for broker in core.brokers():
        now_ms = broker.runtime.now_ms()
        for partition in broker.transactions.states.loaded_partitions():
            for cached in partition.transactions.values():
                metadata = cached.metadata
                if metadata.state in AT_REST:
                    continue
                yield {
                    "transactional_id": metadata.transactional_id,
                    "state": metadata.state.value,
                    "producer_id": metadata.producer_id,
                    "producer_epoch": metadata.producer_epoch,
                    "coordinator": broker.node_id,
                    "open_ms": max(now_ms - metadata.start_ms, 0),
                    "timeout_ms": metadata.timeout_ms,
                    "partitions": sorted(map(str, metadata.partitions)),
                }
