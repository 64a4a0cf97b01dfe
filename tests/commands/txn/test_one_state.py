"""txn list, txn hanging, and doctor agree on a decision whose markers do not arrive."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest

from eosctl.client import Client
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.producer import TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.command_line import invocation
from eosctl.services.callbacks import system_now_ms
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import leave_open, on, record


def decide(cluster: SandboxThread, *, lose_leader: bool) -> None:
    """Commit a transaction whose marker cannot arrive: its partition has no leader, or the network loses it."""

    async def commit(client: Client) -> None:
        found = await ensure_topic(client, "orders", partition_count=6, replica_count=1)
        producer = TransactionalProducer(client, "shop-0", now_ms=system_now_ms)
        await producer.init_transactions()
        coordinator = await client.node_id(transaction_coordinator("shop-0"))
        info = next(p for p in found.partitions if p.leader_id not in (None, coordinator))
        await producer.send(info.partition, [record("a")])
        assert info.leader_id is not None
        if lose_leader:
            await asyncio.to_thread(cluster.stop_broker, info.leader_id)
        else:
            await asyncio.to_thread(cluster.fault, "drop api=WRITE_TXN_MARKERS")
        await producer.end(committed=True)

    on(cluster.bootstrap, commit)


def verdicts(cluster: SandboxThread) -> tuple[set[str], set[str], str]:
    """Return the status in `txn list` and in `txn hanging`, and that of the check, which never passes blindly.

    A stopped broker is unreachable until its session ends, and may coordinate others. Fenced, it coordinates nothing.
    """
    at = ("-b", cluster.bootstrap, "-o", "json")
    listed = eosctl("txn", "list", *at).json["items"]
    hanging = eosctl("txn", "hanging", "--all", *at).json["items"]
    judged = eosctl("check", "run", "EOS-TXN-002", *at).json
    (check,) = judged["checks"]
    if check["status"] != "failed":
        is_blind = any(gap["kind"] == "transactions" for gap in judged["evidence"]["gaps"])
        assert check["status"] == ("skipped" if is_blind else "passed")
    assert {item["state"] for item in listed} == {"PrepareCommit"}
    assert {item["coordinator_state"] for item in hanging} <= {"PrepareCommit"}
    return {item["status"] for item in listed}, {item["status"] for item in hanging}, check["status"]


@pytest.mark.parametrize("lose_leader", [True, False])
def test_a_stalled_decision_has_one_state(lose_leader: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Releases from 4.0 on skip the marker of a partition without a leader (KAFKA-20734).
    with SandboxThread(brokers=3, fast=False, emulate="3.9") as cluster:
        decide(cluster, lose_leader=lose_leader)
        listed, hanging, before = verdicts(cluster)
        assert (listed, hanging) == ({"open"}, set() if lose_leader else {"open"})
        assert before != "failed"
        assert before == "passed" or lose_leader

        a_minute_later = SimpleNamespace(time_ns=lambda: time.time_ns() + 60_000_000_000, monotonic=time.monotonic)
        monkeypatch.setattr(invocation, "time", a_minute_later)
        assert verdicts(cluster) == ({"stalled"}, {"stalled"}, "failed")

        done = eosctl("txn", "hanging", "-b", cluster.bootstrap)
        assert done.code == 3
        assert "orders-" in done.out
        assert ("(no leader)" in done.out) == lose_leader
        assert " -1 " not in done.out


def test_ids_whose_coordinator_is_away_are_not_left_out_silently() -> None:
    with SandboxThread(brokers=2, config={"transaction.state.log.replication.factor": "1"}) as cluster:

        async def open_one(client: Client) -> int:
            await leave_open(client, "shop-0")
            return await client.node_id(transaction_coordinator("shop-0"))

        cluster.stop_broker(on(cluster.bootstrap, open_one))
        done = eosctl("txn", "list", "-b", cluster.bootstrap, "--require-complete")
    assert done.code == 4
    assert "shop-0" not in done.out
    assert done.out.startswith("INCOMPLETE: ")
    assert "transactions of partitions without a leader: " in done.out
