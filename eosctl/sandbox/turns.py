"""Work that takes several turns of the event loop, so that other clients are served in between.

A broker of Kafka serves other clients with its other request handler threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from eosctl.sandbox.ports import Runtime

Item = TypeVar("Item")
Key = TypeVar("Key")
Result = TypeVar("Result")

SLICE: Final = 500
"""Entries of one turn, which take some 10 ms."""

Wait = Callable[[Callable[[], None]], None]
"""Runs what it is given in a turn after something has happened elsewhere."""

Background = Callable[[Callable[[], Result]], Generator[Wait | None, None, Result]]
"""Computes a value, in another thread if the loop has some; the steps before its end wait for it."""


def in_turns(runtime: Runtime, steps: Iterator[Wait | None]) -> None:
    """Take the first step of some work, and each following one in a turn of its own, or after what a step waits for."""
    for wait in steps:
        following = partial(in_turns, runtime, steps)
        if wait is None:
            runtime.call_later(0, following)
        else:
            wait(following)
        return


def in_place(work: Callable[[], Result]) -> Generator[Wait | None, None, Result]:
    """Compute a value in this turn."""
    yield from ()  # A generator without a step.
    return work()


def in_slices(items: Iterable[Item]) -> Generator[None, None, list[Item]]:
    """Return the items as a list, after a step for each slice."""
    found: list[Item] = []
    for item in items:
        if found and len(found) % SLICE == 0:
            yield
        found.append(item)
    return found


class TurnQueue(Generic[Item]):
    """Items taken in order, each in as many turns as `take` has steps. The first step of an item does not wait."""

    def __init__(self, runtime: Runtime, take: Callable[[Item], Iterator[None]]) -> None:
        self._runtime = runtime
        self._take = take
        self._items: deque[Item] = deque()
        self._is_taking = False
        self._is_closed = False

    def add(self, item: Item) -> None:
        """Take an item now, or after those before it."""
        self._items.append(item)
        if not self._is_taking:
            in_turns(self._runtime, self._steps())

    def close(self) -> None:
        """Take no further step of any item."""
        self._is_closed = True
        self._items.clear()

    def _steps(self) -> Iterator[None]:
        self._is_taking = True
        try:
            while self._items:
                for _ in self._take(self._items.popleft()):
                    yield
                    if self._is_closed:
                        return
        finally:
            self._is_taking = False
            if self._items:  # An item has failed.
                self._runtime.call_later(0, partial(in_turns, self._runtime, self._steps()))


def gather(
    runtime: Runtime,
    keys: Sequence[Key],
    ask: Callable[[Key, Callable[[Result], None]], None],
    done: Callable[[list[Result]], None],
) -> None:
    """Call `ask` for each key, a slice per turn, and pass all results to `done` in the order of the keys.

    The operations complete in any order.
    """
    results: dict[int, Result] = {}

    def answered(position: int, result: Result) -> None:
        results[position] = result
        if len(results) == len(keys):
            done([results[index] for index in range(len(keys))])

    def steps() -> Iterator[None]:
        for position, key in enumerate(keys):
            if position and position % SLICE == 0:
                yield
            ask(key, partial(answered, position))

    if not keys:
        done([])
    in_turns(runtime, steps())
