"""The faults of a proxy: those of the sandbox that affect clients' streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.broker.client_stream import ClientFaults
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.links import is_of_clients, link_faults, node_of_stream
from eosctl.sandbox.faults.order import ANY_NODE, FaultOrder
from eosctl.sandbox.faults.register import ActiveFault, FaultRegister
from eosctl.sandbox.network import CLIENTS

_IMMEDIATELY: Final = FaultKind.DISCONNECT


class ProxyFaults(FaultRegister):
    """Injects faults into the streams through a proxy.

    Args:
        streams: The faults of each broker's clients.
        disconnect: Closes all connections to a broker.
        seed: Seed of random choices.
    """

    def __init__(self, streams: Mapping[int, ClientFaults], disconnect: Callable[[int], None], seed: int = 0) -> None:
        super().__init__(asyncio.get_running_loop(), seed=seed)
        self._streams = streams
        self._disconnect = disconnect

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Inject a fault.

        Raises:
            EosctlError: The broker is unknown.
            UsageError: The fault does not affect clients' streams.
        """
        nodes = sorted(self._streams)
        order = replace(
            order,
            node=self.chance.choice(nodes) if order.node == ANY_NODE else order.node,
            destination=self.chance.choice(nodes) if order.destination == ANY_NODE else order.destination,
            source=CLIENTS if order.source is None else order.source,  # The proxy has no other nodes.
        )
        faults = tuple(fault for fault in link_faults(order, nodes, self.chance) if is_of_clients(fault))
        is_immediate = order.kind is _IMMEDIATELY and order.api is None
        if not faults:
            raise UsageError(
                f"A proxy cannot do: {order}.", "It sees the streams of clients alone.", "Name an API, or clients."
            )
        for fault in faults:
            if node_of_stream(fault) not in (None, *nodes):
                raise EosctlError(f"There is no broker {node_of_stream(fault)}.", f"There are: {nodes}.", "Name one.")
        active = self._numbered(order)
        self._note(active, "begins")
        if is_immediate:
            for node in nodes if order.node is None else [order.node]:
                self._disconnect(node)
            return active
        active.link_faults = faults
        for fault in faults:
            for node, stream in self._streams.items():
                if node_of_stream(fault) in (None, node):
                    stream.faults.append(fault)
        self._keep_active(active)
        return active

    async def _undo(self, active: ActiveFault) -> None:
        for stream in self._streams.values():
            stream.faults[:] = [fault for fault in stream.faults if fault not in active.link_faults]
