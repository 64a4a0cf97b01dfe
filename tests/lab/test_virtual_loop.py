"""Virtual time passes instantly, in an order that only the seed decides, and never silently stops."""

from __future__ import annotations

import asyncio
import time
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.lab.virtual_loop import VirtualDeadlock, VirtualLoop, VirtualStall, run_virtual


async def run_timers(count: int, horizon_s: int) -> list[tuple[float, int]]:
    """Let many tasks wait for pseudo-random instants and report when each woke."""
    woken: list[tuple[float, int]] = []

    async def wait(index: int) -> None:
        await asyncio.sleep(index * 7919 % (horizon_s + 1))
        woken.append((asyncio.get_running_loop().time(), index))

    async with asyncio.TaskGroup() as group:
        for index in range(count):
            group.create_task(wait(index))
    return woken


def test_ten_thousand_timers_over_ten_minutes_take_no_real_time() -> None:
    began = time.process_time()
    woken = run_virtual(run_timers(10_000, 600))
    assert time.process_time() - began < 5  # measured 0.3 s; the bound only distinguishes virtual from real time
    assert len(woken) == 10_000
    assert [at for at, _ in woken] == sorted(at for at, _ in woken)
    assert all(at == index * 7919 % 601 for at, index in woken)


def test_the_order_depends_on_the_seed_alone() -> None:
    def order(seed: int) -> list[int]:
        woken: list[int] = []

        async def wait(index: int) -> None:
            await asyncio.sleep(index)  # a different instant of registration for each
            await asyncio.sleep(100 - index)  # and one coincidence of all of them
            woken.append(index)

        async def main() -> None:
            await asyncio.gather(*(wait(index) for index in range(20)))

        run_virtual(main(), seed)
        return woken

    assert order(1) == order(1)
    assert sorted(order(1)) == list(range(20))
    assert len({tuple(order(seed)) for seed in range(5)}) == 5


@given(seed=st.integers(0, 2**32), delays=st.lists(st.integers(0, 3), max_size=30))
def test_timers_of_one_instant_keep_their_order(seed: int, delays: list[int]) -> None:
    async def main() -> list[tuple[int, int]]:
        fired: list[tuple[int, int]] = []
        loop = asyncio.get_running_loop()
        for index, delay in enumerate(delays):
            loop.call_later(delay, fired.append, (delay, index))
        await asyncio.sleep(4)
        return fired

    assert run_virtual(main(), seed) == sorted((delay, index) for index, delay in enumerate(delays))


@given(st.lists(st.floats(0, 1e-3, allow_nan=False), min_size=1, max_size=50))
def test_equal_delays_started_later_never_overtake(steps: list[float]) -> None:
    async def main() -> list[int]:
        fired: list[int] = []
        for index, step in enumerate(steps):
            asyncio.get_running_loop().call_later(1.1, fired.append, index)
            await asyncio.sleep(step)
        await asyncio.sleep(2)
        return fired

    assert run_virtual(main()) == list(range(len(steps)))


def test_due_timers_run_although_callbacks_stay_ready() -> None:
    async def main() -> int:
        loop = asyncio.get_running_loop()
        fired = loop.create_future()
        loop.call_later(0, fired.set_result, None)
        turns = 0
        while not fired.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert run_virtual(main()) < 5


def test_a_cancelled_timer_neither_fires_nor_moves_time() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(500, pytest.fail, "a cancelled timer fired").cancel()
        await asyncio.sleep(1)
        return loop.time()

    assert run_virtual(main()) == 1.0


def test_cancelled_timers_are_dropped_long_before_they_expire() -> None:
    async def main() -> bool:
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(30, pytest.fail, "a cancelled timer fired") for _ in range(10_000)]
        for timer in timers:
            timer.cancel()
        alive = weakref.ref(timers[-1])
        del timers, timer
        loop.call_later(1, int)
        await asyncio.sleep(2)
        return alive() is not None

    assert not run_virtual(main())


def test_timeouts_work_and_report_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(900):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 900.0


def test_a_deadlock_names_who_waits_and_where() -> None:
    async def wait_forever() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        waiting = asyncio.create_task(wait_forever(), name="reader")
        await asyncio.sleep(3)
        await waiting

    with pytest.raises(VirtualDeadlock, match=r"at 3\.0 s .*reader at Event.wait"):
        run_virtual(main())


def test_a_stall_is_reported() -> None:
    async def main() -> None:
        while True:
            await asyncio.sleep(0)

    with (
        pytest.raises(VirtualStall, match=r"100 turns at 0\.0 s"),
        asyncio.Runner(loop_factory=lambda: VirtualLoop(turn_limit=100)) as runner,
    ):
        runner.run(main())


def test_progress_resets_the_stall_count() -> None:
    async def main() -> str:
        for _ in range(500):
            await asyncio.sleep(0.001)
        return "done"

    with asyncio.Runner(loop_factory=lambda: VirtualLoop(turn_limit=100)) as runner:
        assert runner.run(main()) == "done"


def test_a_task_group_cancels_in_the_same_order_every_time() -> None:
    def order() -> list[str]:
        cancelled: list[str] = []

        async def wait(name: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(name)

        async def fail() -> None:
            await asyncio.sleep(1)
            raise LookupError

        async def main() -> None:
            async with asyncio.TaskGroup() as group:
                for index in range(30):
                    group.create_task(wait(f"task-{index}"))
                group.create_task(fail())

        with pytest.raises(ExceptionGroup):
            run_virtual(main())
        return cancelled

    ballast: list[list[object]] = []  # moves later tasks to other addresses
    orders = set()
    for size in range(5):
        orders.add(tuple(order()))
        ballast.append([object() for _ in range(1000 * size)])
    assert len(orders) == 1


def test_threads_and_real_sockets_are_refused() -> None:
    async def resolve() -> None:
        await asyncio.get_running_loop().getaddrinfo("localhost", 9092)

    async def to_thread() -> None:
        await asyncio.to_thread(sum, [1])

    for refused in (resolve(), to_thread()):
        with pytest.raises(RuntimeError, match="wants a thread"):
            run_virtual(refused)


def test_what_main_leaves_running_is_cancelled() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.sleep(10**6)
        finally:
            ended.append("cancelled")

    async def main() -> None:
        asyncio.get_running_loop().background = asyncio.create_task(forever())  # type: ignore[attr-defined]
        await asyncio.sleep(1)

    run_virtual(main())
    assert ended == ["cancelled"]


def test_a_closed_loop_takes_no_timers() -> None:
    loop = VirtualLoop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(1, print)
