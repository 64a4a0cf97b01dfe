"""The canary: it runs until the first anomaly, and Prometheus reads its numbers."""

from __future__ import annotations

import asyncio
import random
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.errors import UsageError
from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.simulation import simulate
from eosctl.lab.verify.canary import Canary, CanaryPlan
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.verification import CanaryItem
from eosctl.monitoring.endpoint import plain_page, serve
from eosctl.render.page import Line
from eosctl.render.verify.canary import canary_blocks
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.sandbox import test_planted_bugs as bugs


def run_canary(plan: CanaryPlan, seconds: float) -> tuple[tuple[Anomaly, ...], Canary, float]:
    """Run a canary on virtual time; returns what was wrong, the canary, and the time that passed."""

    async def scenario() -> tuple[tuple[Anomaly, ...], Canary, float]:
        loop = asyncio.get_running_loop()
        shape = ClusterShape(1, Emulation("4.3"), None, {}, fast=True)
        with tempfile.TemporaryDirectory() as folder:
            async with simulate(shape, Path(folder), seed=1) as simulation:
                chance = random.Random(1)
                canary = Canary(
                    plan,
                    lambda: connect(
                        simulation.config, connector=simulation.network, chance=random.Random(chance.random())
                    ),
                    now_ms=simulation.now_ms,
                    elapsed_ms=lambda: int(loop.time() * 1_000),
                    seed=1,
                )
                stop = asyncio.Event()
                loop.call_later(seconds, stop.set)
                began = loop.time()
                return await canary.run(stop), canary, loop.time() - began

    return run_virtual(scenario())


def test_a_canary_runs_until_it_is_stopped() -> None:
    anomalies, canary, _ = run_canary(CanaryPlan("7", rate_per_s=5, round_size=10), 12)
    assert anomalies == ()
    numbers = canary.numbers
    assert numbers.is_up
    assert numbers.round_count >= 4
    assert numbers.outcomes["committed"] > 3 * numbers.outcomes["aborted"] > 0
    seen = numbers.visible.percentiles()
    assert seen.recorded_count == numbers.outcomes["committed"]
    assert 0 < seen.p50_ms <= seen.max_ms < 5_000


def test_the_first_anomaly_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bugs.aborted_index_loses_an_entry(monkeypatch)
    anomalies, canary, lasted = run_canary(CanaryPlan("7", rate_per_s=5, round_size=10), 600)
    assert {str(anomaly.kind) for anomaly in anomalies} >= {"aborted-read"}
    assert canary.numbers.anomalies["aborted-read"] > 0
    assert not canary.numbers.is_up
    assert lasted < 600


def test_numbers_are_gauges_and_counters() -> None:
    _, canary, _ = run_canary(CanaryPlan("7", rate_per_s=10, round_size=5), 2)
    gauges = {gauge.name: gauge for gauge in canary.numbers.gauges()}
    assert gauges["eosctl_canary_up"].samples[0].value == 1
    assert gauges["eosctl_canary_last_commit_timestamp_seconds"].samples[0].value > 1_700_000_000
    assert gauges["eosctl_canary_transactions_total"].is_counter
    assert dict(gauges["eosctl_canary_visible_seconds"].samples)[(("quantile", "0.5"),)] > 0


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (CanaryPlan("7", "orders"), "not a canary's"),
        (CanaryPlan("7", rate_per_s=11), "--rate 11"),
        (CanaryPlan("7", rate_per_s=0), "--rate 0"),
        (CanaryPlan("7", record_bytes=10_001), "--record-bytes"),
        (CanaryPlan("7", partition_count=13), "--partitions 13"),
    ],
)
def test_a_canary_stays_small(plan: CanaryPlan, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan.check()


@pytest.fixture
def kafka() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=1) as cluster:
        yield cluster


def test_the_command_runs_for_a_time_and_says_what_it_saw(kafka: SandboxThread) -> None:
    canary = ("verify", "canary", "-b", kafka.bootstrap)
    done = eosctl(*canary, "--duration", "5s", "--rate", "10", "--round", "5")
    assert done.code == 0, done.err
    assert done.out.startswith("clean: ")
    assert "visible after" in done.out
    refused = eosctl(*canary, "--topic", "orders")
    assert refused.code == 2
    assert "--topic eosctl-canary-orders" in refused.err


def test_doctor_finds_nothing_about_the_canary(kafka: SandboxThread) -> None:
    canary = ("verify", "canary", "-b", kafka.bootstrap, "--duration", "6s", "--rate", "10", "--round", "2")
    assert eosctl(*canary).code == 0
    found = eosctl("check", "run", "TXN", "-b", kafka.bootstrap, "-o", "json", "--exit-zero").json
    assert [check["id"] for check in found["checks"] if check["status"] == "failed"] == []


def test_a_page_is_served_as_it_is_at_that_moment() -> None:
    pages = iter(("one 1\n", "one 2\n"))

    async def scenario() -> list[str]:
        async with await serve("127.0.0.1", 0, plain_page(lambda: next(pages))) as server:
            port = server.sockets[0].getsockname()[1]

            def get() -> str:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                    return str(answer.read(), "utf-8")

            return [await asyncio.to_thread(get), await asyncio.to_thread(get)]

    assert asyncio.run(scenario()) == ["one 1\n", "one 2\n"]


def test_a_canary_that_ended_too_early_shows_no_latency() -> None:
    nothing = canary_blocks(CanaryItem("undecided", 0, {}, 0.0, 0.0, 0.0, {}, ()))
    assert nothing == [Line("undecided: 0 rounds, and no transaction ended: let it run longer (--duration)")]
    (first, second, *_) = canary_blocks(CanaryItem("clean", 2, {"committed": 4}, 1.0, 2.0, 3.0, {}, ()))
    assert first == Line("clean: 2 rounds, transactions 4 committed")
    assert second == Line("visible after 1 ms (P50), 2 ms (P99), 3 ms at most")
