"""Time, timers, and randomness of a node, over an asyncio-like loop."""

from __future__ import annotations

import random
from asyncio import Future
from collections.abc import Callable, Generator
from functools import partial
from math import ceil
from typing import Any, Final, TypeVar

from eosctl.sandbox.logging.event_log import NO_LOG, EventLog
from eosctl.sandbox.logging.logger_levels import LoggerLevels
from eosctl.sandbox.ticks import Handle, Loop, Ticks
from eosctl.sandbox.timing_wheel import Pace, TimingWheel, WheelTimer
from eosctl.sandbox.turns import Wait

Result = TypeVar("Result")
InThread = Callable[[None, Callable[[], Any]], Future[Any]]
"""`run_in_executor` of an event loop."""

ROUNDING_MS: Final = 1e-3  # Rounding error of seconds times 1000.
LATE_MS: Final = 10  # A timer that fires later than this was delayed by a lack of CPU time or a long turn.


class Timers:
    """The timers of a node: a timing wheel, and one loop timer for its next tick.

    The wheel's tick is 1 ms; a call runs with the first tick at which its delay has elapsed.
    """

    def __init__(self, loop: Loop, ticks: Ticks) -> None:
        self._loop = loop
        self._call_later = getattr(loop, "arm", loop.call_later)
        self._ticks = ticks
        self._wheel = TimingWheel(self._tick())
        self._armed: Handle | None = None
        self._armed_tick = 0
        self.stopped = False
        self.held_up_ms = 0
        self._overdue: list[WheelTimer] | None = None  # Calls without a delay that became due while paused.

    def _tick(self) -> int:
        return int(self._loop.time() * 1000 + ROUNDING_MS)

    def call_later(self, delay_ms: float, call: Callable[[], None], pace: Pace = Pace.ACT) -> WheelTimer:
        """Start a timer; without a delay, the call runs in the loop's next turn."""
        if self.stopped:
            return WheelTimer(0, call)
        if delay_ms <= 0:
            timer = WheelTimer(0, call)
            self._loop.call_later(0, partial(self._fire, timer))
            return timer
        now_ms = self._loop.time() * 1000 + ROUNDING_MS
        due = ceil(now_ms + delay_ms - 2 * ROUNDING_MS)
        timer = self._wheel.add(due, call, int(now_ms), pace)
        if self._overdue is not None:
            return timer
        if self._armed is None or due < self._armed_tick:
            self._arm(due)
        return timer

    def _arm(self, tick: int) -> None:
        if self._armed is not None:
            self._armed.cancel()
        self._armed_tick = tick
        self._armed = self._call_later(max(0.0, tick / 1000 - self._loop.time()), self._advance)

    def _advance(self) -> None:
        self._armed = None
        now = self._tick()
        if now - self._armed_tick > LATE_MS:
            self.held_up_ms += now - self._armed_tick
        for timer in self._wheel.advance(now):
            self._fire(timer)
        following = self._wheel.next_tick()
        if following is not None:
            self._arm(following)

    def _fire(self, timer: WheelTimer) -> None:
        """Post the call as work of a turn, in which other work may still cancel it."""
        if self._overdue is not None:
            self._overdue.append(timer)
        elif not self.stopped:
            self._ticks.post(partial(self._run, timer))

    def _run(self, timer: WheelTimer) -> None:
        if not self.stopped:  # The node may have stopped since the timer fired, and its logs are closed.
            timer.run()

    def pause(self) -> None:
        """Stop firing timers until `resume`, while time advances."""
        if self._overdue is None:
            self._overdue = []
            self._disarm()

    def resume(self) -> None:
        """Resume and fire the expired timers."""
        overdue, self._overdue = self._overdue, None
        for timer in overdue or ():
            self._fire(timer)
        following = self._wheel.next_tick()
        if following is not None and not self.stopped:
            self._arm(max(following, self._tick()))

    def next_due(self) -> float:
        """Return the earliest loop time at which a timer may fire; infinity without timers."""
        following = None if self.stopped or self._overdue is not None else self._wheel.next_tick()
        return float("inf") if following is None else following / 1000

    def next_act(self) -> float:
        """Return the loop time of the first timer that acts; 0 if no time can be skipped."""
        if self.stopped:
            return float("inf")
        pending = tuple(self._wheel.timers())
        if self._overdue is not None or any(timer.pace is Pace.HOLD for timer in pending):
            return 0.0
        return min((timer.due / 1000 for timer in pending if timer.pace is Pace.ACT), default=float("inf"))

    def hasten(self, duration_ms: int) -> None:
        """Wait for a shorter time, since the wall clock skipped some; messages that keep nodes alive wait as before."""
        self._wheel.hasten(duration_ms)

    def catch_up(self) -> None:
        """Fire the due timers after the loop's time has jumped."""
        if not self.stopped and self._overdue is None:
            self._disarm()
            self._armed_tick = self._tick()
            self._advance()

    def _disarm(self) -> None:
        if self._armed is not None:
            self._armed.cancel()
            self._armed = None

    def stop(self) -> None:
        """Cancel every timer and start no new one."""
        self.stopped = True
        self._wheel.clear()
        self._disarm()


class NodeRuntime:
    """A node's clock, timers, and random source.

    `wall_base_ms` is the wall clock (ms since the epoch) at the loop's time 0. `skew_ms` is added for this node alone
    and may change while the node runs. `log` receives the node's log lines; `loggers` has their levels. `work_ns` is a
    clock for the time that work takes, which is none in a simulation. `token_bytes` gives nonces and salts, which
    nothing sent before reveals, but in a simulation. A simulation has no threads, whose order is never the same.
    """

    def __init__(self, loop: Loop, ticks: Ticks, wall_base_ms: float, seed: int = 0) -> None:
        self.loop = loop
        self._time: Callable[[], float] = getattr(loop, "wall", loop.time)
        self.ticks = ticks
        self.random = random.Random(seed)
        self.timers = Timers(loop, ticks)
        self.wall_base_ms = wall_base_ms
        self.skew_ms = 0.0
        self.log: EventLog = NO_LOG
        self.loggers = LoggerLevels()
        self.work_ns: Callable[[], int] = getattr(loop, "work_ns", _take_no_time)
        self.token_bytes: Callable[[int], bytes] = getattr(loop, "token_bytes", self.random.randbytes)
        self.in_thread: InThread | None = getattr(loop, "in_thread", None)
        self.stopped = False

    def now_ms(self) -> int:
        """Return this node's wall clock in milliseconds since the epoch."""
        return int(self._time() * 1000 + self.wall_base_ms + self.skew_ms)

    def elapsed_ms(self) -> int:
        """Return monotonic milliseconds, including time that the clock skipped (see `clock.advance`)."""
        return int(self._time() * 1000)

    def runnable_ms(self) -> int:
        """Return the monotonic milliseconds in which this node could run, excluding the delays of its timers.

        All nodes of a sandbox share a process. Timeouts that use this clock do not expire when the whole process was
        stalled.
        """
        return int(self.loop.time() * 1000) - self.timers.held_up_ms

    def call_later(self, delay_ms: float, call: Callable[[], None], pace: Pace = Pace.ACT) -> WheelTimer:
        """Run `call` after `delay_ms` unless the node stops or the timer is cancelled first."""
        return self.timers.call_later(delay_ms, call, pace)

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run `call` in this turn, after all work posted so far, unless the node stops first."""
        self.ticks.post(partial(self._run, call))

    def _run(self, call: Callable[[], None]) -> None:
        if not self.stopped:
            call()

    def compute(self, work: Callable[[], Result]) -> Generator[Wait | None, None, Result]:
        """Compute a value in another thread, and wait for it; in a simulation, compute it in this turn."""
        if self.in_thread is None:
            return work()
        future = self.in_thread(None, work)
        yield lambda call: future.add_done_callback(lambda _: self.call_later(0, call))
        result: Result = future.result()
        return result

    def call_at_lull(self, call: Callable[[], None]) -> None:
        """Run `call` in this turn once no other work is left, including work that is posted meanwhile."""
        self.ticks.at_lull(call)

    def stop(self) -> None:
        """Cancel every timer of this node and accept no new one."""
        self.stopped = True
        self.timers.stop()


def _take_no_time() -> int:
    """Return the same time always."""
    return 0
