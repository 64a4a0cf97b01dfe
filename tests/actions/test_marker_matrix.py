"""For each hang, exactly one of abort and complete applies, works, and is the printed recommendation."""

from __future__ import annotations

import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.transactions import TV1, TV2
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.core import ClusterShape
from tests.actions import marker_scenes as scenes
from tests.actions.marker_verdicts import end_rightly

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
        cluster = RehearsalCluster(
            simulation.config, simulation.now_ms, simulation.network, client, random.Random(1), simulation
        )
        await end_rightly(cluster, hang, change, TV2 if level == 2 else TV1)
