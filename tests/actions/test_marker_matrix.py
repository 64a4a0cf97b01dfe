"""For each hang, exactly one of abort and complete applies, works, and is the printed recommendation."""

from __future__ import annotations

import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from eosctl.actions.abort import Target, plan_abort
from eosctl.actions.complete import plan_complete
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Attempt, Permit, State
from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client import connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.transactions import TV1, TV2
from eosctl.collect.collector import EVERYTHING, Observer, collect_snapshot
from eosctl.errors import PlanRefused
from eosctl.findings.bootstrap import marker_line
from eosctl.lab.rehearsals.place import Place
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.hang import HangStatus
from eosctl.model.plan import MarkerPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.sandbox.core import ClusterShape
from tests.actions import marker_scenes as scenes

HANGS = (
    scenes.late_produce,
    scenes.expired_id,
    scenes.skipped_marker,
    scenes.unclean_election,
    scenes.fenced_instance,
)
CHANGES = (scenes.no_change, scenes.clean_election, scenes.restart, scenes.reassignment)
LEVELS = 3
IS_PROOF = os.environ.get("EOSCTL_HYPOTHESIS_PROFILE") == "prove"
#: Every hang with every change, and each of both with every level; `make prove examples` plays all combinations.
MATRIX = [
    (hang, change, level)
    for row, hang in enumerate(HANGS)
    for column, change in enumerate(CHANGES)
    for level in range(LEVELS)
    if IS_PROOF or level == (row + column) % LEVELS
]


@pytest.mark.parametrize(("hang", "change", "level"), MATRIX, ids=lambda value: getattr(value, "__name__", str(value)))
def test_exactly_one_action_applies_and_works(
    tmp_path: Path,
    hang: Callable[..., Awaitable[scenes.Hung]],
    change: Callable[..., Awaitable[None]],
    level: int,
) -> None:
    run_virtual(play(tmp_path, hang, change, level))


async def play(
    folder: Path, hang: Callable[..., Awaitable[scenes.Hung]], change: Callable[..., Awaitable[None]], level: int
) -> None:
    shape = ClusterShape(len(scenes.BROKERS), transaction_version=level, settings=scenes.SETTINGS)
    async with (
        simulate(shape, folder, seed=level) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        place = Place(simulation.config, simulation.now_ms, simulation.network, client, random.Random(1), simulation)
        hung = await hang(place, TV2 if level == 2 else TV1)
        await change(place, hung.partition)
        before = await visible(client, hung)
        snapshot = await collect(place)
        (verdict,) = [v for v in classify_open_transactions(snapshot) if v.transaction.partition == hung.partition]
        assert verdict.status is HangStatus.HANGING, verdict.explanation
        assert (verdict.can_abort, verdict.can_complete) == (not hung.committed, hung.committed), verdict.abort_refusal
        action = "complete" if hung.committed else "abort"
        assert marker_line(verdict, "b:1").startswith(f"eosctl txn {action} --topic orders --partition 0 ")

        plan, refusal = plans(snapshot, hung)
        assert f"eosctl txn {action} --topic orders --partition 0" in refusal.next_step
        outcome = await (await MARKER.send(client, plan, Permit(Attempt(plan, State.BEGUN))))()
        assert outcome.verified, outcome.detail
        assert not [v for v in classify_open_transactions(await collect(place)) if v.status is HangStatus.HANGING]
        assert (await visible(client, hung) > before) is hung.committed


def plans(snapshot: ClusterSnapshot, hung: scenes.Hung) -> tuple[MarkerPlan, PlanRefused]:
    """Return the plan of the one action that applies, and the refusal of the other."""
    verdicts, target = classify_open_transactions(snapshot), Target(hung.partition)
    right, wrong = (plan_complete, plan_abort) if hung.committed else (plan_abort, plan_complete)
    with pytest.raises(PlanRefused) as refused:
        wrong(snapshot, verdicts, target)
    return right(snapshot, verdicts, target), refused.value


async def collect(place: Place) -> ClusterSnapshot:
    return await collect_snapshot(place.client, Observer(place.now_ms, second_look_after_ms=100), EVERYTHING)


async def visible(client: Any, hung: scenes.Hung) -> int:
    """Return how many records a read_committed reader gets."""
    reader = await Reader.open(client, [hung.partition], isolation=IsolationLevel.READ_COMMITTED)
    return len((await reader.drain(10_000)).get(hung.partition, []))
