"""For each hang on real Kafka, exactly one of abort and complete applies, works, and is the printed recommendation.

`make prove incidents` plays every kind with every change, release, and transaction version.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.transactions import TV1, TV2
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.rehearsals.clusters import RehearsalCluster
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.actions import marker_scenes as scenes
from tests.actions.marker_verdicts import end_rightly

ALL = "EOSCTL_INCIDENTS"
HANGS = (
    scenes.late_produce,
    scenes.expired_id,
    scenes.skipped_marker,
    scenes.unclean_election,
    scenes.fenced_instance,
)
CHANGES = (scenes.no_change, scenes.clean_election, scenes.restart, scenes.reassignment)
#: Releases with the levels of transaction.version that they finalize; 3.9 has no other than 0.
LEVELS = {"3.9.2": (0,), "4.3.1": (0, 1, 2), "4.4.0": (0, 1, 2)}
#: Releases before 4.0 keep the marker until the partition has a leader, so that nothing hangs (KAFKA-20734).
NEVER = {("3.9.2", scenes.skipped_marker)}
#: Always: one of each release, with both markers and with changes of the leader.
SOME = {
    ("3.9.2", 0, scenes.late_produce, scenes.restart),
    ("4.3.1", 1, scenes.fenced_instance, scenes.clean_election),
    ("4.4.0", 2, scenes.skipped_marker, scenes.reassignment),
}
MATRIX = [
    (version, level, hang, change)
    for version, levels in LEVELS.items()
    for level in levels
    for hang in HANGS
    for change in CHANGES
    if (version, hang) not in NEVER and (os.environ.get(ALL) or (version, level, hang, change) in SOME)
]


@pytest.mark.parametrize(
    ("version", "level", "hang", "change"), MATRIX, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_one_action_applies_and_works(
    version: str,
    level: int,
    hang: Callable[..., Awaitable[scenes.Hung]],
    change: Callable[..., Awaitable[None]],
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
) -> None:
    finalized = None if version < "4" else level
    shape = {"node_count": 3, "transaction_version": finalized}
    with apache_running(version, tmp_path / "kafka", settings=scenes.SETTINGS, **shape) as engine:

        async def play() -> None:
            config = ClientConfig(parse_endpoints(engine.bootstrap, "matrix"))
            async with connect(config) as client:
                cluster = RehearsalCluster(config, system_now_ms, None, client, random.Random(1), engine=engine)
                await end_rightly(cluster, hang, change, TV2 if level == 2 else TV1)

        asyncio.run(play())
