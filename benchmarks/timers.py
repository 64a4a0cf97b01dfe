"""Measure timers: the sandbox's timing wheel and the event loop's own timers.

    python -m benchmarks.timers

"cancelled" starts a timer of half a second and cancels it after N more were started, as a fetch that waits does;
"fired" starts timers over 300 ms and runs them all. CPU time per timer.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.ticks import Ticks

COUNT = 100_000
START = Callable[[float, Callable[[], None]], "Cancellable"]


class Cancellable(Protocol):
    """A timer."""

    def cancel(self) -> None:
        """Cancel it."""


async def cancelled_us(start: START, pending: int) -> float:
    """Return the CPU time of a timer that is cancelled while `pending` others are active."""
    waiting: deque[Cancellable] = deque()
    begun = time.process_time()
    for number in range(COUNT):
        waiting.append(start(500, _nothing))
        if len(waiting) > pending:
            waiting.popleft().cancel()
        if number % 64 == 0:
            await asyncio.sleep(0)
    for timer in waiting:
        timer.cancel()
    return (time.process_time() - begun) / COUNT * 1e6


async def fired_us(start: START) -> float:
    """Return the CPU time of a fired timer."""
    done, left = asyncio.Event(), COUNT

    def run() -> None:
        nonlocal left
        left -= 1
        if not left:
            done.set()

    begun = time.process_time()
    for number in range(COUNT):
        start(1 + number % 300, run)
    await done.wait()
    return (time.process_time() - begun) / COUNT * 1e6


async def measure(name: str) -> None:
    """Print a line for each kind of timer."""
    loop = asyncio.get_running_loop()
    runtime = NodeRuntime(loop, Ticks(loop), 0)

    def start_on_loop(delay_ms: float, call: Callable[[], None]) -> Cancellable:
        return loop.call_later(delay_ms / 1000, call)

    kinds: dict[str, START] = {"loop": start_on_loop, "wheel": runtime.call_later}
    for kind, start in kinds.items():
        few, many, fired = await cancelled_us(start, 16), await cancelled_us(start, 10_000), await fired_us(start)
        print(f"| {name} | {kind} | {few:.2f} us | {many:.2f} us | {fired:.2f} us |")
    runtime.stop()


def main() -> None:
    """Measure on asyncio's loop, and on uvloop if installed."""
    print("| Loop | Timers | cancelled, 16 wait | cancelled, 10,000 wait | fired |\n|---|---|---|---|---|")
    asyncio.run(measure("asyncio"))
    try:
        import uvloop
    except ImportError:
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure("uvloop"))


def _nothing() -> None:
    """Do nothing when fired."""


if __name__ == "__main__":
    main()
