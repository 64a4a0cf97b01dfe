"""The clock of a live cluster. It can be set forward; the timers due in between fire in order."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable, Iterable
from typing import Any, Final

from eosctl.sandbox.runtime import Timers
from eosctl.sandbox.ticks import Handle, Loop, Ticks

_STEPS_IN_A_ROW: Final = 100


class _Entry:
    """A call scheduled at a time of this clock."""

    __slots__ = ("arguments", "callback", "handle")

    def __init__(self, callback: Callable[..., object], arguments: tuple[Any, ...]) -> None:
        self.callback: Callable[..., object] | None = callback
        self.arguments = arguments
        self.handle: Handle | None = None

    def cancel(self) -> None:
        """Cancel the call."""
        self.callback = None
        if self.handle is not None:
            self.handle.cancel()

    def run(self) -> None:
        """Run the call unless it has run or was cancelled."""
        callback = self.callback
        if callback is not None:
            self.cancel()
            callback(*self.arguments)


class AdjustableClock:
    """An event loop whose time can be ahead of real time by the skipped time.

    Nodes arm their timers through `arm`; timers are armed again after a jump.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._loop_time = loop.time
        self._ahead_s = 0.0
        self._entries: list[tuple[float, int, _Entry]] = []
        self._serial = itertools.count()
        self.call_soon = loop.call_soon
        self.arm = loop.call_later

    def time(self) -> float:
        """Return monotonic seconds plus the skipped time."""
        return self._loop_time() + self._ahead_s

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Handle:
        """Schedule a call in `delay` seconds of this clock."""
        while self._entries and self._entries[0][2].callback is None:
            heapq.heappop(self._entries)
        entry = _Entry(callback, args)
        entry.handle = self._loop.call_later(delay, entry.run)
        heapq.heappush(self._entries, (self.time() + delay, next(self._serial), entry))
        return entry

    def next_due(self) -> float:
        """Return the time of the next scheduled call; infinity without one."""
        while self._entries and self._entries[0][2].callback is None:
            heapq.heappop(self._entries)
        return self._entries[0][0] if self._entries else float("inf")

    def jump(self, to: float) -> None:
        """Set the clock forward and run the calls due by then."""
        self._ahead_s += max(0.0, to - self.time())
        while self.next_due() <= to:
            heapq.heappop(self._entries)[2].run()


async def advance(
    clock: AdjustableClock, ticks: Ticks, timers: Callable[[], Iterable[Timers]], duration_ms: float
) -> int:
    """Advance the clock from one due timer to the next, serving clients in between.

    Args:
        clock: The cluster's clock.
        ticks: The cluster's turn scheduler.
        timers: Returns the timers of the running nodes, which may change on the way.
        duration_ms: Time to advance, in milliseconds.

    Returns:
        The number of steps.
    """
    end = clock.time() + duration_ms / 1000
    for step in itertools.count():
        due = min((clock.next_due(), *(each.next_due() for each in timers())))
        now = min(due, end)
        clock.jump(now)
        for each in timers():
            if now == end or each.next_due() <= now:
                each.catch_up()  # Arm all timers again at the end, since they were armed for the time before.
        ticks.run()
        if due > end:
            return step
        if step % _STEPS_IN_A_ROW == 0:
            await asyncio.sleep(0)
    raise AssertionError("unreachable")
