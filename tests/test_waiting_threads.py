"""What never answers holds up neither its caller nor the end of the process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from eosctl.waiting_threads import started, within

STUCK = """
import asyncio, threading
from eosctl.waiting_threads import started, within
async def give_up():
    async with asyncio.timeout(0.01):
        await started(threading.Event().wait)
for stuck in (lambda: asyncio.run(give_up()), lambda: within(0.01, threading.Event().wait)):
    try:
        stuck()
    except TimeoutError:
        print("gave up")
"""


def fail() -> None:
    raise KeyError("why")


def test_an_outcome_is_that_of_the_work() -> None:
    assert within(60, lambda: 5) == 5
    assert asyncio.run(_awaited(5)) == 5
    with pytest.raises(KeyError, match="why"):
        within(60, fail)


async def _awaited(value: int) -> int:
    with pytest.raises(KeyError, match="why"):
        await started(fail)
    return await started(lambda: value)


def test_a_process_ends_while_its_work_is_stuck() -> None:
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, check=True)
    assert done.stdout == "gave up\n" * 2


def test_the_end_of_overdue_work_is_reported() -> None:
    go_on, returned = threading.Event(), asyncio.Event()

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await started(go_on.wait, returned.set)
        go_on.set()
        await returned.wait()

    asyncio.run(give_up())
