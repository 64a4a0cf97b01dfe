"""The faults of real brokers: the sandbox's words, carried out by signals to processes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from eosctl.errors import EosctlError
from eosctl.lab.engine import BrokerState, Engine, UnsupportedFault
from eosctl.sandbox.faults.engine import ActiveFault, FaultEvent
from eosctl.sandbox.faults.kinds import FaultKind
from eosctl.sandbox.faults.order import ANY_NODE, FaultOrder

_LASTING: Final = frozenset({FaultKind.KILL, FaultKind.STOP, FaultKind.PAUSE})
_AT_ONCE: Final = frozenset({FaultKind.START, FaultKind.RESTART})


class ProcessFaults:
    """What goes wrong with the processes of a cluster's brokers.

    Args:
        engine: The cluster.
        seed: Of chance (``node=any``).
    """

    def __init__(self, engine: Engine, seed: int = 0) -> None:
        self._engine = engine
        self._chance = random.Random(seed)
        self._active: dict[int, ActiveFault] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[Any]] = set()
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
        """Return no bugs: real brokers have those of their release."""
        return {}

    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Let a fault happen; returns when it has begun.

        Raises:
            UnsupportedFault: Nothing outside a broker can cause it.
            EngineError: There is no such broker, or it does not start.
            EosctlError: The broker is not in the state for it.
        """
        if order.kind not in _LASTING | _AT_ONCE or order.lose or order.torn:
            raise UnsupportedFault(
                f"Real brokers cannot be given this fault: {order}.",
                "Only their processes obey: kill, stop, start, restart, pause.",
                "For faults on clients' connections: eosctl sandbox proxy --name NAME",
            )
        if order.node == ANY_NODE:
            running = [broker.broker_id for broker in self._engine.brokers() if broker.state is BrokerState.RUNNING]
            if not running:
                raise EosctlError("No broker can be chosen.", "None runs.", "Start them: eosctl sandbox heal")
            order = replace(order, node=self._chance.choice(running))
        await self._begin(order)
        self._number += 1
        active = ActiveFault(self._number, order, self._now_ms())
        self._note(active, "begins")
        if order.kind in _LASTING:
            self._active[active.number] = active
            if order.for_ms is not None:
                asyncio.get_running_loop().call_later(order.for_ms / 1000, self._end_soon, active.number)
        return active

    async def end(self, number: int) -> None:
        """Undo a fault: start what was ended, let go on what stands still; harmless when it has ended."""
        active = self._active.pop(number, None)
        if active is None:
            return
        await self._bring_back(active.order.node or 0)
        self._note(active, "ends")

    async def heal(self) -> None:
        """End every fault, and start every broker that is down."""
        for number in sorted(self._active, reverse=True):
            await self.end(number)
        for broker in self._engine.brokers():
            await self._bring_back(broker.broker_id)

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
                await self._engine.kill(node)
            case FaultKind.STOP:
                await self._engine.stop(node)
            case FaultKind.PAUSE:
                await self._engine.pause(node)
            case _:
                await self._engine.kill(node)
                await self._engine.restart(node)

    async def _bring_back(self, node: int) -> None:
        match self._state_of(node):
            case BrokerState.PAUSED:
                await self._engine.resume(node)
            case BrokerState.STOPPED:
                await self._engine.restart(node)
            case BrokerState.RUNNING:
                pass

    def _state_of(self, node: int) -> BrokerState:
        known = {broker.broker_id: broker.state for broker in self._engine.brokers()}
        if node not in known:
            raise EosctlError(f"There is no broker {node}.", f"There are: {', '.join(map(str, known))}.", "Name one.")
        return known[node]

    def _end_soon(self, number: int) -> None:
        task = asyncio.ensure_future(self._end_by_itself(number))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_by_itself(self, number: int) -> None:
        active = self._active.get(number)
        try:
            await self.end(number)
        except EosctlError as error:
            if active is not None:
                self._note(active, f"could not be undone: {error}")

    def _now_ms(self) -> int:
        return round((asyncio.get_running_loop().time() - self._began) * 1000)

    def _note(self, active: ActiveFault, what: str) -> None:
        self.events.append(FaultEvent(self._now_ms(), active.number, what, str(active.order)))
