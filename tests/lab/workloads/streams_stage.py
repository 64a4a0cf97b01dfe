"""Word counts on a simulated cluster: instances that die where a test says, and what is left when all is done."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.streams.instance import Instance, StreamsPlan
from eosctl.lab.workloads.streams.rules import OFFSET_UNKNOWN, STREAMS_4_3, Rules
from eosctl.lab.workloads.streams.task import Sizes, Step, StoreView, Task
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.ports import Emulation
from eosctl.storage.streams_state import ROCKSDB, find_applications, read_checkpoint

PARTITIONS = (0, 1)
WORDS = ("once", "twice", "thrice", "never")


class Killed(Exception):  # noqa: N818
    """The process ends here as by kill -9."""


class Immortal:
    """Never dies; counts how often each step was reached."""

    def __init__(self) -> None:
        self.reached: Counter[Step] = Counter()
        self.views: list[StoreView] = []

    def reach(self, step: Step) -> None:
        self.reached[step] += 1

    def observe(self, view: StoreView) -> None:
        self.views.append(view)


class Mortal(Immortal):
    """Dies at a step when it is reached for the n-th time: before it, or some ms into it."""

    def __init__(self, step: Step, number: int, into_ms: float) -> None:
        super().__init__()
        self.fate = (step, number, into_ms)
        self.victim: asyncio.Future[object] | None = None

    def reach(self, step: Step) -> None:
        super().reach(step)
        fatal, number, into_ms = self.fate
        if step is not fatal or self.reached[step] != number:
            return
        if not into_ms:
            raise Killed(step)
        assert self.victim is not None
        asyncio.get_running_loop().call_later(into_ms / 1_000, self.victim.cancel)


class Outcome(NamedTuple):
    """What a downstream reader and the next instance find."""

    output: dict[int, list[tuple[str, int]]]
    state: dict[int, dict[str, int]]
    changelog: dict[int, dict[str, int]]


@dataclass
class Stage:
    """A simulated cluster with an input that holds aborted transactions too."""

    simulation: Simulation
    client: Client
    directory: Path
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def plan(self, rules: Rules = STREAMS_4_3, memtable: int = 1_000) -> StreamsPlan:
        """Return a plan for an application of its own."""
        name, sizes = f"app{next(self.numbers)}", Sizes(memtable, batch=3)
        return StreamsPlan(
            name, "lines", f"{name}-counts", PARTITIONS, self.directory / "state", rules=rules, sizes=sizes
        )

    async def topics(self, plan: StreamsPlan) -> None:
        for topic in (plan.changelog_topic, plan.output_topic):
            await ensure_topic(self.client, topic, partition_count=len(PARTITIONS))

    async def feed(self, count: int) -> None:
        """Write lines to every partition, one transaction in four aborted."""
        await ensure_topic(self.client, "lines", partition_count=len(PARTITIONS))
        producer = TransactionalProducer(self.client, "feeder", now_ms=self.simulation.now_ms)
        await producer.init_transactions()
        for number in range(count):
            line = " ".join(self.chance.choices(WORDS, k=3)).encode()
            await producer.send(TopicPartition("lines", number % 2), [OutgoingRecord(None, line)])
            await producer.end(committed=number % 4 != 3)

    async def live(
        self, plan: StreamsPlan, life: Immortal, *, stands_by: Callable[[], bool] | None = None
    ) -> Sequence[Task]:
        """Run an instance until its input is handled and return its tasks; raise Killed when it dies.

        With `stands_by`, it first keeps copies of the stores until that returns True.
        """
        config = self.simulation.config
        async with connect(config, connector=self.simulation.network, chance=random.Random(1)) as client:
            instance = Instance(client, plan, now_ms=self.simulation.now_ms, life=life)
            if stands_by is not None:
                await instance.stand_by(stands_by)
            running = asyncio.ensure_future(instance.run(lambda: True))
            if isinstance(life, Mortal):
                life.victim = running
            try:
                await running
            except asyncio.CancelledError as killed:
                raise Killed from killed
            return instance.tasks

    @asynccontextmanager
    async def late_markers(self, ms: int) -> AsyncIterator[None]:
        """Hold every marker back for so long."""
        engine = FaultEngine(self.simulation)
        await fault_commands(engine)["inject"]({"words": f"late-markers ms={ms}"})
        yield
        await engine.heal()

    async def outcome(self, plan: StreamsPlan, tasks: Sequence[Task]) -> Outcome:
        """Read everything that is committed."""
        changelog = {number: dict(rows) for number, rows in (await self.read(plan.changelog_topic)).items()}
        state = {task.places.input.partition: task.content() for task in tasks}
        return Outcome(await self.read(plan.output_topic), state, changelog)

    async def read(self, topic: str) -> dict[int, list[tuple[str, int]]]:
        places = [TopicPartition(topic, number) for number in PARTITIONS]
        reader = await Reader.open(self.client, places, isolation=IsolationLevel.READ_COMMITTED)
        found = await reader.drain(20_000)
        return {
            place.partition: [((r.key or b"").decode(), int(r.value or b"0")) for r in found.get(place, ())]
            for place in places
        }


class LifeFacts(NamedTuple):
    """What one life of an application shows from outside.

    Attributes:
        restored: The number of restored records of each store, in ascending order.
        running: The state of the store in the ``.checkpoint`` of each running stateful task: known, unknown, absent.
        left: The same after the process has ended.
    """

    restored: tuple[int, ...]
    running: tuple[str, ...]
    left: tuple[str, ...]


def checkpoint_states(state_dir: Path) -> tuple[str, ...]:
    """Return the states in the checkpoints of stateful tasks, of Streams or of its model."""
    (application,) = find_applications(state_dir)
    told = []
    for task in application.tasks:
        if (task / ROCKSDB).exists():
            offsets = set(read_checkpoint(task).values())
            told.append("absent" if not offsets else "unknown" if offsets == {OFFSET_UNKNOWN} else "known")
    return tuple(told)


def lives_of_model(
    directory: Path, rules: Rules, clean_ends: Sequence[bool], lines: int, *, emulate: str
) -> list[LifeFacts]:
    """Let the model live several lives, each with more input, that end with all of it committed.

    Each partition is fed ``lines`` lines of two words in every life.
    """
    facts: list[LifeFacts] = []

    async def scenario(stage: Stage) -> None:
        plan = stage.plan(rules)
        await ensure_topic(stage.client, "lines", partition_count=len(PARTITIONS))
        await stage.topics(plan)
        producer = TransactionalProducer(stage.client, "feeder", now_ms=stage.simulation.now_ms)
        await producer.init_transactions()
        for number, is_clean in enumerate(clean_ends, 1):
            for partition in PARTITIONS:
                records = [OutgoingRecord(None, b"once twice")] * lines
                await producer.send(TopicPartition("lines", partition), records)
            await producer.commit()
            facts.append(await live_once(stage, plan, 2 * number * lines, is_clean=is_clean))

    play(directory, scenario, emulate=emulate)
    return facts


async def live_once(stage: Stage, plan: StreamsPlan, result_count: int, *, is_clean: bool) -> LifeFacts:
    over = asyncio.Event()
    config = stage.simulation.config
    async with connect(config, connector=stage.simulation.network, chance=random.Random(1)) as client:
        instance = Instance(client, plan, now_ms=stage.simulation.now_ms, life=Immortal())
        running = asyncio.ensure_future(instance.run(over.is_set))
        while any(len(rows) < result_count for rows in (await stage.read(plan.output_topic)).values()):
            assert not running.done()
            await asyncio.sleep(0.1)
        while_running = checkpoint_states(plan.state_dir)
        if is_clean:
            over.set()
        else:
            running.cancel()
        await asyncio.gather(running, return_exceptions=not is_clean)
        restored = tuple(sorted(task.restored_count for task in instance.tasks))
        return LifeFacts(restored, while_running, checkpoint_states(plan.state_dir))


@asynccontextmanager
async def staged(directory: Path, *, emulate: str = "4.3") -> AsyncIterator[Stage]:
    """Start a cluster of one broker in the running loop."""
    settings = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "2"}
    shape = ClusterShape(1, Emulation(emulate), None, settings, fast=True)
    async with (
        simulate(shape, directory / "cluster", seed=3) as simulation,
        connect(simulation.config, connector=simulation.network, chance=random.Random(2)) as client,
    ):
        yield Stage(simulation, client, directory)


def play(directory: Path, scenario: Callable[[Stage], Awaitable[None]], *, emulate: str = "4.3") -> None:
    """Run a scenario on virtual time."""

    async def run() -> None:
        async with staged(directory, emulate=emulate) as stage:
            await scenario(stage)

    run_virtual(run(), 3)
