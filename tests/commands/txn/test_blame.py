"""Every verdict of txn blame has a scenario that proves it, and one that differs in a single step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.client import Client
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit, init_producer_id, wait_until_ended
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl, run_scenario
from tests.commands.open_transactions import leave_open, on, record, unhurried
from tests.commands.txn.test_txn import check_schema
from tests.lab.scenarios.stage.zombie import run_zombie

ORDERS = TopicPartition("orders", 0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with unhurried() as running:
        yield running


def blamed(cluster: SandboxThread, name: str, *more: str | Path) -> dict[str, Any]:
    done = eosctl("txn", "blame", name, "-b", cluster.bootstrap, "-o", "json", *more)
    assert done.code == 0, done.err
    check_schema("blame", done.json)
    found: dict[str, Any] = done.json
    return found


def causes(cluster: SandboxThread, name: str) -> list[tuple[str, str]]:
    return [(item["cause"], item["confidence"]) for item in blamed(cluster, name)["items"]]


def producer(client: Client, transactional_id: str, **options: Any) -> TransactionalProducer:
    return TransactionalProducer(client, transactional_id, now_ms=system_now_ms, dialect=TV1, **options)


async def commit_on(client: Client, topic: str, owner: TransactionalProducer) -> None:
    found = await ensure_topic(client, topic, partition_count=1)
    await owner.send(found.partitions[0].partition, [record("a")])
    await owner.commit()
    await wait_until_ended(client, owner.transactional_id)


def test_a_newer_instance(cluster: SandboxThread) -> None:
    zombie = run_scenario(cluster.bootstrap, lambda stage: run_zombie(stage, transactional_id="newer"))
    view = blamed(cluster, "newer")
    (item,) = view["items"]
    assert (item["cause"], item["confidence"]) == ("newer-instance", "certain")
    assert item["loser"]["last_epoch"] == zombie.zombie.producer_epoch
    assert item["winner"]["first_epoch"] == zombie.successor.producer_epoch
    assert len(view["tenures"]) == 2
    assert [moment["actor"] for moment in view["timeline"]].count("coordinator") >= 8
    assert blamed(cluster, str(zombie.zombie.producer_id))["transactional_id"] == "newer"


@pytest.mark.parametrize(
    ("later_timeout_ms", "writes", "cause"),
    [(30_000, False, "admin-fence"), (60_000, False, "newer-instance"), (30_000, True, "newer-instance")],
)
def test_an_administrator_is_distinguished_from_a_producer(
    later_timeout_ms: int, writes: bool, cause: str, cluster: SandboxThread
) -> None:
    name = f"admin-{later_timeout_ms}-{writes}"

    async def scenario(client: Client) -> None:
        await leave_open(client, name, dialect=TV1)
        if writes:
            newer = producer(client, name, transaction_timeout_ms=later_timeout_ms)
            await newer.init_transactions()
            await commit_on(client, "orders", newer)
        else:
            await init_producer_id(client, name, later_timeout_ms)

    on(cluster.bootstrap, scenario)
    assert [found for found, _ in causes(cluster, name)] == [cause]


@pytest.mark.parametrize(("timeout_ms", "expected"), [(2_000, ["timeout-abort"]), (60_000, [])])
def test_a_timeout(timeout_ms: int, expected: list[str], cluster: SandboxThread) -> None:
    name = f"timeout-{timeout_ms}"

    async def scenario(client: Client) -> None:
        await leave_open(client, name, timeout_ms=timeout_ms, dialect=TV1)
        if expected:
            await wait_until_ended(client, name)

    on(cluster.bootstrap, scenario)
    assert [cause for cause, _ in causes(cluster, name)] == expected


@pytest.mark.parametrize(("committed", "cause"), [(False, "recovery-bump"), (True, "idle-takeover")])
def test_a_recovery_is_distinguished_from_a_restart(committed: bool, cause: str, cluster: SandboxThread) -> None:
    async def scenario(client: Client, name: str) -> None:
        await ensure_topic(client, "orders", partition_count=1)
        mine = producer(client, name)
        await mine.init_transactions()
        await mine.send(ORDERS, [record("a")])
        await mine.end(committed=committed)
        await wait_until_ended(client, name)
        await mine.init_transactions(keep_identity=True)

    found = []
    for attempt in range(5):  # a client recovers immediately; a machine that is held up does not show it
        name = f"repair-{committed}-{attempt}"
        on(cluster.bootstrap, lambda client, name=name: scenario(client, name))
        found = [cause for cause, _ in causes(cluster, name)]
        if found == [cause]:
            break
    assert found == [cause]


def test_a_streams_task_that_moved(cluster: SandboxThread) -> None:
    run_scenario(cluster.bootstrap, lambda stage: run_zombie(stage, transactional_id="shop-0_3"))
    assert causes(cluster, "shop-0_3") == [("task-migration", "likely")]


def test_two_applications_with_one_id(cluster: SandboxThread) -> None:
    async def scenario(client: Client) -> None:
        await leave_open(client, "shared", topic="orders", dialect=TV1)
        other = producer(client, "shared")
        await other.init_transactions()
        await commit_on(client, "staging-orders", other)

    on(cluster.bootstrap, scenario)
    (item,) = blamed(cluster, "shared")["items"]
    assert item["cause"] == "id-collision"
    assert "staging-orders" in item["explanation"]


@pytest.mark.parametrize(("later_offset", "expected"), [(5, ["stale-view"]), (9, [])])
def test_an_offset_that_goes_back_at_a_takeover(later_offset: int, expected: list[str], cluster: SandboxThread) -> None:
    group = GroupIdentity(f"billing-{later_offset}")
    names = [f"thread-{number}-of-{later_offset}" for number in (1, 2)]

    async def scenario(client: Client) -> None:
        await ensure_topic(client, "orders", partition_count=1)
        for name, offset in zip(names, (7, later_offset), strict=True):
            mine = producer(client, name)
            await mine.init_transactions()
            await mine.send_offsets(group, {ORDERS: OffsetToCommit(offset)})
            await mine.commit()
            await wait_until_ended(client, name)

    on(cluster.bootstrap, scenario)
    for name in names:
        assert [cause for cause, _ in causes(cluster, name)] == expected


def test_an_id_that_expired() -> None:
    settings = {
        "transactional.id.expiration.ms": "3000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "100",
    }
    with unhurried(**settings) as cluster:

        async def scenario(client: Client) -> None:
            mine = producer(client, "pausing")
            await mine.init_transactions()
            await commit_on(client, "orders", mine)
            while "pausing" in await asyncio.to_thread(listed, cluster):
                pass
            await producer(client, "pausing").init_transactions()

        on(cluster.bootstrap, scenario)
        (item,) = blamed(cluster, "pausing")["items"]
        assert (item["cause"], item["confidence"]) == ("id-expired", "certain")


def test_epochs_that_are_used_up() -> None:
    """A real broker gave the id another producer id in its answer to EndTxn (KIP-890), not to InitProducerId."""
    directory = Path(__file__).parents[2] / "fixtures" / "storage" / "producer-id-rotation-1" / "data"
    done = eosctl("txn", "blame", "long-lived", "--data-dir", directory, "-o", "json")
    assert done.code == 0, done.err
    found = [item for item in done.json["items"] if item["cause"] == "epoch-exhausted"]
    assert [(item["loser"]["producer_id"], item["winner"]["producer_id"]) for item in found] == [(0, 1000)]
    assert [(t["producer_id"], t["first_epoch"], t["last_epoch"]) for t in done.json["tenures"][2:]] == [
        (0, 32_764, 32_766),
        (1_000, 0, 0),
    ]


def listed(cluster: SandboxThread) -> str:
    return eosctl("txn", "list", "-b", cluster.bootstrap, "-o", "tsv").out


def test_the_same_from_files_and_with_the_names_that_logs_give(cluster: SandboxThread, tmp_path: Path) -> None:
    zombie = run_scenario(cluster.bootstrap, lambda stage: run_zombie(stage, transactional_id="filed"))
    live = blamed(cluster, "filed")
    log = tmp_path / "first.log"
    identity = f"ProducerId set to {zombie.zombie.producer_id} with epoch {zombie.zombie.producer_epoch}"
    log.write_text(
        f"[2026-11-21 09:00:00,000] INFO [Producer clientId=till-7, transactionalId=filed] {identity} "
        "(org.apache.kafka.clients.producer.internals.TransactionManager)\n" * 3
    )
    done = eosctl("fencing", "explain", "filed", "--data-dir", cluster.data_dir, "--logs", log, "-o", "json")
    assert done.code == 0, done.err
    (item,) = done.json["items"]
    assert item["loser"]["client_id"] == "till-7"
    assert "till-7" in item["explanation"]
    assert [(i["cause"], i["at_ms"]) for i in done.json["items"]] == [(i["cause"], i["at_ms"]) for i in live["items"]]
    table = eosctl("txn", "blame", "filed", "--data-dir", cluster.data_dir)
    assert "newer-instance (certain)" in table.out


def test_what_cannot_be_blamed(cluster: SandboxThread, tmp_path: Path) -> None:
    assert eosctl("txn", "blame", "nobody", "-b", cluster.bootstrap).code == 2
    assert eosctl("txn", "blame", "x", "--data-dir", tmp_path).code == 2
    assert eosctl("txn", "blame", "x", "--data-dir", tmp_path / "none").code == 2
    both = eosctl("txn", "blame", "x", "--data-dir", tmp_path, "-b", cluster.bootstrap)
    assert (both.code, "Leave one of them out" in both.err) == (2, True)
