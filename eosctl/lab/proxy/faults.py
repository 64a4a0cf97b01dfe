"""The faults of a proxy: the same words and the same streams as the sandbox's, without nodes to do more to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from eosctl.errors import EosctlError, UsageError
from eosctl.sandbox.broker.client_stream import ClientFaults
from eosctl.sandbox.faults.engine import ActiveFault, FaultEvent
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.links import is_of_clients, link_faults, node_of_stream
from eosctl.sandbox.faults.order import ANY_NODE, FaultOrder
from eosctl.sandbox.network import CLIENTS

_AT_ONCE: Final = FaultKind.DISCONNECT


class ProxyFaults:
    """What goes wrong on the streams through a proxy.

    Args:
        streams: The faults of each broker's clients.
        disconnect: Breaks all connections to a broker.
        seed: Of chance.
    """

    def __init__(self, streams: Mapping[int, ClientFaults], disconnect: Callable[[int], None], seed: int = 0) -> None:
        self._streams = streams
        self._disconnect = disconnect
        self._chance = random.Random(seed)
        self._active: dict[int, ActiveFault] = {}
        self._number = 0
        self._began = asyncio.get_running_loop().time()
        self.events: list[FaultEvent] = []

    @property
    def active(self) -> Sequence[ActiveFault]:
        """The faults that last, oldest first."""
        return tuple(self._active.values())

    def reseed(self, seed: int) -> None:
        """Let chance begin anew."""
        self._chance.seed(seed)

    def bug_states(self) -> dict[str, bool]:
        """Return no bugs: they are the brokers'."""
        return {}

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Let a fault happen.

        Raises:
            EosctlError: There is no such broker.
            UsageError: It is none of clients' streams.
        """
        nodes = sorted(self._streams)
        order = replace(
            order,
            node=self._chance.choice(nodes) if order.node == ANY_NODE else order.node,
            destination=self._chance.choice(nodes) if order.destination == ANY_NODE else order.destination,
            source=CLIENTS if order.source is None else order.source,  # nobody else is here
        )
        faults = tuple(fault for fault in link_faults(order, nodes, self._chance) if is_of_clients(fault))
        at_once = order.kind is _AT_ONCE and order.api is None
        if not faults:
            raise UsageError(
                f"A proxy cannot do: {order}.", "It sees the streams of clients alone.", "Name an API, or clients."
            )
        for fault in faults:
            if node_of_stream(fault) not in (None, *nodes):
                raise EosctlError(f"There is no broker {node_of_stream(fault)}.", f"There are: {nodes}.", "Name one.")
        self._number += 1
        active = ActiveFault(self._number, order, self._now_ms(), () if at_once else faults)
        self._note(active, "begins")
        if at_once:
            for node in nodes if order.node is None else [order.node]:
                self._disconnect(node)
            return active
        self._active[active.number] = active
        for fault in faults:
            for node, stream in self._streams.items():
                if node_of_stream(fault) in (None, node):
                    stream.faults.append(fault)
        if order.for_ms is not None:
            asyncio.get_running_loop().call_later(order.for_ms / 1000, self._end, active.number)
        return active

    async def end(self, number: int) -> None:
        """End a fault; harmless when it has ended."""
        self._end(number)

    async def heal(self) -> None:
        """End every fault."""
        for number in tuple(self._active):
            self._end(number)

    def _end(self, number: int) -> None:
        active = self._active.pop(number, None)
        if active is None:
            return
        for stream in self._streams.values():
            stream.faults[:] = [fault for fault in stream.faults if fault not in active.link_faults]
        self._note(active, "ends")

    def _now_ms(self) -> int:
        return round((asyncio.get_running_loop().time() - self._began) * 1000)

    def _note(self, active: ActiveFault, what: str) -> None:
        self.events.append(FaultEvent(self._now_ms(), active.number, what, str(active.order)))
