"""The hottest paths execute no more bytecodes than was accepted: a measure that other load does not change."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from benchmarks.hot_paths import TOLERANCE, bytecodes, count_all, read_limits


def test_no_hot_path_has_grown() -> None:
    limits = read_limits()
    counts = count_all()
    assert counts.keys() == limits.keys()
    grown = {name: (limits[name], count) for name, count in counts.items() if count > TOLERANCE * limits[name]}
    assert not grown, (
        f"Bytecodes accepted and counted: {grown}. Make the path as short as it was, or, where the growth is worth it, "
        "accept it with python -m benchmarks.hot_paths --lock."
    )


@pytest.mark.parametrize("rounds", [10, 1000])
def test_a_longer_path_counts_more(rounds: int) -> None:
    def walk(steps: int) -> None:
        for _ in range(steps):
            pass

    bytecodes(partial(walk, 1))  # from Python 3.12 on, code that is traced for the first time is not counted in full
    once = bytecodes(partial(walk, rounds))
    assert bytecodes(partial(walk, rounds)) == once
    assert bytecodes(partial(walk, 2 * rounds)) >= once + rounds


def test_counting_puts_an_earlier_tracer_back() -> None:
    before = sys.gettrace()
    bytecodes(lambda: None)
    assert sys.gettrace() is before
    with pytest.raises(ZeroDivisionError):
        bytecodes(lambda: 1 / 0)
    assert sys.gettrace() is before
