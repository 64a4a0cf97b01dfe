"""Placement: every replica on a broker of its own, spread over racks, leaders in turn."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.controller.replica_placer import Candidate, place_replicas


@st.composite
def clusters(draw: st.DrawFn) -> list[Candidate]:
    count = draw(st.integers(1, 9))
    racks = draw(st.sampled_from([(None,), ("a", "b"), ("a", "b", "c")]))
    return [Candidate(number, draw(st.sampled_from(racks)), draw(st.booleans())) for number in range(count)]


@given(clusters(), st.integers(1, 30), st.data(), st.integers())
def test_replicas_are_distinct_and_unfenced_ones_lead(
    candidates: list[Candidate], partitions: int, data: st.DataObject, seed: int
) -> None:
    factor = data.draw(st.integers(1, len(candidates)))
    fenced = {candidate.broker_id for candidate in candidates if candidate.fenced}
    placed = list(place_replicas(candidates, partitions, factor, random.Random(seed)))
    assert len(placed) == partitions
    for replicas in placed:
        assert len(set(replicas)) == factor
        assert replicas[0] not in fenced or set(replicas) <= fenced


@given(st.integers(1, 8), st.integers(1, 5), st.integers())
def test_leaders_and_replicas_spread_evenly(brokers: int, rounds: int, seed: int) -> None:
    candidates = [Candidate(number, None, False) for number in range(brokers)]
    factor = min(3, brokers)
    placed = list(place_replicas(candidates, brokers * rounds, factor, random.Random(seed)))
    leaders = Counter(replicas[0] for replicas in placed)
    assert set(leaders.values()) == {rounds}
    everywhere = Counter(broker for replicas in placed for broker in replicas)
    assert set(everywhere.values()) == {rounds * factor}


@given(st.integers(1, 4), st.integers(1, 20), st.integers())
def test_racks_differ_while_there_are_enough(per_rack: int, partitions: int, seed: int) -> None:
    candidates = [
        Candidate(rack * 10 + number, f"rack-{rack}", False) for rack in range(3) for number in range(per_rack)
    ]
    for replicas in place_replicas(candidates, partitions, 3, random.Random(seed)):
        assert {replica // 10 for replica in replicas} == {0, 1, 2}
