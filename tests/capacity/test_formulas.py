"""Every formula's examples hold: they carry the golden cases, with units."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import random

import pytest

import eosctl.capacity
from eosctl.capacity.latency import commit_wait_ms, irwin_hall_cdf
from eosctl.capacity.transactions import partition_waves, partitions_touched

MODULES = sorted(module.name for module in pkgutil.iter_modules(eosctl.capacity.__path__))
RECORDS = (0.1, 0.5, 1, 3, 10, 1e4)
FORMULAS = ("bytes_and_network", "disk", "latency", "memory", "record_sizes", "recovery", "threads", "transactions")


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    module = importlib.import_module(f"eosctl.capacity.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", FORMULAS)
def test_every_formula_has_an_example(name: str) -> None:
    module = importlib.import_module(f"eosctl.capacity.{name}")
    formulas = [
        item
        for label, item in vars(module).items()
        if callable(item) and not label.startswith("_") and item.__module__ == module.__name__ and label[0].islower()
    ]
    assert formulas
    assert [formula.__name__ for formula in formulas if ">>>" not in (formula.__doc__ or "")] == []


@pytest.mark.parametrize("quantile", [0.01, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("stages", [1, 2, 5])
def test_the_wait_is_the_quantile_of_the_sum_of_uniform_waits(stages: int, quantile: float) -> None:
    assert irwin_hall_cdf(commit_wait_ms(stages, 1.0, quantile), stages) == pytest.approx(quantile, abs=1e-6)


@pytest.mark.parametrize("partitions", [1, 2, 32, 500])
def test_touched_partitions_grow_within_their_bounds(partitions: int) -> None:
    counts = [partitions_touched(records, partitions) for records in RECORDS]
    assert counts == sorted(counts)
    assert all(count <= min(records, partitions) + 1e-9 for count, records in zip(counts, RECORDS, strict=True))


@pytest.mark.parametrize("leaders", [1, 3])
def test_waves_lie_between_leaders_and_partitions(leaders: int) -> None:
    waves = [partition_waves(rate, 12, leaders, 5, 100) for rate in (1, 10, 100, 1e3, 1e6)]
    assert waves[-1] == pytest.approx(leaders)
    assert all(0 < wave <= 12 for wave in waves)


@pytest.mark.parametrize(("rate", "interval_ms"), [(150.0, 60_000), (150.0, 720_000), (2.0, 60_000), (900.0, 1_000)])
def test_waves_are_those_of_records_that_arrive(rate: float, interval_ms: float) -> None:
    chance, partitions, leaders, runs = random.Random(1), 30, 3, 200
    total = 0
    for _ in range(runs):
        at_ms, joined, requests = 0.0, set[int](), set[tuple[int, int]]()
        while len(joined) < partitions and (at_ms := at_ms + chance.expovariate(rate) * 1000) < interval_ms:
            partition = chance.randrange(partitions)
            if partition not in joined:
                joined.add(partition)
                requests.add((int(at_ms / 5), partition % leaders))
        total += len(requests)
    assert partition_waves(rate, partitions, leaders, 5, interval_ms) == pytest.approx(total / runs, rel=0.03)
