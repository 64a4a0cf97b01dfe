from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.workloads.latency import LatencyHistogram


@given(st.lists(st.integers(0, 100_000_000), min_size=1, max_size=300))
def test_percentiles_are_within_one_part_in_128(latencies_us: list[int]) -> None:
    histogram = LatencyHistogram()
    for latency_us in latencies_us:
        histogram.record(latency_us / 1_000_000)
    found = histogram.percentiles()
    ordered = sorted(latencies_us)
    assert found.recorded_count == len(ordered)
    for fraction, value_ms in ((0.5, found.p50_ms), (0.9, found.p90_ms), (0.99, found.p99_ms), (0.999, found.p999_ms)):
        true_us = ordered[max(1, math.ceil(len(ordered) * fraction)) - 1]
        assert true_us - 1.001 <= value_ms * 1000 <= true_us * (1 + 1 / 128) + 1.001
    assert abs(found.max_ms * 1000 - ordered[-1]) <= 1.001


def test_nothing_recorded_is_zero_everywhere() -> None:
    histogram = LatencyHistogram()
    histogram.record(1.0)
    histogram.clear()
    assert set(histogram.percentiles()) == {0}


def test_absurd_values_are_kept_in_bounds() -> None:
    histogram = LatencyHistogram()
    for latency_s in (-1.0, 0.0, 1e12):
        histogram.record(latency_s)
    assert histogram.percentiles().recorded_count == 3
