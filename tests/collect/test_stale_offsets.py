"""``group pending`` reports each case of KAFKA-17507, and no other transaction."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ConsumedPartition

from eosctl.client import connect
from eosctl.collect import offset_log
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.offset_log import collect_stale_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.lab.scenarios.engines import simulated
from eosctl.lab.scenarios.load import library
from eosctl.lab.scenarios.player import play_script
from eosctl.lab.scenarios.script import Script
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.group_commit import StaleOffset
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl


def stale_after(script: Script, step_count: int | None, directory: Path) -> tuple[StaleOffset, ...]:
    """Play the first steps of a scenario and look."""
    import random

    import msgspec

    begun = msgspec.structs.replace(script, steps=script.steps[:step_count])

    async def run() -> tuple[StaleOffset, ...]:
        async with simulated(script.cluster, directory, 1) as engine:
            await play_script(begun, engine)
            chance = random.Random(1)
            async with connect(
                engine.config, connector=engine.connector, chance=chance, allowed_apis=READ_ONLY_APIS
            ) as client:
                snapshot = await collect_snapshot(client, Observer(engine.now_ms), frozenset({EvidenceKind.TOPICS}))
                return (await collect_stale_offsets(ReadOnly(client), snapshot)).value

    return run_virtual(run(), 1)


@pytest.mark.parametrize(
    ("name", "reported", "logged"), [("kafka-17507-a", None, 9), ("kafka-17507-b", 9, 5), ("kafka-17507-c", None, 9)]
)
def test_a_coordinator_that_disagrees_with_its_log_is_named(
    name: str, reported: int | None, logged: int, tmp_path: Path
) -> None:
    script = library()[name]
    moved = next(number for number, step in enumerate(script.steps) if "move-coordinator" in str(step))
    (found,) = stale_after(script, moved, tmp_path / "before")
    assert (found.group_id, str(found.partition)) == ("readers", "orders-0")
    assert (found.reported_offset, found.logged_offset) == (reported, logged)
    assert stale_after(script, None, tmp_path / "after") == ()  # the move has healed it


@pytest.mark.parametrize("name", ["unstable-offsets", "consume-process-produce", "offsets-expired", "retry-dlq"])
def test_coordinators_that_are_right_are_not_named(name: str, tmp_path: Path) -> None:
    assert stale_after(library()[name], None, tmp_path) == ()


def test_offsets_that_were_not_compared_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_log, "RECORDS_PER_PARTITION", 2)
    config = {"offsets.topic.num.partitions": "1", "offsets.topic.replication.factor": "1"}
    with SandboxThread(config=config) as cluster:
        Producer({"bootstrap.servers": cluster.bootstrap}).list_topics("orders", 10)
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "readers"})
        for offset in range(4):
            consumer.commit(offsets=[ConsumedPartition("orders", 0, offset)], asynchronous=False)
        consumer.close()
        done = eosctl("group", "pending", "-b", cluster.bootstrap)
    assert "only the newest 2 offsets were compared, from 2 on" in done.out + done.err


def test_group_pending_says_what_to_do_and_exits_with_3() -> None:
    import asyncio
    import itertools

    from eosctl.client.producer import TransactionalProducer
    from eosctl.client.topics import ensure_topic
    from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit, wait_until_ended
    from eosctl.model.client_config import ClientConfig
    from eosctl.settings.clusters.endpoints import parse_endpoints

    async def do(cluster: SandboxThread) -> None:
        async with connect(ClientConfig(parse_endpoints(cluster.bootstrap, "test"))) as client:
            topic = await ensure_topic(client, "orders", partition_count=1)
            clock = itertools.count(1_790_000_000_000)
            producer = TransactionalProducer(client, "app", now_ms=lambda: next(clock), dialect=TV1)
            await producer.init_transactions()
            for offset, committed in ((5, False), (9, True)):
                to = {topic.partitions[0].partition: OffsetToCommit(offset)}
                await producer.send_offsets(GroupIdentity("readers"), to)
                await producer.end(committed=committed)
                await wait_until_ended(client, "app")

    with SandboxThread(emulate="3.9") as cluster:
        cluster.fault("late-materialization when=after-append ms=10m")
        asyncio.run(do(cluster))
        done = eosctl("group", "pending", "-b", cluster.bootstrap)
        assert done.code == 3
        assert "coordinator -, log 9" in done.out
        assert "KAFKA-17507" in done.out
        (item,) = eosctl("group", "pending", "-b", cluster.bootstrap, "-o", "json").json["items"]
        assert (item["disagrees"], item["committed_offset"], item["logged_offset"]) == (True, None, 9)
