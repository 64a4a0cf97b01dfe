"""The nodes of a fault: those that it names exist, and `any` becomes a running broker."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace

from eosctl.errors import EosctlError
from eosctl.sandbox.faults.order import ANY_NODE, FaultOrder


def choose_nodes(order: FaultOrder, running: Sequence[int], chance: random.Random) -> FaultOrder:
    """Return the order with running brokers in place of `any`.

    Raises:
        EosctlError: No broker runs.
    """

    def chosen(end: int | None) -> int | None:
        if end != ANY_NODE:
            return end
        if not running:
            raise EosctlError("No broker can be chosen.", "None runs.", "Start one: eosctl sandbox fault start node=1")
        return chance.choice(running)

    return replace(
        order,
        node=chosen(order.node),
        other=chosen(order.other),
        source=chosen(order.source),
        destination=chosen(order.destination),
    )


def check_nodes(order: FaultOrder, known: Collection[int]) -> None:
    """Refuse a fault of a node that the sandbox does not have.

    Raises:
        EosctlError: There is no such node.
    """
    named = [order.node, *order.nodes, order.to]
    named += [end for end in (order.source, order.destination, order.other) if end is not None and end >= 0]
    for node in named:
        if node is not None and node not in known:
            words = ", ".join(map(str, known))
            raise EosctlError(f"There is no node {node}.", f"The nodes of this sandbox are {words}.", "Name one.")
