"""A queue of work that takes several turns: order, failures, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eosctl.sandbox.turns import TurnQueue


class Turns:
    """A runtime that runs deferred calls when asked."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> None:
        """Keep a call for the next turn."""
        self.calls.append(call)

    def run(self) -> None:
        """Run all turns."""
        while self.calls:
            self.calls.pop(0)()


@pytest.fixture
def turns() -> Any:
    return Turns()


def test_items_are_taken_in_order_with_all_their_steps(turns: Any) -> None:
    done: list[str] = []

    def take(name: str) -> Iterator[None]:
        done.append(f"{name}1")
        yield
        done.append(f"{name}2")

    queue = TurnQueue(turns, take)
    queue.add("a")
    queue.add("b")
    assert done == ["a1"]
    turns.run()
    assert done == ["a1", "a2", "b1", "b2"]


def test_a_failed_item_does_not_hold_up_the_next(turns: Any) -> None:
    done: list[int] = []

    def take(number: int) -> Iterator[None]:
        yield
        done.append(1 // number)

    queue = TurnQueue(turns, take)
    queue.add(0)
    queue.add(1)
    with pytest.raises(ZeroDivisionError):
        turns.run()
    turns.run()
    assert done == [1]


def test_a_closed_queue_takes_no_further_step(turns: Any) -> None:
    done: list[str] = []

    def take(name: str) -> Iterator[None]:
        yield
        done.append(name)

    queue = TurnQueue(turns, take)
    queue.add("a")
    queue.add("b")
    queue.close()
    turns.run()
    assert done == []
