"""Predictions against the embedded cluster on virtual time: the same numbers in every run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.calibrating.visibility import compare_visibility, measure_visibility
from eosctl.client import connect
from eosctl.lab.calibration import TRIALS, Bench, Level, run_trial
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.calibration import CalibrationRow, Trial, TrialProfile
from eosctl.sandbox.core import ClusterShape

#: Latencies of the simulated links: 0 to so many ms each way.
MAX_LATENCY_MS = 2.0


def rows_of(trial: Trial, directory: Path) -> tuple[CalibrationRow, ...]:
    async def run() -> tuple[CalibrationRow, ...]:
        async with (
            simulate(ClusterShape(broker_count=1, fast=True), directory, seed=1, max_latency_ms=1) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(1)) as client,
        ):
            return await run_trial(Bench(client, simulation.now_ms, simulation.network), trial, Level("4.0", 2))

    rows: tuple[CalibrationRow, ...] = run_virtual(run())
    return rows


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_counts_and_bytes_are_predicted(trial: Trial, tmp_path: Path) -> None:
    rows = rows_of(trial, tmp_path)
    assert {row.figure for row in rows} >= {"markers", "transaction-log bytes", "data bytes", "producer states"}
    assert all(row.measured > 0 for row in rows)
    assert [row for row in rows if not row.holds] == []


def test_a_wrong_prediction_is_seen(tmp_path: Path) -> None:
    trial = Trial("wrong", TrialProfile.TV1, 2, 10, 2, 100)
    right = {row.figure: row for row in rows_of(trial, tmp_path)}
    markers = right["markers"]
    assert markers.holds
    assert not CalibrationRow("wrong", "markers", markers.unit, markers.predicted * 1.2, markers.measured, 0.1).holds


def test_waiting_for_commits_is_predicted(tmp_path: Path) -> None:
    async def run() -> tuple[float, ...]:
        shape = ClusterShape(broker_count=1, fast=True)
        async with (
            simulate(shape, tmp_path, seed=1, max_latency_ms=MAX_LATENCY_MS) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(1)) as client,
            connect(simulation.config, connector=simulation.network, chance=random.Random(2)) as reading,
        ):
            bench = Bench(client, simulation.now_ms, simulation.network)
            return await measure_visibility(
                bench, reading, "waits", random.Random(3), interval_ms=200, transaction_count=100
            )

    waits = run_virtual(run())
    assert len(waits) == 400
    rows = compare_visibility(waits, 200, fixed_ms=2 * MAX_LATENCY_MS)
    assert [row for row in rows if not row.holds] == []
