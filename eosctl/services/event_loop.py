"""Run asynchronous work from synchronous code, also in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to the end, and return the result; where an event loop runs already, as in a notebook, on another thread."""
    results: list[T] = []

    # The task returns nothing: asyncio.run, while it restores the signal handler, has every result printed by repr().
    async def keep_result() -> None:
        results.append(await work())

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(keep_result())
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(keep_result())).result()
    return results[0]
