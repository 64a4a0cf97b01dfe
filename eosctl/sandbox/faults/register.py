"""The register of faults: numbers, active faults, their automatic end, and the event log.

The sandbox's engine, the engine of real brokers, and the proxy build on it.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from eosctl.errors import EosctlError
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.network import LinkFault
from eosctl.sandbox.ticks import Loop

EVENT_LIMIT: Final = 10_000


class FaultEvent(NamedTuple):
    """A logged event; `at_ms` is the time since the register's start, by its loop's clock."""

    at_ms: int
    number: int
    what: str
    order: str


@dataclass(slots=True)
class ActiveFault:
    """An active fault, and the number that ends it."""

    number: int
    order: FaultOrder
    began_ms: int
    link_faults: tuple[LinkFault, ...] = ()
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def hit_count(self) -> int:
        """Return the number of frames that it has affected so far."""
        return sum(fault.hit_count for fault in self.link_faults)


class FaultRegister(ABC):
    """Faults by number. Subclasses define how a fault starts and how it is undone.

    Args:
        loop: The clock of the event log.
        seed: Seed of all random choices.
        record: Receives every event.
    """

    def __init__(self, loop: Loop, *, seed: int = 0, record: Callable[[FaultEvent], None] | None = None) -> None:
        self.chance = random.Random(seed)
        self.events: list[FaultEvent] = []
        self._loop = loop
        self._time: Callable[[], float] = getattr(loop, "wall", loop.time)
        self._began = self._time()
        self._record = record
        self._lasting: dict[int, ActiveFault] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def active(self) -> Sequence[ActiveFault]:
        """Return the active faults, oldest first."""
        return tuple(self._lasting.values())

    def reseed(self, seed: int) -> None:
        """Restart the random choices with a new seed."""
        self.chance.seed(seed)

    def bug_states(self) -> dict[str, bool]:
        """Return the known bugs that can be switched, with their state; none by default."""
        return {}

    @abstractmethod
    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Inject a fault; return when it has started.

        Raises:
            EosctlError: The cluster cannot have the fault now.
        """

    async def end(self, number: int) -> None:
        """End a fault; no effect if it has ended.

        Raises:
            EosctlError: The fault cannot be undone, e.g. because a node does not restart.
        """
        active = self._lasting.pop(number, None)
        if active is not None:
            await self._undo(active)
            self._note(active, "ends")

    async def heal(self) -> None:
        """End all active faults, the latest first."""
        for number in sorted(self._lasting, reverse=True):
            await self.end(number)

    @abstractmethod
    async def _undo(self, active: ActiveFault) -> None:
        """Undo the effect of a fault."""

    def _numbered(self, order: FaultOrder) -> ActiveFault:
        """Create the entry of a fault that starts now."""
        self._number += 1
        return ActiveFault(self._number, order, self._now_ms())

    def _keep_active(self, active: ActiveFault) -> None:
        """Keep a fault active until it is ended, or until its duration is over (`for=5s`)."""
        self._lasting[active.number] = active
        if active.order.for_ms is not None:
            self._loop.call_later(active.order.for_ms / 1000, self._end_soon, active)

    def _note(self, active: ActiveFault, what: str) -> None:
        event = FaultEvent(self._now_ms(), active.number, what, str(active.order))
        self.events.append(event)
        del self.events[:-EVENT_LIMIT]
        if self._record is not None:
            self._record(event)

    def _now_ms(self) -> int:
        return round((self._time() - self._began) * 1000)

    def _end_soon(self, active: ActiveFault) -> None:
        task = asyncio.ensure_future(self._end_automatically(active))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_automatically(self, active: ActiveFault) -> None:
        try:
            await self.end(active.number)
        except (EosctlError, OSError) as error:  # A TimeoutError is an OSError.
            self._note(active, f"could not be undone: {error}")
