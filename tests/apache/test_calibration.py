"""What capacity formulas predict, real Kafka writes."""

from __future__ import annotations

import asyncio
import random

import pytest

from benchmarks.calibrating.visibility import compare_visibility, measure_visibility
from eosctl.capacity.observation import Observed, write_observed
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import connect
from eosctl.client.topics import ensure_topic
from eosctl.collect.observation import observe_cluster
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.calibration import (
    Bench,
    Level,
    find_level,
    run_trial,
    trials_for,
)
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.calibration import CalibrationRow
from eosctl.model.client_config import ClientConfig
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints

#: The end of a transaction and the fetch, on loopback and one replica.
FIXED_MS = 5.0


LEVELS = {"3.9.2": Level("3.9", 0), "4.3.1": Level("4.0", 2), "4.4.0": Level("4.4", 2)}
FIXTURES = {"3.9.2": "apache_3_9", "4.3.1": "apache_4_3", "4.4.0": "apache_4_4"}


@pytest.mark.parametrize("release", LEVELS)
@pytest.mark.parametrize("index", range(6))
def test_counts_and_bytes_are_predicted(release: str, index: int, request: pytest.FixtureRequest) -> None:
    apache: ApacheNodes = request.getfixturevalue(FIXTURES[release])

    async def run() -> tuple[CalibrationRow, ...]:
        async with connect(ClientConfig(parse_endpoints(apache.bootstrap, "test"))) as client:
            level = await find_level(client)
            assert level == LEVELS[release]
            trials = trials_for(level)
            if index >= len(trials):
                return ()
            return await run_trial(Bench(client, system_now_ms), trials[index], level)

    # Commits and markers are counted exactly; a transaction log also has the record of each id's first request.
    rows = asyncio.run(run())
    assert [row for row in rows if not row.holds] == []
    assert [row for row in rows if "transaction-log" not in row.figure and row.measured != row.predicted] == []


def test_no_wait_for_commits_is_shorter_than_predicted(apache_4_3: ApacheNodes) -> None:
    async def run() -> tuple[float, ...]:
        config = ClientConfig(parse_endpoints(apache_4_3.bootstrap, "test"))
        async with connect(config) as client, connect(config) as reading:
            return await measure_visibility(
                Bench(client, system_now_ms), reading, "waits", random.Random(3), interval_ms=200, transaction_count=40
            )

    # A busy machine only makes waits longer; tests/capacity judges both sides in virtual time.
    rows = compare_visibility(asyncio.run(run()), 200, FIXED_MS)
    assert [row for row in rows if row.measured < row.predicted and not row.holds] == []


def test_the_plan_of_what_was_observed_reproduces_it(apache_4_3: ApacheNodes) -> None:
    load = Load(Profile.CTP2, "watched", 2, 3, partition_count=2, record_bytes=300, rate_per_s=40, warm_up_ms=0,
                duration_ms=9_000, prefix="watched")  # fmt: skip

    async def run() -> Observed:
        config = ClientConfig(parse_endpoints(apache_4_3.bootstrap, "test"))
        async with connect(config) as client, connect(config) as observer:
            await ensure_topic(client, "watched", partition_count=6)
            running = asyncio.create_task(run_load(client, load, now_ms=system_now_ms))
            await asyncio.sleep(2)
            probed = await observe_cluster(observer, 5_000, system_now_ms)
            assert not probed.gaps
            assert not (await running).errors
            return probed.value

    observed = asyncio.run(run())
    plan = plan_capacity(parse_workload(write_observed("seen", observed), "seen.yaml"))
    seconds = observed.traffic.interval_ms / 1000
    for topic in plan.topics:
        traffic = observed.traffic.of_topic(topic.name)
        assert topic.data_batches_per_s == pytest.approx(sum(p.data_batch_count for p in traffic) / seconds, rel=0.1)
        assert topic.markers_per_s == pytest.approx(sum(p.marker_count for p in traffic) / seconds, rel=0.1)
        assert topic.written == pytest.approx(sum(p.stored_bytes for p in traffic) / seconds, rel=0.1)
