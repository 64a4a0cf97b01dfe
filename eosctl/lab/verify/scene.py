"""What the applications of a verification stand on: a way to the cluster, clocks, the recorder, the end of the run."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from eosctl.client import Client
from eosctl.client.ports import WallClock
from eosctl.errors import ClusterUnreachable, RequestTimedOut
from eosctl.lab.recording import RecordedProducer, Recorder
from eosctl.lab.verify.driven import DrivenProducer
from eosctl.lab.verify.driver import Driver
from eosctl.lab.verify.plan import DIALECTS, VerifyPlan
from eosctl.lab.workloads.transactional import Fate, Step
from eosctl.model.transaction import TopicPartition

_RETRY_S: Final = 0.1


class HistoryProducer(Protocol):
    """A producer that tells what it does; `transaction` is the name of the present one, unique in the history."""

    actor: str
    transaction: str

    async def survives(self) -> bool:
        """Initialise, whatever it takes; False when that is hopeless."""

    async def send_value(self, partition: TopicPartition, value: str, source: str = "", *, size_bytes: int = 0) -> None:
        """Send one value in the present transaction, padded with blanks to a size."""

    async def attempt(self, name: str, work: Step, *, aborts: bool = False) -> Fate | None:
        """Do work in a transaction and tell how it ended; None when this producer cannot go on."""


ClientFactory = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass(slots=True)
class Scene:
    """A run while it lasts.

    Attributes:
        plan: What to do.
        recorder: Keeps the history.
        connect: Opens a client of its own for one application.
        now_ms: Dates records.
        over: Set when no further transaction is to begin.
        transactional_ids: Those that were used, for settling at the end.
        driver: The program of another language whose clients write and read; None for eosctl's own.
    """

    plan: VerifyPlan
    recorder: Recorder
    connect: ClientFactory
    now_ms: WallClock
    over: asyncio.Event = field(default_factory=asyncio.Event)
    transactional_ids: set[str] = field(default_factory=set)
    driver: Driver | None = None

    def is_over(self) -> bool:
        """Return whether no further transaction is to begin."""
        return self.over.is_set()

    def partitions(self, name: str) -> tuple[TopicPartition, ...]:
        """Return the partitions of one of the run's topics."""
        return tuple(TopicPartition(self.plan.topic(name), index) for index in range(self.plan.partition_count))

    def group(self, hop: int) -> str:
        """Return the group that commits what a hop of the chain has handled."""
        return f"{self.plan.prefix}-hop-{hop}"

    def producer(
        self, client: Client, name: str, actor: str, *, transaction_timeout_ms: int | None = None
    ) -> RecordedProducer:
        """Return a producer whose transactional id is the run's prefix and a name."""
        transactional_id = f"{self.plan.prefix}-{name}"
        self.transactional_ids.add(transactional_id)
        return RecordedProducer(
            client,
            transactional_id,
            self.recorder,
            actor,
            now_ms=self.now_ms,
            transaction_timeout_ms=transaction_timeout_ms or self.plan.transaction_timeout_ms,
            dialect=DIALECTS[self.plan.clients],
        )

    @asynccontextmanager
    async def writer(
        self, name: str, actor: str, *, transaction_timeout_ms: int | None = None
    ) -> AsyncIterator[HistoryProducer]:
        """Give an application a producer of whatever client the run is about; at the end it is gone without a word."""
        if self.driver is None:
            async with self.client() as client:
                yield self.producer(client, name, actor, transaction_timeout_ms=transaction_timeout_ms)
            return
        transactional_id = f"{self.plan.prefix}-{name}"
        self.transactional_ids.add(transactional_id)
        timeout_ms = transaction_timeout_ms or self.plan.transaction_timeout_ms
        driven = DrivenProducer(self.driver, transactional_id, self.recorder, actor, transaction_timeout_ms=timeout_ms)
        try:
            yield driven
        finally:
            driven.drop()

    async def pause(self, ms: float) -> None:
        """Wait, or until the run is over if that is sooner."""
        try:
            async with asyncio.timeout(ms / 1000):
                await self.over.wait()
        except TimeoutError:
            return

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open a client, however long no broker answers; the caller bounds the wait."""
        async with AsyncExitStack() as stack:
            while True:
                try:
                    client = await stack.enter_async_context(self.connect())
                    break
                except (ClusterUnreachable, RequestTimedOut):
                    await asyncio.sleep(_RETRY_S)
            yield client


class Pace:
    """Spreads the transactions of a workload over time: a steady rate, with a start that chance decides."""

    def __init__(self, scene: Scene, producer_count: int, chance: random.Random) -> None:
        self._scene = scene
        self._interval_ms = 1_000 * producer_count / scene.plan.rate_per_s
        self._next_ms = scene.recorder.now_ms() + chance.uniform(0, self._interval_ms)

    async def wait(self) -> None:
        """Wait for the next one's time; what is late is not made up for."""
        now_ms = self._scene.recorder.now_ms()
        if self._next_ms > now_ms:
            await self._scene.pause(self._next_ms - now_ms)
        else:
            await asyncio.sleep(0)
        self._next_ms = max(self._next_ms, now_ms) + self._interval_ms


Application = Callable[[Scene, random.Random], Awaitable[None]]
