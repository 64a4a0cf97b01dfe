"""The state of a running scenario: clients, producers, held batches, and expectations."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.group_member import GroupMember
from eosctl.client.ports import Connector, Receiver, Transport
from eosctl.client.producer import TransactionalProducer
from eosctl.client.sockets import SocketConnector
from eosctl.errors import UsageError
from eosctl.lab.engine import Engine
from eosctl.lab.workloads.streams.instance import StreamsPlan
from eosctl.lab.workloads.streams.task import StoreView
from eosctl.model.client_config import Endpoint
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


class LimitedNetwork:
    """A client's network from which only some brokers are reachable; connections to others are refused."""

    def __init__(self, connector: Connector | None, reachable: frozenset[Endpoint]) -> None:
        self._connector = connector if connector is not None else SocketConnector()
        self._reachable = reachable

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream; see `eosctl.client.ports.Connector`.

        Raises:
            OSError: The endpoint cannot be reached, or not from here.
        """
        if endpoint not in self._reachable:
            raise ConnectionRefusedError(f"{endpoint} is not reachable from this client's network.")
        return await self._connector.open(endpoint, receiver, tls)


@dataclass
class Play:
    """The state shared by the steps of a run.

    Attributes:
        engine: The cluster.
        client: The client of the administrator and consumers.
        chance: Random source of the clients.
        clients: Closes every client at the end.
        others: Clients of the scenario that have a name.
        producers: Producers by their name in the scenario.
        members: Group members by name.
        held: Held batches by name.
        expectations: The expectations so far.
        named: Brokers affected by faults, in the order in which they were resolved.
        starts: Start offsets of partitions that had records before the scenario.
        applications: Streams applications by name.
        restored: What the last process of an application restored.
    """

    engine: Engine
    client: Client
    chance: random.Random
    clients: AsyncExitStack
    others: dict[str, Client] = field(default_factory=dict)
    producers: dict[str, TransactionalProducer] = field(default_factory=dict)
    producer_clients: dict[str, Client] = field(default_factory=dict)
    members: dict[str, GroupMember] = field(default_factory=dict)
    held: dict[str, HeldBatch] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    named: list[int] = field(default_factory=list)
    starts: dict[TopicPartition, int] = field(default_factory=dict)
    applications: dict[str, StreamsPlan] = field(default_factory=dict)
    restored: dict[str, StoreView] = field(default_factory=dict)

    def producer(self, name: str) -> TransactionalProducer:
        """Return a producer of the scenario.

        Raises:
            UsageError: No step has created it.
        """
        if name not in self.producers:
            raise UsageError(f"There is no producer {name!r}.", "A step 'producer' creates one.", "Fix the scenario.")
        return self.producers[name]

    def client_of(self, name: str) -> Client:
        """Return a client of the scenario; without a name, the administrator's.

        Raises:
            UsageError: No step has created it.
        """
        if name and name not in self.others:
            raise UsageError(f"There is no client {name!r}.", "A step 'client' creates one.", "Fix the scenario.")
        return self.others[name] if name else self.client

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
        self,
        client_id: str,
        patience_ms: int | None = None,
        deadline_ms: int | None = None,
        reachable: frozenset[Endpoint] | None = None,
    ) -> Client:
        """Open a separate client, which retries after `patience_ms` and gives up after `deadline_ms`.

        With `reachable`, it can connect to no other brokers.
        """
        config = replace(self.engine.config, client_id=client_id)
        if deadline_ms is not None:
            config = replace(config, timeout_ms=deadline_ms, request_timeout_ms=deadline_ms)
        if patience_ms is not None:
            config = replace(config, request_timeout_ms=patience_ms)
        chance = random.Random(self.chance.random())
        connector = self.engine.connector
        if reachable is not None:
            connector = LimitedNetwork(connector, reachable)
        return await self.clients.enter_async_context(connect(config, connector=connector, chance=chance))


def partition_of(text: str) -> TopicPartition:
    """Parse `orders` (its partition 0) or `orders-2`."""
    topic, dash, index = text.rpartition("-")
    return TopicPartition(topic, int(index)) if dash and index.isdigit() else TopicPartition(text, 0)
