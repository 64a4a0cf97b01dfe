"""Calls with a deadline: one that blocks is answered, and the others continue."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from eosctl.errors import EosctlError
from eosctl.servers.calls import Calls

SOON_S = 0.05
NEVER_S = 3_600.0


def after_blocked(work: Callable[[Calls[str], threading.Event], object], limit_s: float, together: int) -> None:
    """Run work in a loop, and end the threads of its calls."""
    released = threading.Event()
    try:
        asyncio.run(work(Calls(limit_s, together), released))  # type: ignore[arg-type]
    finally:
        released.set()


def blocked(released: threading.Event) -> Callable[[], str]:
    return lambda: str(released.wait())


def test_a_call_that_blocks_stops_no_other() -> None:
    async def work(calls: Calls[str], released: threading.Event) -> None:
        first = asyncio.create_task(calls.run(blocked(released)))
        await asyncio.sleep(0)
        assert [await calls.run(lambda: "done") for _ in range(20)] == ["done"] * 20
        assert not first.done()
        released.set()
        assert await first == "True"

    after_blocked(work, NEVER_S, 2)


def test_an_overdue_call_is_answered_and_keeps_its_place() -> None:
    async def work(calls: Calls[str], released: threading.Event) -> None:
        with pytest.raises(EosctlError, match="was not done after"):
            await calls.run(blocked(released))
        with pytest.raises(EosctlError, match="did not start within") as refused:
            await calls.run(lambda: "done")
        assert (f"{SOON_S:g} seconds" in refused.value.what, "1 call before it" in refused.value.why) == (True, True)

    after_blocked(work, SOON_S, 1)


def test_the_place_of_an_overdue_call_is_free_once_it_ends() -> None:
    async def work(calls: Calls[str], released: threading.Event) -> None:
        overdue = asyncio.create_task(calls.run(blocked(released)))
        await asyncio.sleep(0)
        overdue.cancel()
        waiting = asyncio.create_task(calls.run(lambda: "done"))
        await asyncio.sleep(0)
        assert not waiting.done()
        released.set()
        assert await waiting == "done"

    after_blocked(work, NEVER_S, 1)


@pytest.mark.parametrize("error", [TimeoutError("a socket's"), KeyError("x"), SystemExit(3)])
def test_the_error_of_a_call_is_its_answer(error: BaseException) -> None:
    def fail() -> str:
        raise error

    async def work(calls: Calls[str], _: threading.Event) -> None:
        with pytest.raises(type(error)) as raised:
            await calls.run(fail)
        assert raised.value is error
        assert await calls.run(lambda: "done") == "done"

    after_blocked(work, NEVER_S, 1)
