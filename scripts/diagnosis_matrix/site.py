"""The cluster for faults, and the verdicts of diagnoses."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TransactionDialect
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread
from tests.lab.scenarios.stage.stage import Stage


class Verdict(NamedTuple):
    """A verdict on a subject: a partition, a transactional id, or a group."""

    source: str
    kind: str
    subject: str


class Planted(NamedTuple):
    """An injected fault: its ids, and the exact expected verdicts."""

    transactional_ids: tuple[str, ...]
    verdicts: frozenset[Verdict]


class Site(NamedTuple):
    """A cluster, and a source of names and random choices; `sandbox` is None for other clusters."""

    bootstrap: str
    chance: random.Random
    sandbox: SandboxThread | None = None

    @property
    def cluster(self) -> SandboxThread:
        """Return the sandbox, for faults of brokers and links."""
        assert self.sandbox is not None
        return self.sandbox

    def name(self, kind: str) -> str:
        """Draw a meaningless name."""
        return f"{kind}-{self.chance.getrandbits(32):08x}"

    def stage(self) -> Stage:
        """Return the environment for scenarios of the lab."""
        return Stage(self.config(), system_now_ms, self.chance)

    def config(self) -> ClientConfig:
        """Return the client configuration."""
        return ClientConfig(parse_endpoints(self.bootstrap, "matrix"), client_id=self.name("c"))

    def record(self) -> OutgoingRecord:
        """Return a record."""
        return OutgoingRecord(self.name("k").encode(), b"{}")

    def run(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        """Run a coroutine with a separate client."""

        async def with_client() -> Any:
            async with connect(self.config(), chance=self.chance) as client:
                return await work(client)

        return asyncio.run(with_client())


class Fault(NamedTuple):
    """The definition of a fault.

    Attributes:
        plant: Injects it and returns the expected verdicts.
        lasts: It lasts while the cluster is diagnosed (a link, a broker that is down), so it is injected last, and
            never two of them together.
        alone: It changes the expected verdicts of other faults, or takes long.
        settings: What brokers need for it.
        of_clients: Clients alone make it, so it can be made on any cluster of one broker.
        second_look_ms: The interval between two passes that distinguishes it from a healthy state.
    """

    plant: Callable[[Site], Planted]
    lasts: bool = False
    alone: bool = False
    settings: Mapping[str, str] = {}
    of_clients: bool = True
    second_look_ms: int = 300

    @property
    def name(self) -> str:
        """Return the name in the table."""
        return self.plant.__name__


def says(*verdicts: tuple[str, str, object]) -> frozenset[Verdict]:
    """Return verdicts with source, kind, and subject."""
    return frozenset(Verdict(source, kind, str(subject)) for source, kind, subject in verdicts)


def producer_of(
    client: Client,
    transactional_id: str,
    *,
    timeout_ms: int = 600_000,
    clock_ms: Callable[[], int] = system_now_ms,
    dialect: TransactionDialect | None = TV1,
) -> TransactionalProducer:
    """Return a producer that writes only on request."""
    return TransactionalProducer(
        client, transactional_id, now_ms=clock_ms, transaction_timeout_ms=timeout_ms, dialect=dialect
    )


async def partition_of(client: Client, site: Site, name: str | None = None) -> TopicPartition:
    """Return the single partition of a topic; create a topic without a name."""
    found = await ensure_topic(client, name or site.name("topic"), partition_count=1, replica_count=1)
    return found.partitions[0].partition
