"""A trial: a small cluster with applications and faults on virtual time, determined by a seed, and its history."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TransactionDialect
from eosctl.errors import ClusterUnreachable, EosctlError, RequestTimedOut
from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.history.check import check_history
from eosctl.lab.history.events import BatchSeen, History, ReplicaSeen, Undrained
from eosctl.lab.nemesis import disturb
from eosctl.lab.outside_view import has_open_transactions, open_ends, views_of_group
from eosctl.lab.recording import RecordedProducer, Recorder, copy, drain, follow, read_offset, watch_offset, write
from eosctl.lab.schedule import LATE, DrawnKind, Schedule, draw_schedule
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import VirtualDeadlock, VirtualStall, run_virtual
from eosctl.model.emulation import NEWEST
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.ports import Emulation

#: Few partitions of internal topics keep the number of open files low. Idle followers fetch rarely, and brokers send
#: three heartbeats per session timeout, as in Kafka, since idle work dominates the cost of a trial.
_SETTINGS: Final = {
    "broker.heartbeat.interval.ms": "100",
    "transaction.state.log.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "replica.fetch.wait.max.ms": "300",
}
_INPUTS, _OUTPUTS, _GROUP = "inputs", "outputs", "copiers"
_SPAN_MS: Final = 1_500
_TRANSACTION_TIMEOUT_MS: Final = 4_000
_REQUEST_TIMEOUT_MS: Final = 1_500
_OPERATION_TIMEOUT_MS: Final = 20_000
#: Slow clients work through the whole schedule; fast ones send transactions back to back.
_LATENCIES_MS: Final = (2.0, 10.0, 40.0)
_ABORT_SHARE: Final = 0.2
_OBSERVE_S: Final = 0.1
_CALM_S: Final = 1.0  # Minimum quiet time at the end, by which everything delayed by faults has arrived.
#: Longer than `request.timeout.ms`, after which a broker resends a lost marker.
_SETTLE_S: Final = 40.0
_LIMIT_S: Final = 600.0
#: An in-memory file system of Linux, since a trial's files are deleted within a second.
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a directory of random name is made below it


class TrialPlan(NamedTuple):
    """The parameters that all trials of a run share.

    Attributes:
        kinds: The faults to draw from.
        emulate: The emulated release.
        transaction_version: Finalized level; None for the release's default.
        broker_count: Number of brokers; controllers are one more node.
        transaction_count: Transactions of each writer.
        dialect: The protocol level of the clients; None for the finalized one.
        bugs: Switches of known bugs; by default those of the release.
        replica_count: Replicas of the topics; None for one per broker, at most three.
        settings: Broker settings in addition to those of every trial.
    """

    kinds: tuple[DrawnKind, ...] = tuple(DrawnKind)
    emulate: str = NEWEST
    transaction_version: int | None = None
    broker_count: int = 3
    transaction_count: int = 6
    dialect: TransactionDialect | None = None
    bugs: tuple[tuple[str, bool], ...] = ()
    replica_count: int | None = None
    settings: tuple[tuple[str, str], ...] = ()


class Trial(NamedTuple):
    """The result of a seed.

    Attributes:
        seed: The seed.
        schedule: The faults.
        history: The recorded history.
        anomalies: The anomalies of the history.
        stuck: Why the cluster did not settle after all faults were healed; empty if it did.
        crashes: Unhandled errors of a broker or an application.
        virtual_ms: Elapsed time of the simulation.
    """

    seed: int
    schedule: Schedule
    history: History
    anomalies: tuple[Anomaly, ...]
    stuck: str
    crashes: tuple[str, ...]
    virtual_ms: int

    @property
    def failed(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self.symptoms)

    @property
    def symptoms(self) -> frozenset[str]:
        """Return the names of the problems."""
        anomalies = {str(anomaly.kind) for anomaly in self.anomalies}
        rest = {"stuck": self.stuck, "crash": self.crashes}
        return frozenset(anomalies | {name for name, found in rest.items() if found})


def schedule_of(plan: TrialPlan, seed: int) -> Schedule:
    """Return the faults of a seed."""
    chance = random.Random(f"schedule {seed}")
    return draw_schedule(plan.kinds, range(1, plan.broker_count + 1), 100, chance, _SPAN_MS)


def run_trial(plan: TrialPlan, seed: int, schedule: Schedule | None = None) -> Trial:
    """Run a seed with its own faults or a given schedule; the same arguments give the same trial."""
    faults = schedule_of(plan, seed) if schedule is None else schedule
    with tempfile.TemporaryDirectory(prefix="eosctl-trial-", dir=_memory()) as directory:
        stage = _Stage(plan, seed, faults)
        stuck = ""
        try:
            run_virtual(stage.play(Path(directory)), seed)
        except (EosctlError, TimeoutError, VirtualDeadlock, VirtualStall) as error:
            stuck = f"{type(error).__name__}: {error}".splitlines()[0]
    history = stage.recorder.history
    return Trial(
        seed=seed,
        schedule=faults,
        history=history,
        anomalies=check_history(history),
        stuck=stuck,
        crashes=tuple(stage.crashes),
        virtual_ms=stage.ended_ms,
    )


def _memory() -> Path | None:
    return _MEMORY if os.access(_MEMORY, os.W_OK) and "TMPDIR" not in os.environ else None


class _Stage:
    """A running trial."""

    def __init__(self, plan: TrialPlan, seed: int, schedule: Schedule) -> None:
        self.plan = plan
        self.seed = seed
        self.schedule = schedule
        self.recorder = Recorder(_virtual_ms, self._is_stale)
        self._simulation: Simulation | None = None
        self.ended_ms = 0
        self.crashes: list[str] = []
        self._starts: dict[int, tuple[object, int]] = {}

    async def play(self, directory: Path) -> None:
        """Start the cluster, run the applications during faults, and inspect the result."""
        plan = self.plan
        asyncio.get_running_loop().set_exception_handler(self._note_crash)
        settings = {**_SETTINGS, **dict(plan.settings)}
        shape = ClusterShape(plan.broker_count, Emulation(plan.emulate), plan.transaction_version, settings, fast=True)
        try:
            latency_ms = random.Random(f"pace {self.seed}").choice(_LATENCIES_MS)
            running = simulate(shape, directory, seed=self.seed, max_latency_ms=latency_ms)
            async with asyncio.timeout(_LIMIT_S), running as simulation:
                await self._work(simulation)
        finally:
            self.ended_ms = _virtual_ms()

    def _note_crash(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self.crashes.append(str(context.get("message")) if error is None else f"{type(error).__name__}: {error}")

    async def _work(self, simulation: Simulation) -> None:
        self._simulation = simulation
        faults_of_brokers = FaultEngine(simulation)
        for name, on in self.plan.bugs:
            faults_of_brokers.switch_bug(name, on)
        async with _client(simulation) as client:
            inputs = await _partitions(client, _INPUTS, self.plan.replica_count)
            outputs = await _partitions(client, _OUTPUTS, self.plan.replica_count)
        chance = random.Random(f"work {self.seed}")
        writing = asyncio.gather(
            *(
                self._write(simulation, f"writer-{name}", instance, inputs, chance.getrandbits(32))
                for name, instance in (("a", 1), ("a", 2), ("b", 1))
            )
        )
        faults = asyncio.ensure_future(disturb(simulation, self.schedule))

        def is_over() -> bool:
            return writing.done() and faults.done()

        watching = asyncio.ensure_future(self._watch(simulation))
        try:
            await asyncio.gather(
                writing,
                faults,
                self._copy(simulation, 1, inputs[0], outputs[0], 0.0, is_over),
                self._copy(simulation, 2, inputs[0], outputs[0], chance.uniform(0.2, 2), is_over),
                self._follow(simulation, (*inputs, *outputs), is_over),
                self._watch_offset(simulation, inputs[0], is_over),
            )
        finally:
            watching.cancel()
        await self._finish(simulation, (*inputs, *outputs), inputs[0])

    async def _write(
        self, simulation: Simulation, name: str, instance: int, partitions: tuple[TopicPartition, ...], seed: int
    ) -> None:
        chance = random.Random(seed)
        await asyncio.sleep(0 if instance == 1 else chance.uniform(0.05, 1.0))
        async with _client(simulation) as client:
            producer = self._producer(simulation, client, name, f"{name}.{instance}")
            await write(producer, partitions, self.plan.transaction_count, chance)

    async def _copy(
        self,
        simulation: Simulation,
        instance: int,
        source: TopicPartition,
        destination: TopicPartition,
        delay_s: float,
        is_over: Callable[[], bool],
    ) -> None:
        await asyncio.sleep(delay_s)
        async with _client(simulation) as client:
            producer = self._producer(simulation, client, "copier", f"copier.{instance}")
            places = (source, destination)
            if instance == 1:
                chance = random.Random(f"copy {self.seed}")
                await copy(
                    client,
                    producer,
                    self.recorder,
                    _GROUP,
                    places,
                    is_over,
                    self._is_undisputed,
                    keeps_position=True,
                    aborts=lambda: chance.random() < _ABORT_SHARE,
                )
            else:
                await copy(client, producer, self.recorder, _GROUP, places, is_over, self._is_undisputed)

    async def _watch_offset(
        self, simulation: Simulation, partition: TopicPartition, is_over: Callable[[], bool]
    ) -> None:
        async with _client(simulation) as client:
            await watch_offset(client, self.recorder, "lag watcher", _GROUP, partition, is_over)

    async def _follow(
        self, simulation: Simulation, partitions: tuple[TopicPartition, ...], is_over: Callable[[], bool]
    ) -> None:
        async with _client(simulation) as client:
            await follow(client, self.recorder, "reader", partitions, is_over)

    def _producer(self, simulation: Simulation, client: Client, name: str, actor: str) -> RecordedProducer:
        return RecordedProducer(
            client,
            name,
            self.recorder,
            actor,
            now_ms=simulation.now_ms,
            transaction_timeout_ms=_TRANSACTION_TIMEOUT_MS,
            dialect=self.plan.dialect,
        )

    async def _finish(
        self, simulation: Simulation, partitions: tuple[TopicPartition, ...], source: TopicPartition
    ) -> None:
        """Wait for open transactions to time out, read everything, and compare the replicas."""
        while not simulation.core.is_ready:
            await asyncio.sleep(_OBSERVE_S)
        late_ms = max((fault.amount for fault in self.schedule if fault.kind in LATE), default=0)
        await asyncio.sleep(_CALM_S + late_ms / 1000)
        await self._end_transactions(simulation)
        await self._settle(simulation)
        async with _client(simulation) as client:
            await drain(client, self.recorder, "auditor", partitions)
            await read_offset(client, self.recorder, "auditor", _GROUP, source)
        self._observe(simulation)
        self._compare(simulation)

    async def _end_transactions(self, simulation: Simulation) -> None:
        """Wait until no coordinator has an open transaction, at most for the maximum transaction timeout."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TRANSACTION_TIMEOUT_MS / 1000 + 1
        while has_open_transactions(simulation) and loop.time() < deadline:
            await asyncio.sleep(_OBSERVE_S)

    async def _settle(self, simulation: Simulation) -> None:
        """Wait until no partition has an open transaction; report hanging ones."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _SETTLE_S
        while left := open_ends(simulation, (_INPUTS, _OUTPUTS)):
            if loop.time() > deadline:
                for partition, (stable, end) in left.items():
                    self.recorder.record(Undrained(_virtual_ms(), "auditor", partition, stable, end))
                return
            await asyncio.sleep(_OBSERVE_S)

    def _is_stale(self, group_id: str, broker_id: int) -> bool:
        """Return whether a broker knows a leader epoch of the group's partition in which another broker leads."""
        views = () if self._simulation is None else views_of_group(self._simulation, group_id)
        newest = max(views, key=lambda replica: replica.leader_epoch, default=None)
        return newest is not None and newest.leader_id != broker_id

    def _is_undisputed(self) -> bool:
        """Return whether all brokers name the same coordinator of the copiers' group.

        Like Kafka, a deposed coordinator that was not notified returns old offsets. A group member cannot use it, since
        it cannot complete a join without the group's log. The copiers are not members, so they wait.
        """
        views = () if self._simulation is None else views_of_group(self._simulation, _GROUP)
        return len({replica.leader_epoch for replica in views}) <= 1

    async def _watch(self, simulation: Simulation) -> None:
        while True:
            self._observe(simulation)
            await asyncio.sleep(_OBSERVE_S)

    def _observe(self, simulation: Simulation) -> None:
        for broker in simulation.core.brokers():
            known, start = self._starts.get(broker.node_id, (None, 0))
            if known is not broker:
                start += 1
                self._starts[broker.node_id] = (broker, start)
            for partition, replica in broker.replicas.partitions.items():
                if partition.topic in (_INPUTS, _OUTPUTS):
                    log = replica.log
                    self.recorder.record(
                        ReplicaSeen(
                            at_ms=_virtual_ms(),
                            partition=partition,
                            broker_id=broker.node_id,
                            incarnation=start,
                            is_leader=replica.is_leader,
                            leader_epoch=replica.leader_epoch,
                            log_start_offset=log.start_offset,
                            last_stable_offset=log.last_stable_offset(),
                            high_watermark=log.high_watermark,
                            log_end_offset=log.end_offset,
                            isr=replica.isr,
                        )
                    )

    def _compare(self, simulation: Simulation) -> None:
        for broker in simulation.core.brokers():
            for partition, replica in broker.replicas.partitions.items():
                for header, _ in replica.log.batches():
                    if header.base_offset < replica.log.high_watermark:
                        self.recorder.record(
                            BatchSeen(_virtual_ms(), partition, broker.node_id, header.base_offset, header.crc)
                        )


def _virtual_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


@asynccontextmanager
async def _client(simulation: Simulation) -> AsyncIterator[Client]:
    """Open a client, however long all brokers are down."""
    config = replace(
        simulation.config,
        connect_timeout_ms=_REQUEST_TIMEOUT_MS,
        request_timeout_ms=_REQUEST_TIMEOUT_MS,
        timeout_ms=_OPERATION_TIMEOUT_MS,
    )
    chance = random.Random(simulation.chance.random())
    async with AsyncExitStack() as stack:
        while True:
            try:
                client = await stack.enter_async_context(connect(config, connector=simulation.network, chance=chance))
                break
            except (ClusterUnreachable, RequestTimedOut):
                await asyncio.sleep(_OBSERVE_S)
        yield client


async def _partitions(client: Client, topic: str, replica_count: int | None) -> tuple[TopicPartition, ...]:
    found = await ensure_topic(client, topic, partition_count=2, replica_count=replica_count)
    return tuple(partition.partition for partition in found.partitions)
