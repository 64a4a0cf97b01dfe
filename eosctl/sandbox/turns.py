"""Work that takes several turns of the event loop, so that other clients are served in between.

A broker of Kafka serves other clients with its other request handler threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeVar

from eosctl.sandbox.ports import Runtime

Key = TypeVar("Key")
Result = TypeVar("Result")

SLICE: Final = 500
"""Entries of one turn, which take some 10 ms."""


def in_turns(runtime: Runtime, steps: Iterator[None]) -> None:
    """Take the first step of some work, and each following one in a turn of its own."""
    for _ in steps:
        runtime.call_later(0, partial(in_turns, runtime, steps))
        return


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
