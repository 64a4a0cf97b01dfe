"""The raw load generator: many transactional ids over few connections, with prebuilt frames.

It does not follow leaders or coordinators that move during the run.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from eosctl.client import Client, CoordinatorKind, Failure, PartitionMetadata
from eosctl.client.ports import Connector, WallClock
from eosctl.client.raw_streams import open_raw
from eosctl.client.sockets import SocketConnector
from eosctl.client.tls import tls_context
from eosctl.client.transactions import ProducerIdentity, init_producer_id
from eosctl.errors import ClusterUnreachable, UsageError
from eosctl.lab.workloads.lane import Lane, Producer, Step, Tally, flush_all
from eosctl.lab.workloads.load import Load, LoadReport
from eosctl.lab.workloads.prebuilt import RequestContent, answer_layout, prebuild
from eosctl.wire.api_keys import ApiKey

_TRANSACTION_TIMEOUT_MS: Final = 60_000
_TICK_S: Final = 0.001
_DRAIN_MS: Final = 5_000
_CONCURRENT_SET_UPS: Final = 64
_CONCURRENT_COORDINATORS: Final = 500


async def run_load(
    client: Client,
    load: Load,
    *,
    now_ms: WallClock,
    connector: Connector | None = None,
    cpu_s: Callable[[], float] = time.process_time,
) -> LoadReport:
    """Put a load on a cluster and measure it.

    Args:
        client: Initializes the producers; the load has separate connections.
        load: The load.
        now_ms: The clock for records' timestamps.
        connector: Opens the load's connections; sockets if None.
        cpu_s: Returns the CPU time of this process, in seconds.

    Raises:
        UsageError: The topic has too few partitions on one broker for the load.
        EosctlError: A producer could not be initialized, or a connection broke.
    """
    async with _prepared(client, load, now_ms, connector or SocketConnector()) as run:
        return await run.measure(cpu_s)


@asynccontextmanager
async def _prepared(client: Client, load: Load, now_ms: WallClock, connector: Connector) -> AsyncIterator[_Run]:
    run = _Run(load)
    try:
        await run.set_up(client, now_ms, connector)
        yield run
    finally:
        run.close()


class _Run:
    """A running load."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._loop = asyncio.get_running_loop()
        self._tally = Tally()
        self._unsent: list[Lane] = []
        self._lanes: dict[tuple[int, int], Lane] = {}
        self._producers: list[Producer] = []
        self._idle: deque[Producer] = deque()
        self._remaining = load.id_count * load.transactions_per_id if load.transactions_per_id is not None else None
        self._next_due_at = 0.0
        self._failed_count = 0
        self._is_open = False
        self._is_closing = False
        self._broken = False
        self._finished = asyncio.Event()

    def close(self) -> None:
        """Close every connection."""
        self._is_closing = True
        for lane in self._lanes.values():
            lane.close()

    async def set_up(self, client: Client, now_ms: WallClock, connector: Connector) -> None:
        """Initialize every id and build its frames."""
        load = self._load
        topic = (await client.refresh_metadata([load.topic])).topic(load.topic)
        choices = _partition_choices(topic.partitions if topic is not None else (), load.partition_count)
        if not choices:
            raise UsageError(
                f"The topic {load.topic} has no broker that leads {load.partition_count} partitions.",
                "Each transaction writes to a single broker here, which must lead all of its partitions.",
                "Create the topic with more partitions, or write to fewer per transaction.",
            )
        ids = [f"{load.prefix}-{number}" for number in range(load.id_count)]
        coordinators = await _coordinators(client, CoordinatorKind.TRANSACTION, ids)
        needs_groups = any(call.api_key is ApiKey.TXN_OFFSET_COMMIT for call in load.profile.calls)
        groups = await _coordinators(client, CoordinatorKind.GROUP, ids) if needs_groups else coordinators
        gate = asyncio.Semaphore(_CONCURRENT_SET_UPS)

        async def add(number: int, transactional_id: str) -> Producer:
            async with gate:
                identity = await init_producer_id(client, transactional_id, _TRANSACTION_TIMEOUT_MS)
            leader_id, partitions = choices[number % len(choices)]
            homes = {ApiKey.PRODUCE: leader_id, ApiKey.TXN_OFFSET_COMMIT: groups[transactional_id]}
            value = bytes(load.record_bytes)
            content = RequestContent(
                transactional_id=transactional_id,
                group_id=transactional_id,
                topic=load.topic,
                partitions=partitions,
                value=value,
                now_ms=now_ms(),
            )
            steps = []
            for call in load.profile.calls:
                node_id = homes.get(call.api_key, coordinators[transactional_id])
                lane = await self._lane(client, connector, node_id, number % load.connection_count)
                layout = answer_layout(call, load.topic, partitions)
                steps.append(Step(call.api_key, lane, prebuild(call, content), layout))
            return self._producer(steps, identity)

        self._producers = list(await asyncio.gather(*(add(*numbered) for numbered in enumerate(ids))))
        self._idle.extend(self._producers)

    def _producer(self, steps: Sequence[Step], identity: ProducerIdentity) -> Producer:
        return Producer(
            steps=tuple(steps),
            identity=(identity.producer_id, identity.producer_epoch),
            tally=self._tally,
            loop=self._loop,
            unsent=self._unsent,
            retry_after_s=self._load.retry_after_ms / 1000,
            on_idle=self._ended,
            on_failed=self._failed,
        )

    async def measure(self, cpu_s: Callable[[], float]) -> LoadReport:
        """Run the load; return the counts between warm-up and end."""
        load = self._load
        self._is_open = True
        self._next_due_at = self._loop.time()
        self._tick()
        if load.warm_up_ms:
            await self._wait(load.warm_up_ms)
            self._tally.clear()
        counted_from, cpu_from_s = self._loop.time(), cpu_s()
        await self._wait(load.duration_ms)
        counted_s, cpu_used_s = self._loop.time() - counted_from, cpu_s() - cpu_from_s
        report = self._report(counted_s, cpu_used_s)
        self._is_open = False
        if not self._is_finished():
            await self._wait(_DRAIN_MS)
        if self._broken:
            raise ClusterUnreachable(
                "A connection of the load broke.", "The broker stopped, or refused a request.", "Check the broker."
            )
        return report

    def _report(self, counted_s: float, cpu_used_s: float) -> LoadReport:
        tally, rate = self._tally, self._load.rate_per_s
        late_s = max(0.0, self._loop.time() - self._next_due_at)
        return LoadReport(
            load=self._load,
            counted_ms=counted_s * 1000,
            completed_count=tally.completed_count,
            commit=tally.commit.percentiles(),
            whole=tally.whole.percentiles(),
            retry_count=tally.retry_count,
            errors=dict(tally.errors),
            backlog_count=int(late_s * rate) if rate is not None else 0,
            client_cpu_us=cpu_used_s * 1_000_000 / max(1, tally.completed_count),
        )

    async def _wait(self, milliseconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(milliseconds / 1000):
                await self._finished.wait()

    def _tick(self) -> None:
        """Start due transactions on idle producers; for an open loop, schedule the next tick."""
        now = self._loop.time()
        while self._idle and (due_at := self._next_due(now)) is not None:
            self._idle.popleft().begin(due_at, now)
        flush_all(self._unsent)
        if self._load.rate_per_s is not None and self._is_open and not self._broken:
            self._loop.call_later(_TICK_S, self._tick)

    def _next_due(self, now: float) -> float | None:
        """Take the next transaction from the schedule and return its scheduled time; None if it must wait."""
        rate = self._load.rate_per_s
        if not self._is_open or self._remaining == 0 or (rate is not None and self._next_due_at > now):
            return None
        if self._remaining is not None:
            self._remaining -= 1
        if rate is None:
            return now
        due_at = self._next_due_at
        self._next_due_at += 1 / rate
        return due_at

    def _ended(self, producer: Producer, now: float) -> None:
        """Continue a producer with its next transaction (called by it)."""
        due_at = self._next_due(now)
        if due_at is not None:
            producer.begin(due_at, now)
            return
        self._idle.append(producer)
        if self._is_finished():
            self._finished.set()

    def _failed(self) -> None:
        """Remove a producer with a fatal error (called by it)."""
        self._failed_count += 1
        if self._is_finished():
            self._finished.set()

    def _is_finished(self) -> bool:
        nothing_left = not self._is_open or self._remaining == 0
        at_rest = len(self._idle) + self._failed_count == len(self._producers)
        return at_rest and (nothing_left or self._failed_count == len(self._producers))

    async def _lane(self, client: Client, connector: Connector, node_id: int, number: int) -> Lane:
        key = (node_id, number)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(self._loop, self._unsent, self._lost)
            endpoint = client.cluster.endpoint(node_id)
            if endpoint is None:
                raise ClusterUnreachable(
                    f"Broker {node_id} is not in the cluster.",
                    "It coordinates or leads what the load needs, and has gone since.",
                    "Wait until the cluster is whole, then start the load again.",
                )
            config = client.config
            lane.attach(await open_raw(endpoint, config, connector, tls_context(config), lane))
        return lane

    def _lost(self) -> None:
        if not self._is_closing:
            self._broken = True
            self._finished.set()


def _partition_choices(partitions: Iterable[PartitionMetadata], count: int) -> list[tuple[int, tuple[int, ...]]]:
    """Split each leader's partitions into groups of `count`, so that one Produce covers a transaction."""
    by_leader: dict[int, list[int]] = defaultdict(list)
    for partition in partitions:
        if partition.leader_id is not None:
            by_leader[partition.leader_id].append(partition.partition.partition)
    return [
        (leader_id, tuple(indexes[start : start + count]))
        for leader_id, indexes in sorted(by_leader.items())
        for start in range(0, len(indexes) - count + 1, count)
    ]


async def _coordinators(client: Client, kind: CoordinatorKind, keys: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(keys), _CONCURRENT_COORDINATORS):
        for key, outcome in (
            await client.find_coordinators(kind, keys[start : start + _CONCURRENT_COORDINATORS])
        ).items():
            if isinstance(outcome, Failure):
                raise outcome.error
            found[key] = outcome
    return found
