"""The register of faults: their numbers, which of them last, when each ends by itself, and the record of it all.

Whoever makes faults builds on it: the sandbox's engine, real brokers' processes, a proxy.
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
    """An entry of the record: `at_ms` is the time since the register's start by its loop's clock."""

    at_ms: int
    number: int
    what: str
    order: str


@dataclass(slots=True)
class ActiveFault:
    """A fault that lasts, under the number by which it is ended."""

    number: int
    order: FaultOrder
    began_ms: int
    link_faults: tuple[LinkFault, ...] = ()
    undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def hit_count(self) -> int:
        """Return how many frames it has hit so far."""
        return sum(fault.hit_count for fault in self.link_faults)


class FaultRegister(ABC):
    """Faults by number; how one begins and is undone is the subclass's.

    Args:
        loop: Its time is that of the record.
        seed: Of chance, which everything that is left to it comes from.
        record: Is told of every event as well.
    """

    def __init__(self, loop: Loop, *, seed: int = 0, record: Callable[[FaultEvent], None] | None = None) -> None:
        self.chance = random.Random(seed)
        self.events: list[FaultEvent] = []
        self._loop = loop
        self._began = loop.time()
        self._record = record
        self._lasting: dict[int, ActiveFault] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def active(self) -> Sequence[ActiveFault]:
        """Return the faults that last, oldest first."""
        return tuple(self._lasting.values())

    def reseed(self, seed: int) -> None:
        """Let chance begin anew."""
        self.chance.seed(seed)

    def bug_states(self) -> dict[str, bool]:
        """Return which known bugs there are, of those that can be switched: none, unless the subclass knows of some."""
        return {}

    @abstractmethod
    async def inject(self, order: FaultOrder) -> ActiveFault:
        """Let a fault happen; returns when it has begun.

        Raises:
            EosctlError: It cannot happen to this cluster now.
        """

    async def end(self, number: int) -> None:
        """Undo a fault; harmless when it has ended.

        Raises:
            EosctlError: It cannot be undone, e.g. as a node that is to come back does not.
        """
        active = self._lasting.pop(number, None)
        if active is not None:
            await self._undo(active)
            self._note(active, "ends")

    async def heal(self) -> None:
        """End everything that lasts, the last one first."""
        for number in sorted(self._lasting, reverse=True):
            await self.end(number)

    @abstractmethod
    async def _undo(self, active: ActiveFault) -> None:
        """Put right what a fault has done."""

    def _numbered(self, order: FaultOrder) -> ActiveFault:
        """Return a fault that begins now."""
        self._number += 1
        return ActiveFault(self._number, order, self._now_ms())

    def _let_last(self, active: ActiveFault) -> None:
        """Keep a fault until it is ended, or until it ends by itself (`for=5s`)."""
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
        return round((self._loop.time() - self._began) * 1000)

    def _end_soon(self, active: ActiveFault) -> None:
        task = asyncio.ensure_future(self._end_by_itself(active))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_by_itself(self, active: ActiveFault) -> None:
        try:
            await self.end(active.number)
        except (EosctlError, OSError) as error:  # a TimeoutError is an OSError
            self._note(active, f"could not be undone: {error}")
