"""Faults chosen by what has been tried: the kind that has met least, when it meets something new."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest

from eosctl.lab.history.coverage import ClientState, Coverage, count_meetings
from eosctl.lab.history.events import EndInvoked, Event, FaultBegan, FaultEnded, Identified, InitInvoked, SendInvoked
from eosctl.lab.verify.guide import Guide
from eosctl.lab.verify.links import LINK_RANGES
from eosctl.lab.verify.plan import FaultRange, VerifyPlan, Workload, draw_faults
from eosctl.lab.verify.report import Verdict, judge
from eosctl.model.transaction import TopicPartition
from tests.lab.verify.virtual import play_virtually

RANGES = (FaultRange("kill", (1, 2)), FaultRange("slow", (3,), amount=(5, 9)))
PLACE = TopicPartition("t", 0)


def test_the_kind_that_has_met_fewer_states_comes_next() -> None:
    coverage = Coverage()
    guide = Guide(RANGES, random.Random(1), 100, coverage)
    for event in (InitInvoked(0, "a", "id"), FaultBegan(1, 1, "kill", "1"), Identified(2, "a", "id", 1, 0)):
        coverage.see(event)
    assert coverage.met_count("kill") == 2
    fault = guide.choose(10_000)
    assert (fault.kind, fault.target) == ("slow", 3)
    assert 5 <= fault.amount <= 9


def test_kinds_that_have_met_as_much_take_turns() -> None:
    guide = Guide(RANGES, random.Random(1), 100, Coverage())
    kinds = [guide.choose(10_000).kind for _ in range(40)]
    assert all(set(pair) == {"kill", "slow"} for pair in zip(kinds[::2], kinds[1::2], strict=True))


def test_the_moment_is_an_uncovered_state() -> None:
    coverage = Coverage()
    guide = Guide(RANGES, random.Random(1), 100, coverage)
    assert not guide.is_the_moment("kill")  # no application is active yet
    coverage.see(SendInvoked(0, "a", "a/0", PLACE, "v"))
    assert guide.is_the_moment("kill")
    coverage.see(FaultBegan(1, 1, "kill", "1"))
    coverage.see(FaultEnded(2, 1, "kill", "1"))
    assert not guide.is_the_moment("kill")
    assert guide.is_the_moment("slow")
    coverage.see(EndInvoked(3, "a", "a/0", True))
    assert guide.is_the_moment("kill")


def test_a_fault_is_over_when_the_run_is() -> None:
    guide = Guide(RANGES, random.Random(1), 100, Coverage())
    assert guide.choose(7).duration_ms == 7


def life(chance: random.Random) -> Iterator[Event]:
    """One producer that nearly always sends, and seldom ends a transaction or begins anew."""
    yield InitInvoked(0, "a", "id")
    while True:
        yield Identified(0, "a", "id", 1, 0)
        while chance.random() < 0.95:
            yield SendInvoked(0, "a", "a/0", PLACE, "v")
        yield EndInvoked(0, "a", "a/0", chance.random() < 0.8)
        yield InitInvoked(0, "a", "id")


def faults_until_all_is_met(seed: int, *, guided: bool) -> int:
    """Count short faults until both kinds have covered the five states of a transaction."""
    chance = random.Random(seed)
    coverage, events = Coverage(), life(chance)
    guide = Guide(RANGES, chance, 100, coverage)
    for number in range(10_000):
        if min(coverage.met_count(one.kind) for one in RANGES) == 5:
            return number
        kind = guide.choose(100).kind if guided else RANGES[number % 2].kind
        for _ in range(chance.randint(1, 200)):
            coverage.see(next(events))
            if guided and guide.is_the_moment(kind):
                break
        coverage.see(FaultBegan(0, number, kind, "1"))
        coverage.see(FaultEnded(0, number, kind, "1"))
    raise AssertionError("never")


@pytest.mark.parametrize("seed", range(5))
def test_guided_faults_cover_states_sooner_than_random_ones(seed: int) -> None:
    assert faults_until_all_is_met(seed, guided=True) * 2 < faults_until_all_is_met(seed, guided=False)


def test_a_guided_run_keeps_the_faults_that_it_chose() -> None:
    plan = VerifyPlan(
        "v", 1, (Workload.APPENDS,), duration_ms=3_000, rate_per_s=5, id_count=1, partition_count=1, settle_ms=20_000
    )
    ranges = tuple(one._replace(duration_ms=(50, 200)) for one in LINK_RANGES[:2])
    guide = Guide(ranges, random.Random(1), 100, Coverage())
    played = play_virtually(plan, guide=guide)
    assert guide.coverage.met == count_meetings(played.history)
    faults = played.conducted.faults
    assert {fault.kind for fault in faults} == {one.kind for one in ranges}
    assert all(one.at_ms + one.duration_ms <= following.at_ms for one, following in pairwise(faults))
    assert judge(played.history, unsettled=played.conducted.unsettled).verdict is Verdict.CLEAN


def test_a_run_that_has_not_met_enough_decides_nothing() -> None:
    plan = VerifyPlan(
        "v", 2, (Workload.CHAIN,), duration_ms=1_500, rate_per_s=5, id_count=1, partition_count=1, settle_ms=20_000
    )
    history = play_virtually(plan, draw_faults(LINK_RANGES[:1], random.Random(1), 1_000, 200)).history
    kinds = sorted({one.kind for one in LINK_RANGES})
    enough = judge(history, fault_kinds=kinds, min_coverage=0.05)
    assert enough.verdict is Verdict.CLEAN
    report = judge(history, fault_kinds=kinds, min_coverage=0.9)
    assert report.verdict is Verdict.UNDECIDED
    assert "were met, which is less than 90%" in report.headline
    assert len(ClientState) * len(kinds) == report.coverage.cell_count  # type: ignore[union-attr]
