"""Faults of real brokers, with the sandbox's syntax, by signals to processes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from eosctl.errors import EosctlError
from eosctl.lab.apache.brokers import BrokerProcesses, BrokerState
from eosctl.lab.engine import UnsupportedFault
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.order import ANY_NODE, FaultOrder
from eosctl.sandbox.faults.register import ActiveFault, FaultRegister

_LASTING: Final = frozenset({FaultKind.KILL, FaultKind.STOP, FaultKind.PAUSE})
_IMMEDIATELY: Final = frozenset({FaultKind.START, FaultKind.RESTART})


class ProcessFaults(FaultRegister):
    """Injects faults into the processes of a cluster's brokers.

    Args:
        processes: Those of the brokers.
        seed: Seed of random choices (`node=any`).
    """

    def __init__(self, processes: BrokerProcesses, seed: int = 0) -> None:
        super().__init__(asyncio.get_running_loop(), seed=seed)
        self._processes = processes

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Inject a fault; return when it has started.

        Raises:
            UnsupportedFault: The fault cannot be caused from outside a broker.
            EngineError: The broker is unknown, or does not start.
            EosctlError: The broker's state does not allow the fault.
        """
        if order.kind not in _LASTING | _IMMEDIATELY or order.lose or order.torn:
            raise UnsupportedFault(
                f"Real brokers cannot be given this fault: {order}.",
                "Only their processes obey: kill, stop, start, restart, pause.",
                "For faults on clients' connections: eosctl sandbox proxy --name NAME",
            )
        if order.node == ANY_NODE:
            running = [broker.broker_id for broker in self._processes.brokers() if broker.state is BrokerState.RUNNING]
            if not running:
                raise EosctlError("No broker can be chosen.", "None runs.", "Start them: eosctl sandbox heal")
            order = replace(order, node=self.chance.choice(running))
        await self._begin(order)
        active = self._numbered(order)
        self._note(active, "begins")
        if order.kind in _LASTING:
            self._keep_active(active)
        return active

    async def heal(self) -> None:
        """End every fault, and start every stopped broker."""
        await super().heal()
        for broker in self._processes.brokers():
            await self._bring_back(broker.broker_id)

    async def _undo(self, active: ActiveFault) -> None:
        await self._bring_back(active.order.node or 0)

    async def _begin(self, order: FaultOrder) -> None:
        node = order.node or 0
        state = self._state_of(node)
        if order.kind is FaultKind.START:
            await self._bring_back(node)
            return
        if state is not BrokerState.RUNNING:
            raise EosctlError(
                f"Broker {node} is {state}.",
                "Only one that runs can be given this fault.",
                f"Start it: eosctl sandbox fault start node={node}",
            )
        match order.kind:
            case FaultKind.KILL:
                await self._processes.kill(node)
            case FaultKind.STOP:
                await self._processes.stop(node)
            case FaultKind.PAUSE:
                await self._processes.pause(node)
            case _:
                await self._processes.kill(node)
                await self._processes.restart(node)

    async def _bring_back(self, node: int) -> None:
        match self._state_of(node):
            case BrokerState.PAUSED:
                await self._processes.resume(node)
            case BrokerState.STOPPED:
                await self._processes.restart(node)
            case BrokerState.RUNNING:
                pass

    def _state_of(self, node: int) -> BrokerState:
        known = {broker.broker_id: broker.state for broker in self._processes.brokers()}
        if node not in known:
            raise EosctlError(f"There is no broker {node}.", f"There are: {', '.join(map(str, known))}.", "Name one.")
        return known[node]
