"""The clock of a live cluster. It can be set forward; the timers due in between fire in order."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from eosctl.sandbox.runtime import InThread, Timers
from eosctl.sandbox.ticks import Handle, Loop, Ticks

_STEPS_IN_A_ROW: Final = 100
#: Periodic checks run at least this often.
LONGEST_SKIP_S: Final = 300.0
TICK_S: Final = 1e-3
_SHORTEST_SKIP_MS: Final = 500
#: The longest time of one command of the control socket, in ms: the caller asks again for more, or stops.
LONGEST_ADVANCE_MS: Final = 3_600_000
#: The time in which nodes react to a skip before the next one, and after which a refused skip is tried again.
_SETTLE_S: Final = 0.01
_RETRY_S: Final = 0.25


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

    def __init__(
        self,
        loop: Loop,
        work_ns: Callable[[], int] = time.perf_counter_ns,
        token_bytes: Callable[[int], bytes] = secrets.token_bytes,
        in_thread: InThread | None = None,
    ) -> None:
        self._loop = loop
        self.work_ns = work_ns  # A clock for the time that work takes.
        self.token_bytes = token_bytes  # What only this process may foresee, such as the nonces of a login.
        self.in_thread = in_thread  # Runs what no turn can interrupt; None in a simulation.
        self._loop_time = loop.time
        self._ahead_s = 0.0
        self._skipped_s = 0.0
        self._entries: list[tuple[float, int, _Entry]] = []
        self._serial = itertools.count()
        self.call_soon = loop.call_soon
        self.arm = loop.call_later

    def time(self) -> float:
        """Return monotonic seconds plus the skipped time."""
        return self._loop_time() + self._ahead_s

    def wall(self) -> float:
        """Return the time from which wall clocks are derived: the time of timers plus what `skip` added."""
        return self._loop_time() + self._ahead_s + self._skipped_s

    def skip(self, duration: float) -> None:
        """Set the wall clocks forward; timers do not notice."""
        self._skipped_s += duration

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


def bounded_advance_ms(given: str | float) -> float:
    """Return the time of a command of the control socket, in ms.

    Raises:
        ValueError: It is negative, no number, or beyond `LONGEST_ADVANCE_MS`.
    """
    duration_ms = float(given)
    if not 0 <= duration_ms <= LONGEST_ADVANCE_MS:
        raise ValueError(f"ms is 0 to {LONGEST_ADVANCE_MS}, not {duration_ms:g}")
    return duration_ms


async def advance(
    clock: AdjustableClock,
    ticks: Ticks,
    timers: Callable[[], Iterable[Timers]],
    duration_ms: float,
    calm_until: Callable[[], float] = lambda: 0.0,
) -> int:
    """Advance the clock from one due timer to the next, serving clients in between.

    A time in which nothing happens is skipped: the wall clocks are set forward, and timers that act wait for a shorter
    time. Heartbeats and other messages that only show that a node lives continue as if that time had not passed.

    Args:
        clock: The cluster's clock.
        ticks: The cluster's turn scheduler.
        timers: Returns the timers of the running nodes, which may change on the way.
        duration_ms: Time to advance, in milliseconds.
        calm_until: Returns the time of `AdjustableClock.wall` until which nothing happens but what timers do.

    Returns:
        The number of steps.
    """
    end = clock.wall() + duration_ms / 1000
    settled_at = clock.time() + _SETTLE_S
    for step in itertools.count():
        if clock.time() >= settled_at:
            settled_at = clock.time() + (_SETTLE_S if _skip(clock, timers, end, calm_until()) else _RETRY_S)
        due = min((clock.next_due(), *(each.next_due() for each in timers())))
        last = clock.time() + end - clock.wall()
        now = min(due, last)
        clock.jump(now)
        for each in timers():
            if now == last or each.next_due() <= now:
                each.catch_up()  # Arm all timers again at the end, since they were armed for the time before.
        ticks.run()
        if due > last:
            return step
        if step % _STEPS_IN_A_ROW == 0:
            await asyncio.sleep(0)
    raise AssertionError("unreachable")


def _skip(clock: AdjustableClock, timers: Callable[[], Iterable[Timers]], end: float, calm_until: float) -> bool:
    """Skip the time until something happens; return whether there was some."""
    if clock.next_due() != float("inf"):
        return False
    acts = min((each.next_act() for each in timers()), default=float("inf")) - clock.time()
    # A timer expires with the next tick at the earliest.
    duration_ms = int(1000 * min(acts - TICK_S, end - clock.wall(), calm_until - clock.wall(), LONGEST_SKIP_S))
    if duration_ms < _SHORTEST_SKIP_MS:
        return False
    clock.skip(duration_ms / 1000)
    for each in timers():
        each.hasten(duration_ms)
    return True
