"""The state of a running scenario: clients, producers, held batches, and expectations."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.group_member import GroupMember
from eosctl.client.producer import TransactionalProducer
from eosctl.errors import UsageError
from eosctl.lab.engine import Engine
from eosctl.model.transaction import TopicPartition


class Expectation(NamedTuple):
    """An expected value and the observed one."""

    what: str
    expected: str
    seen: str

    @property
    def holds(self) -> bool:
        """Return whether the expectation was met."""
        return self.expected == self.seen


class Step(NamedTuple):
    """A step, and the cluster's response (empty for a plain success)."""

    actor: str
    action: str
    answer: str = ""

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}" + (f" -> {self.answer}" if self.answer else "")


class HeldBatch(NamedTuple):
    """A batch in transit."""

    partition: TopicPartition
    transactional_id: str
    data: bytes


@dataclass
class Play:
    """The state shared by the steps of a run.

    Attributes:
        engine: The cluster.
        client: The client of the administrator and consumers.
        chance: Random source of the clients.
        clients: Closes every client at the end.
        producers: Producers by their name in the scenario.
        members: Group members by name.
        held: Held batches by name.
        expectations: The expectations so far.
        named: Brokers affected by faults, in the order in which they were resolved.
        starts: Start offsets of partitions that had records before the scenario.
    """

    engine: Engine
    client: Client
    chance: random.Random
    clients: AsyncExitStack
    producers: dict[str, TransactionalProducer] = field(default_factory=dict)
    producer_clients: dict[str, Client] = field(default_factory=dict)
    members: dict[str, GroupMember] = field(default_factory=dict)
    held: dict[str, HeldBatch] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    named: list[int] = field(default_factory=list)
    starts: dict[TopicPartition, int] = field(default_factory=dict)

    def producer(self, name: str) -> TransactionalProducer:
        """Return a producer of the scenario.

        Raises:
            UsageError: No step has created it.
        """
        if name not in self.producers:
            raise UsageError(f"There is no producer {name!r}.", "A step 'producer' creates one.", "Fix the scenario.")
        return self.producers[name]

    def member(self, name: str) -> GroupMember:
        """Return a member of a group.

        Raises:
            UsageError: No step has started it.
        """
        if name not in self.members:
            raise UsageError(f"There is no member {name!r}.", "A step 'join' creates one.", "Fix the scenario.")
        return self.members[name]

    def in_background(self, doing: Coroutine[object, object, None]) -> None:
        """Run a coroutine in parallel to the next steps, at most until the end."""
        task = asyncio.ensure_future(doing)

        async def end() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self.clients.push_async_callback(end)

    def expect(self, what: str, expected: object, seen: object) -> None:
        """Record an expected value and the observed one."""
        self.expectations.append(Expectation(what, str(expected), str(seen)))

    async def open_client(
        self, client_id: str, patience_ms: int | None = None, deadline_ms: int | None = None
    ) -> Client:
        """Open a separate client, which retries after `patience_ms` and gives up after `deadline_ms`."""
        config = replace(self.engine.config, client_id=client_id)
        if deadline_ms is not None:
            config = replace(config, timeout_ms=deadline_ms, request_timeout_ms=deadline_ms)
        if patience_ms is not None:
            config = replace(config, request_timeout_ms=patience_ms)
        chance = random.Random(self.chance.random())
        return await self.clients.enter_async_context(connect(config, connector=self.engine.connector, chance=chance))


def partition_of(text: str) -> TopicPartition:
    """Parse `orders` (its partition 0) or `orders-2`."""
    topic, dash, index = text.rpartition("-")
    return TopicPartition(topic, int(index)) if dash and index.isdigit() else TopicPartition(text, 0)
