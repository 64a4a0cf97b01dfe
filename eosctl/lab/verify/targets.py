"""The verified cluster, existing or started for the run, and its possible faults."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from eosctl.client import Client, CoordinatorKind, Failure, connect
from eosctl.client.transactions import TV2, dialect_of
from eosctl.errors import EosctlError, UsageError
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import RELEASES
from eosctl.lab.verify.conduct import Nemesis
from eosctl.lab.verify.nemesis import (
    Control,
    ProcessNemesis,
    SandboxNemesis,
    process_ranges,
    sandbox_ranges,
)
from eosctl.lab.verify.plan import RUN_PREFIX, ClientKind, FaultRange
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.emulation import NEWEST
from eosctl.model.emulation import RELEASES as EMULATED
from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.text import count_text

#: All nodes of a sandbox share one loop. On an overloaded machine, nodes lose contact briefly, each time writing
#: hundreds of records, which a starting node must read. Frequent snapshots keep start-up fast; Kafka's default is 20 MB
#: between snapshots.
_SETTINGS: Final = MappingProxyType({"metadata.log.max.record.bytes.between.snapshots": str(256 * 1024)})


@dataclass(frozen=True, slots=True)
class EngineOrder:
    """A cluster started for the run.

    Attributes:
        engine: `embedded`, or a release of Apache Kafka.
        brokers: Number of brokers; 1 or 3 for Apache Kafka.
        emulate: The emulated release of an embedded one.
        transaction_version: Finalized level; None for the release's default.
        bugs: Switches of known bugs of an embedded one.
    """

    engine: str = "embedded"
    brokers: int = 3
    emulate: str = NEWEST
    transaction_version: int | None = None
    bugs: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """A verified cluster.

    Attributes:
        config: How to connect.
        cluster_id: Its id.
        words: A description for display.
        is_ours: Whether eosctl started it.
        broker_ids: Its brokers.
        ranges: The possible faults of its brokers; empty if eosctl does not control them.
        nemesis: Executes the faults.
    """

    config: ClientConfig
    cluster_id: str
    words: str
    is_ours: bool
    broker_ids: tuple[int, ...]
    ranges: tuple[FaultRange, ...] = ()
    nemesis: Nemesis | None = field(default=None, compare=False)


@asynccontextmanager
async def own_cluster(order: EngineOrder, chance: random.Random) -> AsyncIterator[Target]:
    """Start a cluster for a run, and delete it afterwards.

    Raises:
        UsageError: The engine is unknown.
        EosctlError: It cannot be started.
    """
    directory = Path(tempfile.mkdtemp(prefix="eosctl-verify-"))
    try:
        start = _embedded if order.engine == "embedded" else _apache
        async with start(order, directory, chance) as target:
            yield target
    finally:
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


@asynccontextmanager
async def _embedded(order: EngineOrder, directory: Path, chance: random.Random) -> AsyncIterator[Target]:
    if order.emulate not in EMULATED:
        known = f"It is {', '.join(EMULATED[:-1])}, or {NEWEST}."
        raise UsageError(f"--emulate {order.emulate!r} is not known.", known, "Choose one.")
    spec = SandboxSpec(
        name="embedded",
        data_dir=str(directory),
        brokers=order.brokers,
        emulate=order.emulate,
        transaction_version=order.transaction_version,
        settings=tuple(_SETTINGS.items()),
        fast=True,
    )
    cluster = Cluster(spec)
    await cluster.start()
    try:
        for name, on in order.bugs:
            cluster.faults.switch_bug(name, on)
        brokers = cluster.status()["brokers"]
        yield await _own(
            ",".join(broker["address"] for broker in brokers),
            f"a sandbox of its own: {order.brokers} brokers as {order.emulate}",
            sandbox_ranges([broker["id"] for broker in brokers], cluster.core.controller_ids),
            SandboxNemesis(_control_inside(cluster)),
        )
    finally:
        await cluster.stop()


@asynccontextmanager
async def _apache(order: EngineOrder, directory: Path, chance: random.Random) -> AsyncIterator[Target]:
    if order.engine not in RELEASES:
        raise UsageError(
            f"There is no engine {order.engine!r}.",
            f"There are embedded, and Apache Kafka {', '.join(RELEASES)}.",
            "Choose one of them.",
        )
    if order.bugs:
        raise UsageError("--bug is for a sandbox.", "Real Kafka has the bugs of its release.", "Leave it out.")
    if order.brokers not in (1, 3):
        raise UsageError(f"--brokers {order.brokers}: Apache Kafka is started with 1 or 3.", "", "Choose one.")
    config = ApacheConfig(order.engine, order.brokers, transaction_version=order.transaction_version)
    nodes = ApacheNodes(config, directory, chance)
    try:
        await nodes.up()
        ranges = process_ranges([broker.broker_id for broker in nodes.brokers()])
        words = f"Apache Kafka {order.engine} of its own: {order.brokers} nodes"
        yield await _own(nodes.bootstrap, words, ranges, ProcessNemesis(nodes))
    finally:
        await nodes.down()


async def _own(bootstrap: str, words: str, ranges: tuple[FaultRange, ...], nemesis: Nemesis) -> Target:
    config = resolve_client({}, bootstrap=bootstrap).config
    async with connect(config) as client:
        cluster_id, brokers = client.cluster.cluster_id, tuple(sorted(client.cluster.node_ids))
    return Target(config, cluster_id, words, is_ours=True, broker_ids=brokers, ranges=ranges, nemesis=nemesis)


def _control_inside(cluster: Cluster) -> Control:
    commands = cluster.commands()

    async def control(command: str, arguments: dict[str, Any]) -> Any:
        try:
            return await commands[command](arguments)
        except TimeoutError as error:
            raise EosctlError(
                f"The sandbox did not carry out {command} in time.",
                "A node does not start.",
                "Try again on a machine that is less busy; keep its log if it happens again.",
            ) from error

    return control


async def running_cluster(config: ClientConfig) -> Target:
    """Describe an existing cluster; a sandbox of this user is recognized by id and address.

    Raises:
        EosctlError: It cannot be reached.
    """
    async with connect(config) as client:
        cluster_id, brokers = client.cluster.cluster_id, client.cluster.node_ids
        addresses = {broker.endpoint for broker in client.cluster.brokers}
    for found in await asyncio.to_thread(manage.find_all):
        if not found.running or not addresses & set(_endpoints(found.sandbox.bootstrap)):
            continue
        control = _control_of(found.sandbox)
        status = await control("status", {})
        if status["cluster_id"] == cluster_id:
            if found.sandbox.spec.kafka:
                ranges, release = process_ranges(brokers), f"of Apache Kafka {found.sandbox.spec.kafka}"
            else:
                controllers = [node["id"] for node in status["controllers"]]
                ranges, release = sandbox_ranges(brokers, controllers), f"as {status['emulate']}"
            words = f"sandbox {found.sandbox.name}: {count_text(len(brokers), 'broker')} {release}"
            return Target(
                config=config,
                cluster_id=cluster_id,
                words=words,
                is_ours=True,
                broker_ids=brokers,
                ranges=ranges,
                nemesis=SandboxNemesis(control),
            )
    return Target(
        config,
        cluster_id,
        f"{count_text(len(brokers), 'broker')} at {', '.join(map(str, config.bootstrap))}",
        False,
        brokers,
    )


def _control_of(sandbox: Any) -> Control:
    async def control(command: str, arguments: dict[str, Any]) -> Any:
        return await asyncio.to_thread(partial(manage.send_command, sandbox, command, **arguments))

    return control


def _endpoints(bootstrap: str) -> list[Endpoint]:
    return [
        Endpoint(host, int(port)) for host, _, port in (address.rpartition(":") for address in bootstrap.split(","))
    ]


async def speaks_end_txn_5(client: Client, clients: ClientKind) -> bool:
    """Return whether the epoch is bumped with every transaction: as requested, or as the cluster has finalized.

    Raises:
        UsageError: The cluster does not support the request.
    """
    # The first request on a new cluster waits until the transaction log is created.
    (found,) = (await client.find_coordinators(CoordinatorKind.TRANSACTION, [RUN_PREFIX])).values()
    if isinstance(found, Failure):
        raise found.error
    level = dialect_of(await client.versions(found))
    if clients is ClientKind.TV2 and level is not TV2:
        raise UsageError(
            "These brokers do not speak transaction version 2.",
            "It came with 4.0 (KIP-890) and must be finalized: kafka-features.sh describe shows transaction.version.",
            "Use --clients auto or tv1.",
        )
    return clients is ClientKind.TV2 or (clients.speaks_newest and level is TV2)
