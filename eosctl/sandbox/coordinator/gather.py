"""Collect the results of several operations that complete in any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

Key = TypeVar("Key")
Result = TypeVar("Result")


def gather(
    keys: Sequence[Key], ask: Callable[[Key, Callable[[Result], None]], None], done: Callable[[list[Result]], None]
) -> None:
    """Call `ask` for each key and pass all results to `done` in the order of the keys."""
    results: dict[int, Result] = {}

    def answered(position: int, result: Result) -> None:
        results[position] = result
        if len(results) == len(keys):
            done([results[index] for index in range(len(keys))])

    if not keys:
        done([])
    for position, key in enumerate(keys):
        ask(key, partial(answered, position))
