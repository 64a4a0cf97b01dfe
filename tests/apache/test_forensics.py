"""Forensics give the same results on real Kafka as on the sandbox: endings, lag, blame."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import pytest

from eosctl.client import Client
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2, GroupIdentity, OffsetToCommit, wait_until_ended
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.services.callbacks import system_now_ms
from tests.commands.conftest import eosctl, run_scenario
from tests.commands.open_transactions import leave_open, on, record, skip_marker
from tests.commands.txn.test_ending import committed_count, target
from tests.lab.scenarios.stage.zombie import run_zombie

pytestmark = pytest.mark.usefixtures("own_home")


def items(*arguments: str | Path, code: tuple[int, ...] = (0, 3)) -> list[dict[str, Any]]:
    done = eosctl(*arguments, "-o", "json")
    assert done.code in code, done.err or done.out
    found: list[dict[str, Any]] = done.json["items"]
    return found


@pytest.fixture
def run() -> str:
    return uuid.uuid4().hex[:8]


def test_a_live_transaction_is_fenced_with_its_timeout(apache: ApacheNodes, run: str) -> None:
    name, bootstrap = f"fence-{run}-x", apache.bootstrap
    opened = on(bootstrap, lambda client: leave_open(client, name, topic=f"fence-{run}", timeout_ms=123_000))
    (row,) = items("txn", "producers", "--topic", f"fence-{run}", "--open", "-b", bootstrap)
    assert (row["transactional_id"], row["producer_id"]) == (name, opened.producer_id)
    (done,) = items("txn", "fence", name, "-b", bootstrap, "--yes")
    assert (done["carried_out"], done["verified"]) == (True, True)
    (life,) = items("txn", "describe", name, "-b", bootstrap)
    assert (life["transaction"]["state"], life["transaction"]["timeout_ms"]) == ("Empty", 123_000)
    assert eosctl("txn", "fence", f"nobody-{run}", "-b", bootstrap, "--yes").code == 2
    assert f"nobody-{run}" not in eosctl("txn", "list", "-b", bootstrap).out


@pytest.mark.parametrize(("dialect", "committed"), [(TV1, True), (TV2, True), (TV2, False)])
def test_skipped_markers_are_written_as_they_were_decided(
    dialect: Any, committed: bool, apache_cluster: ApacheNodes, run: str
) -> None:
    opened = skip_marker(
        apache_cluster.bootstrap,
        lambda broker_id: asyncio.run(apache_cluster.stop(broker_id)),
        lambda broker_id: asyncio.run(apache_cluster.restart(broker_id)),
        committed=committed,
        dialect=dialect,
        transactional_id=f"skip-{run}",
        topic=f"skip-{run}",
    )
    where = [*target(opened), "-b", apache_cluster.bootstrap]
    right, wrong = ("complete", "abort") if committed else ("abort", "complete")
    assert eosctl("txn", wrong, *where, "--yes").code == 1
    (done,) = items("txn", right, *where, "--yes")
    assert done["verified"] is True, done["detail"]
    assert committed_count(apache_cluster.bootstrap, opened) == (2 if committed else 0)


def test_lag_and_pins(apache: ApacheNodes, run: str) -> None:
    topic, group = f"lag-{run}", GroupIdentity(f"billing-{run}")

    async def scenario(client: Client) -> Any:
        found = await ensure_topic(client, topic, partition_count=1, replica_count=1)
        where = found.partitions[0].partition
        for number, (count, committed) in enumerate(((3, True), (4, False), (2, True))):
            producer = TransactionalProducer(client, f"lag-{run}-{number}-w", now_ms=system_now_ms)
            await producer.init_transactions()
            await producer.send(where, [record(str(n)) for n in range(count)])
            await producer.end(committed=committed)
            await wait_until_ended(client, producer.transactional_id)
        for number, offset in enumerate((1, 9)):
            producer = TransactionalProducer(client, f"lag-{run}-{number}-r", now_ms=system_now_ms)
            await producer.init_transactions()
            await producer.send_offsets(group, {where: OffsetToCommit(offset)})
            if number == 0:
                await producer.commit()
                await wait_until_ended(client, producer.transactional_id)
        return await leave_open(client, f"lag-{run}-open", topic=topic)

    on(apache.bootstrap, scenario)
    (lag,) = items("group", "lag", group.group_id, "-b", apache.bootstrap)
    assert (lag["readable_records"], lag["aborted_records"], lag["markers"], lag["blocked_offsets"]) == (4, 4, 3, 2)
    assert lag["blocked_by"]["transactional_id"] == f"lag-{run}-open"
    assert lag["unstable"] is True
    (pin,) = items("group", "pending", group.group_id, "-b", apache.bootstrap)
    assert (pin["committed_offset"], pin["pending_offset"], pin["transactional_id"]) == (1, 9, f"lag-{run}-1-r")
    for name in (f"lag-{run}-open", f"lag-{run}-1-r"):
        assert eosctl("txn", "fence", name, "-b", apache.bootstrap, "--yes").code == 0


def test_blame_says_the_same(apache: ApacheNodes, run: str) -> None:
    bootstrap, topic = apache.bootstrap, f"blame-{run}"
    run_scenario(bootstrap, lambda stage: run_zombie(stage, topic=topic, transactional_id=f"{run}-newer"))

    async def scenario(client: Client) -> None:
        await leave_open(client, f"{run}-late", topic=topic, timeout_ms=3_000, dialect=TV1)
        await wait_until_ended(client, f"{run}-late")
        for committed in (True, False):
            name = f"{run}-{committed}"
            producer = TransactionalProducer(client, name, now_ms=system_now_ms, dialect=TV1)
            await producer.init_transactions()
            found = await ensure_topic(client, topic)
            await producer.send(found.partitions[0].partition, [record("a")])
            await producer.end(committed=committed)
            await wait_until_ended(client, name)
            await producer.init_transactions(keep_identity=True)

    on(bootstrap, scenario)
    expected = {"newer": "newer-instance", "late": "timeout-abort", "True": "idle-takeover", "False": "recovery-bump"}
    for name, cause in expected.items():
        found = items("txn", "blame", f"{run}-{name}", "-b", bootstrap)
        assert [item["cause"] for item in found] == [cause], name
    data_dirs = [str(path) for path in apache.data_dirs().values()]
    (filed,) = items("txn", "blame", f"{run}-newer", *(word for d in data_dirs for word in ("--data-dir", d)))
    assert filed["cause"] == "newer-instance"
