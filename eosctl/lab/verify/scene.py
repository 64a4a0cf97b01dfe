"""The environment of a verification's applications: connections, clocks, recorder, and the end of the run."""

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
    """A producer that records its operations; `transaction` is the current one's name, unique in the history."""

    actor: str
    transaction: str

    async def survives(self) -> bool:
        """Initialize with retries; return False if that is impossible."""

    async def send_value(self, partition: TopicPartition, value: str, source: str = "", *, size_bytes: int = 0) -> None:
        """Send a value in the current transaction, padded with blanks to a size."""

    async def attempt(self, name: str, work: Step, *, aborts: bool = False) -> Fate | None:
        """Run work in a transaction and record the outcome; return None if this producer cannot continue."""


ClientFactory = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass(slots=True)
class Scene:
    """A running verification.

    Attributes:
        plan: The plan.
        recorder: Records the history.
        connect: Opens a separate client for an application.
        now_ms: The clock for records' timestamps.
        over: Set when no further transaction may start.
        transactional_ids: The used ids, for settling at the end.
        driver: The program with the clients of another language; None for eosctl's own.
    """

    plan: VerifyPlan
    recorder: Recorder
    connect: ClientFactory
    now_ms: WallClock
    over: asyncio.Event = field(default_factory=asyncio.Event)
    transactional_ids: set[str] = field(default_factory=set)
    driver: Driver | None = None

    def is_over(self) -> bool:
        """Return whether no further transaction may start."""
        return self.over.is_set()

    def partitions(self, name: str) -> tuple[TopicPartition, ...]:
        """Return the partitions of one of the run's topics."""
        return tuple(TopicPartition(self.plan.topic(name), index) for index in range(self.plan.partition_count))

    def group(self, hop: int) -> str:
        """Return the group of a hop of the chain."""
        return f"{self.plan.prefix}-hop-{hop}"

    def producer(
        self, client: Client, name: str, actor: str, *, transaction_timeout_ms: int | None = None
    ) -> RecordedProducer:
        """Return a producer with the transactional id of the run's prefix and a name."""
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
        """Open a producer of the run's client; discard it at the end without a request."""
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
        """Wait for a duration, or until the run is over."""
        try:
            async with asyncio.timeout(ms / 1000):
                await self.over.wait()
        except TimeoutError:
            return

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Open a client, retrying while no broker responds; the caller limits the wait."""
        async with AsyncExitStack() as stack:
            while True:
                try:
                    client = await stack.enter_async_context(self.connect())
                    break
                except (ClusterUnreachable, RequestTimedOut):
                    await asyncio.sleep(_RETRY_S)
            yield client


class Pace:
    """Spreads the transactions of a workload evenly over time, with a random start."""

    def __init__(self, scene: Scene, producer_count: int, chance: random.Random) -> None:
        self._scene = scene
        self._interval_ms = 1_000 * producer_count / scene.plan.rate_per_s
        self._next_ms = scene.recorder.now_ms() + chance.uniform(0, self._interval_ms)

    async def wait(self) -> None:
        """Wait for the next start time; missed ones are skipped."""
        now_ms = self._scene.recorder.now_ms()
        if self._next_ms > now_ms:
            await self._scene.pause(self._next_ms - now_ms)
        else:
            await asyncio.sleep(0)
        self._next_ms = max(self._next_ms, now_ms) + self._interval_ms


Application = Callable[[Scene, random.Random], Awaitable[None]]
