"""The benchmark of judging describes its result, with slices and without."""

from __future__ import annotations

import pytest

pytest.importorskip("psutil", reason="the benchmark samples processes with psutil")


def test_few_events_are_judged_without_slices() -> None:
    from benchmarks.log_judge import cost_text

    assert cost_text([]) == "judged in one task, without slices"


def test_slices_are_described_by_their_costs() -> None:
    from benchmarks.log_judge import cost_text
    from spark_log_analytics.incidents import SliceCost

    text = cost_text([SliceCost(10, 1, 0.5, 700.0), SliceCost(2_000, 0, 1.0, 900.0)])
    assert text == (
        "2 slices with 10 to 2,000 events; in the detectors: 1.5 s of processor; at most 900 MB in a worker"
    )
