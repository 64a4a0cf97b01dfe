"""The settings of a node: those of a loopback cluster, then the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import javaproperties

HOST = "127.0.0.1"


class NodeAddress(NamedTuple):
    """The ids and loopback ports of one combined broker and controller."""

    node_id: int
    port: int
    controller_port: int


def node_settings(
    node: NodeAddress, cluster: Sequence[NodeAddress], data_dir: Path, overrides: Mapping[str, str]
) -> dict[str, str]:
    """Return the settings of a node of a KRaft cluster in combined mode.

    Replication factors follow the size of the cluster: with Kafka's defaults (3, and min.insync.replicas 2 for the
    transaction log), a single node could not serve transactions.
    """
    replicas = min(3, len(cluster))
    own = {
        "process.roles": "broker,controller",
        "node.id": str(node.node_id),
        "controller.quorum.voters": ",".join(f"{n.node_id}@{HOST}:{n.controller_port}" for n in cluster),
        "listeners": f"PLAINTEXT://{HOST}:{node.port},CONTROLLER://{HOST}:{node.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{node.port}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data_dir),
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(min(2, replicas)),
        "share.coordinator.state.topic.replication.factor": str(replicas),
        "share.coordinator.state.topic.min.isr": str(min(2, replicas)),
        "group.initial.rebalance.delay.ms": "0",
    }
    return own | dict(overrides)


def render_properties(settings: Mapping[str, str]) -> str:
    """Return the settings as a Java properties file, one a line, sorted."""
    return javaproperties.dumps(dict(settings), timestamp=None, sort_keys=True)
