"""Whether the nodes of a cluster only wait, so that its clock can skip time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from eosctl.sandbox.node import Node

BUSY: Final = 0.0
"""The time until which a cluster is calm that is not."""


def calm_until(nodes: Collection[Node]) -> float:
    """Return the loop time until which the running nodes only exchange messages that show that they live.

    A cluster is calm if its only voter is the active controller, and exactly the running brokers are unfenced. It then
    stays calm until a transaction times out.
    """
    controllers = [node.controller for node in nodes if node.controller is not None]
    if len(controllers) != 1 or not controllers[0].is_active or controllers[0].quorum.others:
        return BUSY
    brokers = {node.broker.node_id: node.broker for node in nodes if node.broker is not None}
    if {broker.broker_id for broker in controllers[0].image.active_brokers()} != set(brokers):
        return BUSY
    return min(
        (
            (broker.transactions.calm_until_ms() - broker.runtime.wall_base_ms - broker.runtime.skew_ms) / 1000
            for broker in brokers.values()
        ),
        default=BUSY,
    )
