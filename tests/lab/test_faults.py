"""The engine of faults on virtual time: every kind does what it says, to clients that know nothing of it, and ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2, GroupIdentity, OffsetToCommit, wait_until_ended
from eosctl.errors import EosctlError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.faults.order import parse_order
from eosctl.sandbox.ports import Emulation

THREE = ClusterShape(broker_count=3, fast=True, settings={"offsets.topic.num.partitions": "2"})
OLD = THREE._replace(emulation=Emulation("3.9"))


class Scene(NamedTuple):
    """A running cluster with its engine, and a client."""

    simulation: Simulation
    faults: FaultEngine
    client: Client
    partition: TopicPartition

    async def fault(self, words: str) -> Any:
        return await self.faults.inject(parse_order(words))

    def producer(self, name: str = "app", client: Client | None = None, dialect: Any = TV1) -> TransactionalProducer:
        return TransactionalProducer(client or self.client, name, now_ms=self.simulation.now_ms, dialect=dialect)

    @asynccontextmanager
    async def another_client(self, **changes: Any) -> AsyncIterator[Client]:
        config = replace(self.simulation.config, **changes)
        async with connect(config, connector=self.simulation.network, chance=random.Random(2)) as client:
            yield client

    async def visible(self) -> list[bytes | None]:
        reader = await Reader.open(self.client, [self.partition], isolation=IsolationLevel.READ_COMMITTED)
        return [record.value for record in (await reader.drain(20_000)).get(self.partition, [])]

    @property
    def leader(self) -> int:
        return leader_as(self.simulation.core.brokers()[0], self)


def record(text: str) -> list[OutgoingRecord]:
    return [OutgoingRecord(None, text.encode())]


def play(
    directory: Path, scenario: Callable[[Scene], Awaitable[None]], shape: ClusterShape = THREE, seed: int = 1
) -> None:
    async def run() -> None:
        async with simulate(shape, directory, seed=seed) as simulation:
            engine = FaultEngine(simulation, seed=seed)
            config = simulation.config
            async with connect(config, connector=simulation.network, chance=random.Random(seed)) as client:
                found = await ensure_topic(client, "orders", partition_count=1)
                await scenario(Scene(simulation, engine, client, found.partitions[0].partition))

    run_virtual(run(), seed)


def leader_as(broker: Broker, scene: Scene) -> int:
    state = broker.metadata.partition(scene.partition)
    assert state is not None
    return state.leader


def time() -> float:
    return asyncio.get_running_loop().time()


def test_a_killed_broker_recovers_without_losing_commits(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("before"))
        await producer.commit()
        victim = scene.leader
        await scene.fault(f"kill node={victim} for=3s")
        assert victim not in scene.simulation.core.nodes
        await producer.send(scene.partition, record("while it is down"))
        await producer.commit()
        await asyncio.sleep(4)
        assert victim in scene.simulation.core.nodes
        assert await scene.visible() == [b"before", b"while it is down"]
        assert [event.what for event in scene.faults.events] == ["killed", "ends"]

    play(tmp_path, scenario)


def test_a_paused_broker_does_not_answer_until_it_resumes(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await scene.fault("pause node=1 for=10s")
        await scene.fault("pause node=2 for=10s")
        await scene.fault("pause node=3 for=10s")
        began = time()
        await producer.send(scene.partition, record("late"))
        await producer.commit()
        assert time() - began >= 9
        assert await scene.visible() == [b"late"]
        assert scene.faults.active == ()

    play(tmp_path, scenario)


def test_a_paused_leader_is_replaced_and_resigns_on_resume(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        victim = scene.leader
        await scene.fault(f"pause node={victim}")
        other = scene.simulation.core.broker(1 if victim != 1 else 2)
        while leader_as(other, scene) == victim:
            await asyncio.sleep(0.1)
        await scene.faults.heal()
        while leader_as(scene.simulation.core.broker(victim), scene) == victim:
            await asyncio.sleep(0.1)

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("dialect", "seen"),
    [pytest.param(TV1, [b"first", b"half"], id="torn"), pytest.param(TV2, [b"first"], id="refused")],
)
def test_a_late_end_txn_ends_the_next_transaction_below_5(tmp_path: Path, dialect: Any, seen: list[bytes]) -> None:
    """KAFKA-17754: a commit that its client has repeated arrives while the next transaction is open."""

    async def scenario(scene: Scene) -> None:
        async with scene.another_client(request_timeout_ms=500) as client:
            producer = scene.producer(client=client, dialect=dialect)
            await producer.init_transactions()
            await producer.send(scene.partition, record("first"))
            active = await scene.fault("late-end-txn ms=3000 count=1")
            await producer.commit()
            await producer.send(scene.partition, record("half"))
            await asyncio.sleep(4)
            assert active.hit_count == 1
            assert await scene.visible() == seen

    play(tmp_path, scenario)


def test_a_lost_answer_to_a_commit_leaves_it_committed(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("once"))
        active = await scene.fault("disconnect api=END_TXN side=answers count=1")
        await producer.commit()  # the client asks again, which EndTxn 3 answers like the first time
        assert active.hit_count == 1
        assert await scene.visible() == [b"once"]

    play(tmp_path, scenario)


@pytest.mark.parametrize("dialect", [TV1, TV2])
def test_a_duplicated_produce_is_appended_once(tmp_path: Path, dialect: Any) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer(dialect=dialect)
        await producer.init_transactions()
        active = await scene.fault("duplicate api=PRODUCE")
        for text in ("a", "b", "c"):
            await producer.send(scene.partition, record(text))
        await producer.commit()
        assert active.hit_count == 3
        assert await scene.visible() == [b"a", b"b", b"c"]

    play(tmp_path, scenario)


def test_a_dropped_request_is_never_answered_on_its_connection(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        async with scene.another_client(request_timeout_ms=400) as client:
            await list_offset(client, scene.partition)
            active = await scene.fault("drop api=LIST_OFFSETS count=1")
            began = time()
            assert await list_offset(client, scene.partition) == 0  # asked again, on a new connection
            assert time() - began >= 0.4
            assert active.hit_count == 1

    play(tmp_path, scenario)


def test_markers_that_come_late_keep_the_transaction_in_prepare(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("x"))
        await scene.fault("late-markers ms=2000")
        began = time()
        await producer.commit()
        assert time() - began < 1
        assert await scene.visible() == []
        await wait_until_ended(scene.client, "app")
        assert time() - began >= 2
        assert await scene.visible() == [b"x"]

    play(tmp_path, scenario)


def test_a_partition_leaves_the_smaller_side_without_leaders(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        victim = scene.leader
        await scene.fault(f"partition nodes={victim}")
        core = scene.simulation.core
        others = [broker for broker in core.brokers() if broker.node_id != victim]
        while any(leader_as(broker, scene) == victim for broker in others):
            await asyncio.sleep(0.1)
        assert leader_as(core.broker(victim), scene) == victim  # it has not learned about the election
        await scene.faults.heal()
        while leader_as(core.broker(victim), scene) == victim:
            await asyncio.sleep(0.1)

    play(tmp_path, scenario)


def test_a_disk_without_its_cache_is_repaired_by_replicas(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        for text in ("a", "b", "c"):
            await producer.send(scene.partition, record(text))
            await producer.commit()
        await wait_until_ended(scene.client, "app")
        victim = scene.leader
        await scene.fault(f"kill node={victim} lose=4 torn=true")
        assert "orders-0" in scene.faults.events[-1].what
        await scene.fault(f"start node={victim}")
        brokers = scene.simulation.core.brokers()
        while len({broker.replicas.partitions[scene.partition].log.end_offset for broker in brokers}) > 1:
            await asyncio.sleep(0.2)
        assert await scene.visible() == [b"a", b"b", b"c"]

    play(tmp_path, scenario)


def test_a_single_broker_without_its_cache_loses_acked_records(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        for text in ("a", "b"):
            await producer.send(scene.partition, record(text))
            await producer.commit()
        await wait_until_ended(scene.client, "app")
        end = await list_offset(scene.client, scene.partition)
        await scene.fault("restart node=1 lose=2")
        assert await list_offset(scene.client, scene.partition) == end - 2

    play(tmp_path, scenario, ClusterShape(fast=True))


def test_a_full_disk_stops_a_broker_until_there_is_space(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        victim = scene.leader
        await scene.fault(f"full-disk node={victim}")
        await producer.send(scene.partition, record("x"))
        await producer.commit()
        assert victim not in scene.simulation.core.nodes
        await scene.faults.heal()
        assert victim in scene.simulation.core.nodes
        assert await scene.visible() == [b"x"]

    play(tmp_path, scenario)


def test_a_skewed_clock_survives_a_restart_and_is_reset(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        nodes = scene.simulation.core.nodes
        await scene.fault("skew node=2 ms=-1m")
        await scene.fault("restart node=2")
        assert (nodes[1].runtime.skew_ms, nodes[2].runtime.skew_ms) == (0, -60_000)
        await scene.faults.heal()
        assert nodes[2].runtime.skew_ms == 0

    play(tmp_path, scenario)


@pytest.mark.parametrize("what", ["transactional-id=app", "group=readers"])
def test_a_coordinator_moves_without_losing_what_it_knows(tmp_path: Path, what: str) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("x"))
        group = GroupIdentity("readers")
        await producer.send_offsets(group, {scene.partition: OffsetToCommit(7)})
        active = await scene.fault(f"move-coordinator {what}")
        assert active.number == 1
        assert "instead of" in scene.faults.events[-1].what
        await producer.commit()
        await wait_until_ended(scene.client, "app")
        assert (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition] == 7

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("commits_first", "when", "seen"),
    [
        pytest.param(True, "before-append", None, id="A: the task finds an offset that is not appended yet"),
        pytest.param(True, "after-append", 9, id="B: the next transaction's offset is visible before it ends"),
        pytest.param(False, "after-append", None, id="C: the next transaction's offset is dropped"),
    ],
)
def test_each_case_of_kafka_17507(tmp_path: Path, commits_first: bool, when: str, seen: int | None) -> None:
    async def scenario(scene: Scene) -> None:
        producer, group = scene.producer(), GroupIdentity("readers")
        await producer.init_transactions()
        await scene.fault(f"late-materialization when={when}")
        await producer.send_offsets(group, {scene.partition: OffsetToCommit(5)})
        await producer.end(committed=commits_first)
        await wait_until_ended(scene.client, "app")
        await producer.send_offsets(group, {scene.partition: OffsetToCommit(9)})
        # While the second transaction is open, stable offsets must not be returned; with the bug they are.
        assert (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition] == seen
        await producer.commit()
        await wait_until_ended(scene.client, "app")
        await scene.faults.heal()
        after = (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition]
        assert after == seen
        await scene.fault("move-coordinator group=readers")
        healed = (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition]
        assert healed == 9  # the log was right all along

    play(tmp_path, scenario, OLD)


def test_without_the_fault_nothing_of_kafka_17507_shows(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer, group = scene.producer(), GroupIdentity("readers")
        await producer.init_transactions()
        for offset in (5, 9):
            await producer.send_offsets(group, {scene.partition: OffsetToCommit(offset)})
            await producer.commit()
            await wait_until_ended(scene.client, "app")
            assert (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition] == offset

    play(tmp_path, scenario, OLD)


def test_chance_comes_from_the_seed(tmp_path: Path) -> None:
    chosen: list[list[str]] = []
    for number in range(2):

        async def scenario(scene: Scene) -> None:
            for _ in range(6):
                await scene.fault("skew node=any ms=10")
            chosen.append([event.order for event in scene.faults.events])

        play(tmp_path / str(number), scenario, seed=4)
    assert chosen[0] == chosen[1]
    assert len(set(chosen[0])) > 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kill node=9", "There is no node 9"),
        ("start node=1", "Node 1 runs already"),
        ("full-disk node=100", "Node 100 is a controller"),
        ("full-disk node=1 directory=2", "has no log directory 2"),
        ("late-materialization", "no late materialization"),
        ("bug name=kafka-17507", "cannot have kafka-17507"),
        ("bug name=kafka-1", "Unknown bug"),
        ("move-coordinator group=nobody", "nobody has no coordinator yet"),
    ],
)
def test_an_impossible_fault_is_rejected_without_side_effects(tmp_path: Path, words: str, expected: str) -> None:
    async def scenario(scene: Scene) -> None:
        with pytest.raises(EosctlError, match=expected):
            await scene.fault(words)
        assert scene.faults.active == ()

    play(tmp_path, scenario)
