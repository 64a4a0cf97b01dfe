"""Whole runs find the known bugs of the sandbox, one switch at a time, and nothing where the switch is off.

KAFKA-17754 has no switch: test_runs.py shows it.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import NamedTuple

import pytest

from eosctl.lab.verify.nemesis import sandbox_ranges
from eosctl.lab.verify.plan import VerifyPlan, Workload, draw_faults
from eosctl.lab.verify.report import VerifyReport, judge
from eosctl.sandbox.faults.bugs import BUGS
from tests.lab.verify.virtual import play_virtually

RANGES = {one.kind: one for one in sandbox_ranges((1, 2, 3), (100,))}
SEARCHED = 8


class Known(NamedTuple):
    """A switch, the work and the faults that bring the bug about, what it looks like, the first seed that showed it."""

    name: str
    emulate: str
    plan: VerifyPlan
    kinds: tuple[str, ...]
    symptoms: frozenset[str]
    seed: int


def small(*workloads: Workload, duration_ms: int, rate: float, **more: int) -> VerifyPlan:
    return VerifyPlan("v", 0, workloads, duration_ms=duration_ms, rate_per_s=rate, settle_ms=30_000, **more)  # type: ignore[arg-type]


KNOWN = [
    Known(
        "kafka-17507",
        "3.9",
        small(Workload.CHAIN, duration_ms=6_000, rate=100, hops=1, partition_count=4),
        (),
        frozenset({"lost-offset", "aborted-offset", "unstable-offset"}),
        0,
    ),
    Known(
        "kafka-20734",
        "4.3",
        small(Workload.APPENDS, Workload.BANK, duration_ms=6_000, rate=150, replica_count=1, id_count=12),
        ("kill",),
        frozenset({"hanging-transaction", "early-read"}),
        0,
    ),
    Known(
        "high-watermark-truncation",
        "4.3",
        small(Workload.APPENDS, duration_ms=8_000, rate=300, replica_count=2, id_count=8),
        ("kill", "cut"),
        frozenset({"lost-write", "inconsistent-read"}),
        0,
    ),
    Known(
        "zombie-txn-offset-commit",
        "3.9",
        small(Workload.CHAIN, duration_ms=10_000, rate=100, hops=1, partition_count=4),
        ("late-offset-commit",),
        frozenset({"lost-offset", "duplicate", "offset-regression"}),
        1,
    ),
]


def play(known: Known, seed: int, *, on: bool) -> VerifyReport:
    plan = replace(known.plan, seed=seed)
    faults = draw_faults([RANGES[kind] for kind in known.kinds], random.Random(seed), plan.duration_ms, 150)
    others = {bug.name: False for bug in BUGS if known.emulate in bug.releases}
    played = play_virtually(plan, faults, emulate=known.emulate, bugs=others | {known.name: on})
    return judge(played.history, unsettled=played.conducted.unsettled)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_a_run_finds_a_known_bug_and_nothing_without_it(known: Known) -> None:
    for seed in (known.seed, *range(SEARCHED)):
        if known.symptoms & play(known, seed, on=True).anomaly_counts.keys():
            assert dict(play(known, seed, on=False).anomaly_counts) == {}
            return
    pytest.fail(f"{SEARCHED} seeds show none of {sorted(known.symptoms)}")


def test_every_switch_is_tried() -> None:
    assert {known.name for known in KNOWN} == {bug.name for bug in BUGS}
