"""The model of `benchmarks.sandbox_processes`: what it computes from one and two processes."""

from __future__ import annotations

import pytest

from benchmarks.sandbox_processes import Model


def test_the_model_returns_what_it_was_made_from() -> None:
    model = Model.of(one_us=200.0, several_us=260.0, busiest_us=75.0, processes=4)
    assert model.server_us(1) == 200.0
    assert model.server_us(4) == pytest.approx(260.0)
    assert model.rate_per_s(1) == pytest.approx(5_000.0)
    assert model.rate_per_s(4) == pytest.approx(1e6 / 75.0)


def test_crossing_costs_grow_to_a_limit() -> None:
    model = Model.of(one_us=200.0, several_us=260.0, busiest_us=65.0, processes=4)
    costs = [model.server_us(processes) for processes in (1, 2, 4, 16, 1_000_000)]
    assert costs == sorted(costs)
    assert costs[-1] == pytest.approx(280.0, rel=1e-4)
    assert model.rate_per_s(16) == pytest.approx(16e6 / 275.0)


def test_processes_without_crossing_messages_scale_with_cores() -> None:
    model = Model.of(one_us=100.0, several_us=100.0, busiest_us=25.0, processes=4)
    assert model.rate_per_s(16) == pytest.approx(16 * model.rate_per_s(1))
