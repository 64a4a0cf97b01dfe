"""Rehearsals of runbooks on real Kafka, a cluster for each; `make prove runbooks-kafka` runs all supported ones."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import msgspec
import pytest

from eosctl.client import connect
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.rehearsals.clusters import HERE, OTHER, RehearsalCluster, RehearsalClusters
from eosctl.lab.rehearsals.rehearsal import RehearsalScenario, StepWords, rehearsals
from eosctl.lab.rehearsals.rehearse import Performance, rehearse_at
from eosctl.model.client_config import ClientConfig
from eosctl.model.emulation import FULL_RELEASE
from eosctl.runbooks.load import find_runbook
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.apache.conftest import FULL_DISK, running

# What can be done to the sandbox alone: links, disks and clocks of a JVM are out of reach, its controllers are brokers.
INSIDE = frozenset(
    {"cut_link", "cut_api", "mend_links", "skew_clock", "fail_disk", "start_empty_broker", "kill_controller"}
    | {"start_controller", "die_in_sync", "fall_behind"}
)
LONGEST_MS = 60_000  # by the clock on the wall
ALL = "EOSCTL_RUNBOOKS_ON_KAFKA"
# JVMs take longer than virtual time; in the few that are always played nothing is waited for in vain.
PATIENCE, UNHURRIED = "40s", "5m"
SOME = (("rolling-restart", "a broker that led nothing is restarted"),)


def steps_of(scenario: RehearsalScenario) -> Sequence[StepWords]:
    return (*scenario.given, *(step for turn in scenario.people for step in turn.does), *scenario.afterwards)


def is_playable(scenario: RehearsalScenario) -> bool:
    steps = steps_of(scenario)
    waits_ms = sum(int(step.get("ms", 0)) for step in steps if step["do"] == "pass_time")
    shape = scenario.cluster
    return (
        not INSIDE & {str(step["do"]) for step in steps}
        and waits_ms <= LONGEST_MS
        and shape.brokers in (1, 3)
        and shape.log_dirs == 1
        # A combined node that denies its own principal would not come up.
        and "authorizer.class.name" not in shape.settings
    )


PLAYABLE = [
    (name, scenario.name)
    for name, rehearsal in rehearsals().items()
    for scenario in rehearsal.scenarios
    if is_playable(scenario)
]


async def play(kafka: dict[str, ApacheNodes], name: str, scenario: RehearsalScenario, folder: Path) -> Performance:
    async with AsyncExitStack() as stack:
        clusters: dict[str, RehearsalCluster] = {}
        for role, nodes in kafka.items():
            config = ClientConfig(parse_endpoints(nodes.bootstrap, "test"))
            client = await stack.enter_async_context(connect(config))
            clusters[role] = RehearsalCluster(config, system_now_ms, None, client, random.Random(1), engine=nodes)
        try:
            return await rehearse_at(RehearsalClusters(clusters), find_runbook(name).book, scenario, folder)
        finally:
            tasks = [task for cluster in clusters.values() for task in cluster.tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(("name", "title"), PLAYABLE if os.environ.get(ALL) else SOME)
def test_a_rehearsal_ends_as_expected(name: str, title: str, tmp_path: Path) -> None:
    (scenario,) = [one for one in rehearsals()[name].scenarios if one.name == title]
    patience = PATIENCE if os.environ.get(ALL) else UNHURRIED
    scenario = msgspec.structs.replace(scenario, patience=patience, leaves=(*scenario.leaves, FULL_DISK))
    shapes = {HERE: scenario.cluster} | ({OTHER: scenario.other} if scenario.other else {})
    with ExitStack() as stack:
        clusters = {
            role: stack.enter_context(
                running(
                    FULL_RELEASE[shape.release],
                    tmp_path / role,
                    shape.settings,
                    node_count=shape.brokers,
                    transaction_version=shape.transaction_version,
                )
            )
            for role, shape in shapes.items()
        }
        done = asyncio.run(play(clusters, name, scenario, tmp_path))
    assert not done.failure, "\n".join(
        [done.failure, *(f"{one.step}: {one.text} {one.detail}" for one in done.reports)]
    )
