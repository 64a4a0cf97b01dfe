"""Plays a hang with a later change, and ends it: exactly one of abort and complete applies, works, and is printed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from eosctl.actions.abort import Target, plan_abort
from eosctl.actions.complete import plan_complete
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Attempt, Permit, State
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client.client import Client
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.transactions import TransactionDialect
from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
from eosctl.errors import BrokerError, PlanRefused
from eosctl.findings.bootstrap import marker_line
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.model.hang import HangStatus
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from tests.actions.marker_scenes import Hung

Hang = Callable[[RehearsalCluster, TransactionDialect], Awaitable[Hung]]
Change = Callable[..., Awaitable[None]]


async def end_rightly(cluster: RehearsalCluster, hang: Hang, change: Change, dialect: TransactionDialect) -> None:
    """Let a transaction hang, change its partition, and end it with the one marker that is right."""
    client = cluster.client
    hung = await hang(cluster, dialect)
    await change(cluster, hung.partition)
    before = await visible(client, hung)
    snapshot = await collect(cluster)
    (verdict,) = [v for v in classify_open_transactions(snapshot) if v.transaction.partition == hung.partition]
    assert verdict.status is HangStatus.HANGING, verdict.explanation
    assert (verdict.can_abort, verdict.can_complete) == (not hung.committed, hung.committed), verdict.abort_refusal
    action = "complete" if hung.committed else "abort"
    assert marker_line(verdict, "b:1").startswith(f"eosctl txn {action} --topic orders --partition 0 ")

    plan, refusal = plans(snapshot, hung)
    assert f"eosctl txn {action} --topic orders --partition 0" in refusal.next_step
    try:
        outcome = await (await MARKER.send(client, plan, Permit(Attempt(plan, State.BEGUN))))()
    except BrokerError as refused:  # On a slow machine, a replica that falls behind moves the leader once more.
        assert "Run the command again" in refused.next_step
        plan, _ = plans(await collect(cluster), hung)
        outcome = await (await MARKER.send(client, plan, Permit(Attempt(plan, State.BEGUN))))()
    assert outcome.verified, outcome.detail
    assert not [v for v in classify_open_transactions(await collect(cluster)) if v.status is HangStatus.HANGING]
    assert (await visible(client, hung) > before) is hung.committed


def plans(snapshot: ClusterSnapshot, hung: Hung) -> tuple[MarkerPlan, PlanRefused]:
    """Return the plan of the one action that applies, and the refusal of the other."""
    verdicts, target = classify_open_transactions(snapshot), Target(hung.partition)
    right, wrong = (plan_complete, plan_abort) if hung.committed else (plan_abort, plan_complete)
    with pytest.raises(PlanRefused) as refused:
        wrong(snapshot, verdicts, target)
    return right(snapshot, verdicts, target), refused.value


async def collect(cluster: RehearsalCluster) -> ClusterSnapshot:
    return await collect_snapshot(cluster.client, Observer(cluster.now_ms, second_look_after_ms=100), EVERYTHING)


async def visible(client: Client, hung: Hung) -> int:
    """Return how many records a read_committed reader gets."""
    reader = await Reader.open(client, [hung.partition], isolation=IsolationLevel.READ_COMMITTED)
    return len((await reader.drain(10_000)).get(hung.partition, []))
