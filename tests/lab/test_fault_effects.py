"""Faults of pace, order and place on virtual time: what each of them does to clients and replicas, and that it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from eosctl.client import Client
from eosctl.client.consumer import IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit, produce, wait_until_ended
from eosctl.collect.newest_metadata import collect_current_cluster
from eosctl.collect.reader import ReadOnly
from eosctl.errors import EosctlError
from eosctl.sandbox.faults.bugs import BUGS
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.lab.test_faults import OLD, THREE, Scene, play, record, time

LATE_MS = 3_000
UNVERIFIED = {"transaction.partition.verification.enable": "false"}


async def end_offset(client: Client, scene: Scene) -> float:
    """Return how many ms a client waits for the end of the partition."""
    began = time()
    await list_offset(client, scene.partition)
    return (time() - began) * 1000


async def send_one(scene: Scene, name: str, client: Client | None = None) -> None:
    """Write one record in a transaction of its own."""
    producer = scene.producer(name, client=client)
    await producer.init_transactions()
    await producer.send(scene.partition, record(name))
    await producer.commit()
    await wait_until_ended(scene.client, name)


async def write_ms(scene: Scene, name: str) -> float:
    """Return how many ms a record is on its way into the log of its leader and in-sync followers."""
    producer = scene.producer(name)
    await producer.init_transactions()
    await producer.declare(scene.partition)
    began = time()
    await producer.write(scene.partition, record(name))
    took_ms = (time() - began) * 1000
    await producer.abort()
    return took_ms


def test_a_slow_node_delays_only_its_own_responses(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        assert await end_offset(scene.client, scene) < 300
        active = await scene.fault(f"slow node={scene.leader} ms=300")
        assert 300 <= await end_offset(scene.client, scene) < 900
        assert active.hit_count > 0
        await scene.faults.heal()
        assert await end_offset(scene.client, scene) < 300
        other = next(broker for broker in (1, 2, 3) if broker != scene.leader)
        await scene.fault(f"slow node={other} ms=300")
        assert await end_offset(scene.client, scene) < 300

    play(tmp_path, scenario)


def test_a_slow_disk_is_slow_for_what_is_written_alone(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        quick_ms = await write_ms(scene, "before")
        await scene.fault(f"slow-disk node={scene.leader} ms=400")
        assert await write_ms(scene, "meanwhile") >= 400 > quick_ms
        assert await end_offset(scene.client, scene) < 400
        await scene.faults.heal()
        assert await write_ms(scene, "after") < 400

    play(tmp_path, scenario)


def test_a_slow_follower_disk_delays_acks_from_all_replicas(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        quick_ms = await write_ms(scene, "before")
        follower = next(broker for broker in (1, 2, 3) if broker != scene.leader)
        await scene.fault(f"slow-disk node={follower} ms=150")  # longer, and the controller fences it
        assert await write_ms(scene, "meanwhile") >= 150 > quick_ms

    play(tmp_path, scenario)


def test_a_request_is_overtaken_by_that_of_another_client(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        async with scene.another_client() as late:
            first, second = scene.producer("first", client=late), scene.producer("second")
            for producer in (first, second):
                await producer.init_transactions()
                await producer.declare(scene.partition)
            active = await scene.fault("reorder api=PRODUCE count=1 ms=60000")
            sending = asyncio.ensure_future(first.write(scene.partition, record("first")))
            while not active.hit_count:
                await asyncio.sleep(0.01)
            began = time()
            assert await second.write(scene.partition, record("second")) == 0
            assert await sending == 1
            assert time() - began < 60  # it continued when it was overtaken, not when its time was over

    play(tmp_path, scenario)


def test_an_overtaken_request_does_not_release_a_later_fault(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        async with scene.another_client(request_timeout_ms=2_000) as client:
            await list_offset(client, scene.partition)  # opens the connection
            await scene.fault("reorder from=clients api=LIST_OFFSETS count=1 ms=1000")
            asking = asyncio.ensure_future(list_offset(client, scene.partition))
            await asyncio.sleep(0.1)
            await list_offset(scene.client, scene.partition)  # overtakes it
            await asking
            await scene.fault("drop from=clients api=LIST_OFFSETS count=1")
            lost = asyncio.ensure_future(list_offset(client, scene.partition))
            await asyncio.sleep(0.1)
            assert await end_offset(client, scene) >= 1_500  # lost with all that follows on this connection
            assert await lost == 0  # asked again on the next

    play(tmp_path, scenario)


def test_reordered_or_duplicated_frames_lose_nothing(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        shaken = [await scene.fault(words) for words in ("reorder from=1 chance=0.5", "duplicate to=2 chance=0.5")]
        for name in ("a", "b", "c"):
            await send_one(scene, name)
        assert all(active.hit_count for active in shaken)
        await scene.faults.heal()
        assert await scene.visible() == [b"a", b"b", b"c"]

    play(tmp_path, scenario)


def test_a_leader_that_is_cut_off_from_its_clients_still_leads(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        victim = scene.leader
        async with scene.another_client(request_timeout_ms=400, timeout_ms=2_000) as client:
            await scene.fault(f"cut node={victim} other=clients")
            with pytest.raises(EosctlError):
                await list_offset(client, scene.partition)
            assert scene.leader == victim
            await scene.faults.heal()
            assert await list_offset(client, scene.partition) == 0

    play(tmp_path, scenario)


def test_an_isolated_broker_shows_the_age_of_its_metadata(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        victim, other = 1, scene.simulation.core.broker(2)
        isolated = scene.simulation.config.bootstrap[:1]
        await scene.fault(f"cut node={victim} other=100")
        while not other.metadata.brokers[victim].fenced:
            await asyncio.sleep(0.1)
        await asyncio.sleep(10)  # Without changes, the controller writes a record every half second.
        async with scene.another_client(bootstrap=isolated) as client:
            found = await collect_current_cluster(ReadOnly(client))
        assert [broker.node_id for broker in found.value.facts.brokers if broker.fenced] == [victim]
        leaders = {partition.leader_id for topic in found.value.shape.topics for partition in topic.partitions}
        assert victim not in leaders

    play(tmp_path, scenario)


def test_a_disconnected_follower_leaves_the_isr(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        leader, follower = scene.leader, next(broker for broker in (1, 2, 3) if broker != scene.leader)
        replica = scene.simulation.core.broker(leader).replicas.partitions[scene.partition]
        await scene.fault(f"cut node={leader} other={follower}")
        await send_one(scene, "without it")
        while follower in replica.isr:
            await asyncio.sleep(0.1)
        await scene.faults.heal()
        while follower not in replica.isr:
            await asyncio.sleep(0.1)

    play(tmp_path, scenario, THREE._replace(settings={**THREE.settings, "replica.lag.time.max.ms": "1000"}))


@pytest.mark.parametrize(("settings", "hangs"), [(UNVERIFIED, True), ({}, False)], ids=["unverified", "verified"])
def test_a_late_produce_hangs_without_verification(tmp_path: Path, settings: dict[str, str], hangs: bool) -> None:
    async def scenario(scene: Scene) -> None:
        async with scene.another_client(request_timeout_ms=500, timeout_ms=1_000) as client:
            producer = scene.producer("app", client=client)
            await producer.init_transactions()
            await producer.declare(scene.partition)
            await scene.fault(f"late-produce ms={LATE_MS}")
            with pytest.raises(EosctlError):
                await producer.write(scene.partition, record("late"))
            await producer.abort()
            await wait_until_ended(scene.client, "app")
            await asyncio.sleep(2 * LATE_MS / 1000)
        end = await list_offset(scene.client, scene.partition)
        stable = await list_offset(scene.client, scene.partition, isolation=IsolationLevel.READ_COMMITTED)
        assert (stable < end) == hangs

    play(tmp_path, scenario, OLD._replace(settings={**OLD.settings, **settings}))


def test_a_clean_shutdown_moves_leaders_and_the_broker_returns(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        victim = scene.leader
        await scene.fault(f"stop node={victim}")
        assert scene.leader != victim  # before it is gone, not after its session is over
        await send_one(scene, "without it")
        await scene.fault(f"start node={victim}")
        assert await scene.visible() == [b"without it"]

    play(tmp_path, scenario)


@pytest.mark.parametrize("name", [bug.name for bug in BUGS])
def test_a_known_bug_applies_to_brokers_that_start_later(tmp_path: Path, name: str) -> None:
    bug = next(bug for bug in BUGS if bug.name == name)

    async def scenario(scene: Scene) -> None:
        await scene.fault(f"bug name={name} on={str(not bug.is_default).lower()}")
        assert scene.faults.bug_states()[name] is not bug.is_default
        switched = [seen_of(scene, broker) for broker in (1, 2, 3)]
        assert len(set(switched)) == 1
        await scene.fault("restart node=2")
        assert seen_of(scene, 2) == switched[0]
        await scene.fault(f"bug name={name} on={str(bug.is_default).lower()}")
        assert seen_of(scene, 2) != switched[0]

    def seen_of(scene: Scene, broker_id: int) -> tuple[object, ...]:
        broker = scene.simulation.core.broker(broker_id)
        return (
            type(broker.groups.materialize).__name__,
            broker.transactions.markers.skips_leaderless_partitions,
            broker.groups.offsets.refused_commit_drops_pending,
            broker.followers.trusts_high_watermark,
        )

    play(tmp_path, scenario, OLD if "3.9" in bug.releases else THREE)


@pytest.mark.parametrize("what", ["transactional-id=app", "group=readers"])
def test_a_reloaded_coordinator_restores_its_state_from_the_log(tmp_path: Path, what: str) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("x"))
        await producer.send_offsets(GroupIdentity("readers"), {scene.partition: OffsetToCommit(7)})
        await scene.fault(f"unload-coordinator {what}")
        assert "again" in scene.faults.events[-1].what
        assert scene.faults.active == ()  # it ends immediately
        await producer.commit()
        await wait_until_ended(scene.client, "app")
        assert (await committed_offsets(scene.client, "readers", [scene.partition]))[scene.partition] == 7

    play(tmp_path, scenario)


def test_in_a_replay_storm_commits_wait_and_succeed(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        producer = scene.producer()
        await producer.init_transactions()
        await producer.send(scene.partition, record("x"))
        await scene.fault("replay-storm ms=3s")
        states = [broker.transactions.states for broker in scene.simulation.core.brokers()]
        assert any(each.is_loading for each in states)
        began = time()
        await producer.commit()
        assert 2.5 < time() - began < 4
        await scene.fault("restart node=any")  # a broker that starts in the storm loads as slowly
        await scene.faults.heal()
        began = time()
        await send_one(scene, "other")
        assert time() - began < 2
        assert await scene.visible() == [b"x", b"other"]

    play(tmp_path, scenario)


def test_without_producer_ids_only_new_producers_wait(tmp_path: Path) -> None:
    async def scenario(scene: Scene) -> None:
        known = scene.producer("known")
        await known.init_transactions()
        await scene.fault("exhaust-producer-ids for=5s")
        await scene.fault("restart node=1")  # also where a broker starts anew
        began = time()
        await known.send(scene.partition, record("x"))
        await known.commit()
        assert time() - began < 5
        for number in range(6):  # at least one of each broker
            await scene.producer(f"new-{number}").init_transactions()
        assert 4.9 < time() - began < 7

    play(tmp_path, scenario)


@pytest.mark.parametrize(("flush_messages", "kept"), [("1", 5), ("2", 4), ("3", 3), ("100", 1)])
def test_a_power_cut_takes_what_was_not_forced_to_the_disk(tmp_path: Path, flush_messages: str, kept: int) -> None:
    async def scenario(scene: Scene) -> None:
        topic = await ensure_topic(
            scene.client, "forced", partition_count=1, settings={"flush.messages": flush_messages}
        )
        partition = topic.partitions[0].partition
        for number in range(5):
            data = encode_batch([Record(0, scene.simulation.now_ms(), None, b"%d" % number)])
            await produce(scene.client, partition, data, transactional_id=None, bounds=TV1.produce)
        await scene.fault("restart node=1 lose=4 torn=true")
        reader = await Reader.open(scene.client, [partition])
        found = (await reader.drain(20_000)).get(partition, [])
        assert [one.value for one in found] == [b"%d" % number for number in range(kept)]

    play(tmp_path, scenario, THREE._replace(broker_count=1))
