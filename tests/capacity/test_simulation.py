"""The simulation agrees with queueing theory where that has an answer, and repeats itself."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.capacity.simulation import simulate_commits
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.capacity_simulation import SimulationSettings
from eosctl.model.workload import Workload
from eosctl.render.schemas import schema_of
from tests.capacity.workloads import STREAMS
from tests.commands.conftest import eosctl

# One broker, one append of data for each transaction: five appends in all, every one on the same server.
SINGLE = """\
kind: Workload
name: single
cluster: {brokers: 1, replication_factor: 1, min_insync_replicas: 1, brokers_lost: 0,
          client_round_trip: 1 ms, replication_round_trip: 2 ms}
topics:
  out: {partitions: 1, rate: 500/s, value: 100 B, batch_records: 1}
applications:
  app: {kind: producer, producers: 500, transactions: 500/s, writes: {out: 1}, partition_waves: 1}
"""
THREE = SINGLE.replace("brokers: 1, replication_factor: 1, min_insync_replicas: 1, brokers_lost: 0", "brokers: 3")


def workload(text: str = SINGLE) -> Workload:
    return parse_workload(text, "w.yaml")


def settings(appends: float, lose_at: float | None = None) -> SimulationSettings:
    return SimulationSettings(10_000, lose_at, 4_000, appends)


def test_an_idle_broker_answers_after_its_round_trips() -> None:
    phase = simulate_commits(workload(), settings(1e6), 1).phases[0]
    assert phase.commit_count == pytest.approx(5_000, rel=0.05)
    assert phase.commit_p50_ms == pytest.approx(1, rel=0.01)
    assert phase.visible_p50_ms == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("appends", [3_600, 5_000])
def test_waiting_times_match_an_m_d_1_queue(appends: float) -> None:
    report = simulate_commits(workload(), settings(appends), 1)
    service_ms = 1000 / appends
    # Pollaczek-Khinchine for M/D/1; the mean of a commit's one append.
    waiting_ms = report.utilisation * service_ms / (2 * (1 - report.utilisation))
    assert report.utilisation == pytest.approx(2_500 / appends)
    mean_like = report.phases[0].commit_p50_ms - 1
    assert mean_like == pytest.approx(service_ms + waiting_ms, rel=0.35)


def test_more_load_waits_longer() -> None:
    waits = [simulate_commits(workload(), settings(appends), 1).phases[0].commit_p99_ms for appends in (9e3, 4e3, 3e3)]
    assert waits == sorted(waits)


def test_results_depend_on_the_seed_alone() -> None:
    one, again, other = (simulate_commits(workload(), settings(5_000), seed) for seed in (1, 1, 2))
    assert one == again
    assert one.phases != other.phases


def test_a_lost_broker_holds_commits_for_as_long_as_the_failover() -> None:
    report = simulate_commits(workload(THREE), settings(50_000, lose_at=2_000), 1)
    before, during, after = report.phases
    assert before.visible_max_ms < 100
    assert 3_500 < during.visible_max_ms < 5_000
    assert after.commit_count > 0
    assert after.visible_p50_ms < 100


def test_all_stop_only_if_each_transaction_needs_the_lost_broker() -> None:
    wide = THREE.replace("partitions: 1, rate: 500/s", "partitions: 3, rate: 1500/s").replace("{out: 1}", "{out: 3}")
    some = simulate_commits(workload(THREE), settings(50_000, lose_at=2_000), 1)
    every = simulate_commits(workload(wide), settings(50_000, lose_at=2_000), 1)
    assert some.standstill_ms < 1_000
    assert 3_500 < every.standstill_ms < 5_000


def test_what_never_settles_is_refused() -> None:
    with pytest.raises(WorkloadRefused, match="does not settle"):
        simulate_commits(workload(), settings(2_000), 1)
    with pytest.raises(WorkloadRefused, match="does not settle"):  # a single broker cannot be lost
        simulate_commits(workload(), settings(50_000, lose_at=1_000), 1)
    with pytest.raises(WorkloadRefused, match="too many to simulate"):
        simulate_commits(workload(), SimulationSettings(1e9, None, 1, 5_000), 1)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(THREE)
    asked = ("capacity", "simulate", path, "--duration", "5s", "--lose-broker-at", "1s", "--failover", "1s")
    done = eosctl(*asked, "--appends", "50000/s")
    assert (done.code, done.err) == (0, "")
    assert [line.split("  ")[0] for line in done.out.splitlines()[2:]] == ["before the loss", "failing over", "after"]
    assumed = eosctl(*asked, "-o", "json")
    assert "assumed: a broker does 10,000 appends/s" in assumed.err
    jsonschema.validate(assumed.json, schema_of("capacity-simulation"))
    assert eosctl(*asked, "--appends", "fast").code == 2


@pytest.mark.parametrize(("duration", "is_short"), [("2s", True), ("10s", False)])
def test_a_simulation_shorter_than_commits_says_so(tmp_path: Path, duration: str, is_short: bool) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("apiVersion: eosctl/v1\n" + THREE)
    done = eosctl("capacity", "simulate", str(path), "--duration", duration, "--appends", "9000/s")
    assert done.code == 0
    assert ("app commits once in 1 s, and 2 s are simulated" in done.err) is is_short
    assert ("--duration 3s" in done.err) is is_short


def test_a_single_copy_waits_for_no_follower() -> None:
    def visible_ms(copies: int) -> float:
        cluster = f"cluster: {{brokers: 6, replication_factor: {copies}, min_insync_replicas: 1, "
        plan = plan_capacity(parse_workload(STREAMS.replace("cluster: {brokers: 6, ", cluster), "w"))
        return plan.applications[0].visible_p50_ms

    # Prepare and marker are replicated one after the other: 2 ms each, as assumed.
    assert visible_ms(3) - visible_ms(1) == pytest.approx(4)
