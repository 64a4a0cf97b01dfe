"""A discrete-event simulation of commits on virtual time: queues at brokers, and the loss of one of them.

The model: each broker is one server with a fixed time for an append (followers' copies included); a producer commits
once an interval, give or take a tenth, and begins its next transaction when the last is complete. A commit appends to
the coordinator's log and waits for replication; then markers go to every broker that leads a partition of the
transaction. While a broker fails over, requests for its partitions wait. Requests of clients that must find their new
leader take longer than that in practice: a simulated standstill is a lower bound.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import simpy

from eosctl.capacity.application_plan import plan_application
from eosctl.capacity.latency import BROKER_SESSION_TIMEOUT_MS
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.capacity.rhythm import Rhythm, work_out_rhythms
from eosctl.model.capacity_plan import ApplicationPlan
from eosctl.model.capacity_simulation import PhaseLatency, SimulationReport, SimulationSettings
from eosctl.model.workload import Workload

#: What one broker of two cores was measured to append: 2,000 to 3,400 transactions a second of 5 appends.
MEASURED_APPENDS_PER_S: Final = 10_000.0
#: A session timeout to notice the loss and a second to elect leaders, with Kafka's defaults.
FAILOVER_MS: Final = BROKER_SESSION_TIMEOUT_MS + 1_000.0
MAX_TRANSACTIONS: Final = 100_000

Steps = Generator[Any, Any, None]


class _Commit(NamedTuple):
    called_at_ms: float
    answered_ms: float
    visible_ms: float


class _Shape(NamedTuple):
    """One application's transactions: appends to each broker, on average."""

    plan: ApplicationPlan
    interval_ms: float
    data_appends: float
    marked_partitions: float


def simulate_commits(workload: Workload, settings: SimulationSettings, seed: int) -> SimulationReport:
    """Simulate a workload.

    Args:
        workload: The workload.
        settings: How long, what fails, how quick brokers are.
        seed: Decides phases and coordinators.

    Raises:
        WorkloadRefused: It contradicts itself, permanently exceeds the brokers, or is too large to simulate.
    """
    plan = plan_capacity(workload)
    cluster = workload.cluster
    offered = (plan.eos_appends_per_s + plan.data_appends_per_s) / cluster.broker_count
    utilisation = offered / settings.appends_per_s
    left = cluster.broker_count - (settings.lose_broker_at_ms is not None)
    if left < 1 or offered * cluster.broker_count / left >= settings.appends_per_s:
        raise WorkloadRefused(
            f"The workload {workload.name} does not settle: {offered:,.0f} appends/s for each of "
            f"{cluster.broker_count} brokers ({left} remaining) at {settings.appends_per_s:,.0f} each.",
            "Queues would grow without bound.",
            "Add brokers, or lengthen the commit interval.",
        )
    count = plan.transactions_per_s * settings.duration_ms / 1000
    if count > MAX_TRANSACTIONS:
        raise WorkloadRefused(
            f"{count:,.0f} transactions are too many to simulate.", f"The most is {MAX_TRANSACTIONS:,}.", "Shorten it."
        )
    rhythms = work_out_rhythms(workload)
    run = _Run(workload, settings, random.Random(seed), other_appends=_outside(plan.topics, rhythms))
    for application in workload.applications:
        rhythm = rhythms[application.name]
        shape = _Shape(
            plan_application(workload, application, rhythms),
            rhythm.interval_ms,
            rhythm.data_partitions,
            rhythm.data_partitions + (1 if application.commits_offsets else 0),
        )
        if rhythm.transactions_per_s:
            each_per_s = rhythm.transactions_per_s / application.producer_count
            run.add(shape, each_per_s * rhythm.interval_ms / 1000, application.producer_count)
    commits = run.go()
    return SimulationReport(
        workload=workload.name,
        settings=settings,
        seed=seed,
        utilisation=utilisation,
        standstill_ms=_standstill_ms(commits, settings),
        phases=_phases(commits, settings),
    )


def _outside(topics: Sequence[Any], rhythms: Mapping[str, Rhythm]) -> float:
    """Return the data batches per second that no transaction of the file writes."""
    touched = {name for rhythm in rhythms.values() for name in rhythm.touched}
    return float(sum(t.data_batches_per_s for t in topics if not t.internal and t.name not in touched))


class _Run:
    """One simulation."""

    def __init__(
        self, workload: Workload, settings: SimulationSettings, chance: random.Random, other_appends: float
    ) -> None:
        self._cluster = workload.cluster
        self._settings = settings
        self._chance = chance
        self._world = simpy.Environment()
        self._brokers = [simpy.Resource(self._world) for _ in range(self._cluster.broker_count)]
        # Followers append what leaders do, on the other brokers: each append costs all of its copies.
        self._append_ms = 1000 / settings.appends_per_s * self._cluster.replication_factor
        # What others write slows every request of a transaction down, evenly.
        busy = other_appends / self._cluster.broker_count * self._append_ms / 1000
        self._append_ms /= max(0.01, 1 - busy)
        self._commits: list[_Commit] = []

    def add(self, shape: _Shape, share: float, producer_count: int) -> None:
        """Start an application's producers; ``share`` of their intervals have a transaction."""
        for _ in range(producer_count):
            self._world.process(self._producer(shape, share))

    def go(self) -> list[_Commit]:
        """Run to the end and return the commits that were answered and became visible."""
        self._world.run(until=self._settings.duration_ms)
        return self._commits

    def _producer(self, shape: _Shape, share: float) -> Steps:
        coordinator = self._chance.randrange(len(self._brokers))
        due = self._chance.uniform(0, shape.interval_ms)
        while True:
            yield self._world.timeout(max(0.0, due - self._world.now))
            # Without a little chance, producers that a standstill has brought in step would stay so for ever.
            due = max(due, self._world.now) + shape.interval_ms * self._chance.uniform(0.9, 1.1)
            if self._chance.random() < share:
                yield from self._transaction(shape, coordinator)

    def _transaction(self, shape: _Shape, coordinator: int) -> Steps:
        cluster, world = self._cluster, self._world
        yield from self._spread(shape.data_appends)
        yield from self._append(coordinator, shape.plan.partition_waves)
        called = world.now
        yield world.timeout(cluster.client_round_trip_ms / 2)
        yield from self._append(coordinator, 1)
        yield world.timeout(cluster.replication_wait_ms)
        answered = world.now + cluster.client_round_trip_ms / 2
        yield from self._spread(shape.marked_partitions)
        yield world.timeout(cluster.replication_wait_ms)
        self._commits.append(_Commit(called, answered - called, world.now - called))
        yield from self._append(coordinator, 1)
        yield world.timeout(cluster.replication_wait_ms)

    def _spread(self, appends: float) -> Steps:
        """Append at the leaders of this many partitions in parallel, and wait for the slowest."""
        first, count = self._chance.randrange(len(self._brokers)), min(len(self._brokers), max(1, round(appends)))
        parts = [
            self._world.process(self._append((first + index) % len(self._brokers), appends / count))
            for index in range(count)
        ]
        yield self._world.all_of(parts)

    def _append(self, broker: int, appends: float) -> Steps:
        broker = yield from self._serving(broker)
        with self._brokers[broker].request() as turn:
            yield turn
            yield self._world.timeout(appends * self._append_ms)

    def _serving(self, broker: int) -> Generator[Any, Any, int]:
        """Return who serves what a broker led; while broker 0 fails over, wait."""
        lost_at = self._settings.lose_broker_at_ms
        if broker != 0 or lost_at is None or self._world.now < lost_at:
            return broker
        back_at = lost_at + self._settings.failover_ms
        if self._world.now < back_at:
            yield self._world.timeout(back_at - self._world.now)
        return 1 + self._chance.randrange(len(self._brokers) - 1)


def _standstill_ms(commits: Sequence[_Commit], settings: SimulationSettings) -> float:
    moments = [0.0, *sorted(commit.called_at_ms + commit.visible_ms for commit in commits), settings.duration_ms]
    return max(later - earlier for earlier, later in pairwise(moments))


def _phases(commits: Sequence[_Commit], settings: SimulationSettings) -> tuple[PhaseLatency, ...]:
    lost_at = settings.lose_broker_at_ms
    if lost_at is None:
        return (_phase("all", commits),)
    back_at = lost_at + settings.failover_ms
    return (
        _phase("before the loss", [c for c in commits if c.called_at_ms + c.visible_ms < lost_at]),
        _phase(
            "failing over",
            [c for c in commits if c.called_at_ms < back_at and c.called_at_ms + c.visible_ms >= lost_at],
        ),
        _phase("after", [c for c in commits if c.called_at_ms >= back_at]),
    )


def _phase(name: str, commits: Sequence[_Commit]) -> PhaseLatency:
    answered, visible = sorted(c.answered_ms for c in commits), sorted(c.visible_ms for c in commits)
    return PhaseLatency(
        name,
        len(commits),
        *(_quantile(answered, q) for q in (0.5, 0.99, 1.0)),
        *(_quantile(visible, q) for q in (0.5, 0.99, 1.0)),
    )


def _quantile(ordered: Sequence[float], quantile: float) -> float:
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] if ordered else 0.0
