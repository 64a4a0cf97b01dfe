"""Time, timers and chance of one node, over any asyncio-like loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Final

from eosctl.sandbox.logging.event_log import NO_LOG, EventLog
from eosctl.sandbox.ticks import Handle, Loop, Ticks
from eosctl.sandbox.timing_wheel import TimingWheel, WheelTimer

ROUNDING_MS: Final = 1e-3  # seconds times 1000 are a whole number of ms but for this much
LATE_MS: Final = 10  # a timer that comes later than this was held up: the process had no processor, or a turn took long


class Timers:
    """The timers of one node: a wheel, and one timer of the loop for its next tick.

    The wheel's tick is 1 ms; a call comes with the first tick at which its delay is over.
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
        self._overdue: list[WheelTimer] | None = None  # while paused: what was due without a delay

    def _tick(self) -> int:
        return int(self._loop.time() * 1000 + ROUNDING_MS)

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> WheelTimer:
        """Start a timer; without a delay it is a call of the loop's next turn."""
        if self.stopped:
            return WheelTimer(0, call)
        if delay_ms <= 0:
            timer = WheelTimer(0, call)
            self._loop.call_later(0, partial(self._fire, timer))
            return timer
        now_ms = self._loop.time() * 1000 + ROUNDING_MS
        due = ceil(now_ms + delay_ms - 2 * ROUNDING_MS)
        timer = self._wheel.add(due, call, int(now_ms))
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
        """Make the call as work of a turn, in which other work may still cancel it."""
        if self._overdue is not None:
            self._overdue.append(timer)
        elif not self.stopped:
            self._ticks.post(partial(self._run, timer))

    def _run(self, timer: WheelTimer) -> None:
        if not self.stopped:  # the node may have gone down since the timer fired: its logs are closed
            timer.run()

    def pause(self) -> None:
        """Let no timer fire until `resume`: the process stands still while time goes on."""
        if self._overdue is None:
            self._overdue = []
            self._disarm()

    def resume(self) -> None:
        """Go on: what has become due meanwhile fires now."""
        overdue, self._overdue = self._overdue, None
        for timer in overdue or ():
            self._fire(timer)
        following = self._wheel.next_tick()
        if following is not None and not self.stopped:
            self._arm(max(following, self._tick()))

    def next_due(self) -> float:
        """Return at which time of the loop the next timer may be due; infinity when none is."""
        following = None if self.stopped or self._overdue is not None else self._wheel.next_tick()
        return float("inf") if following is None else following / 1000

    def catch_up(self) -> None:
        """Fire what is due after the loop's time has jumped."""
        if not self.stopped and self._overdue is None:
            self._disarm()
            self._armed_tick = self._tick()
            self._advance()

    def _disarm(self) -> None:
        if self._armed is not None:
            self._armed.cancel()
            self._armed = None

    def stop(self) -> None:
        """Cancel every timer and start none any more."""
        self.stopped = True
        self._wheel.clear()
        self._disarm()


class NodeRuntime:
    """What a node knows of the outside: its clock, its timers, its random source.

    `wall_base_ms` is the wall clock (ms since the epoch) that corresponds to the loop's time 0; `skew_ms` is added to
    it for this node alone and may change while the node runs. `log` takes the node's log lines.
    """

    def __init__(self, loop: Loop, ticks: Ticks, wall_base_ms: float, seed: int = 0) -> None:
        self.loop = loop
        self._time = loop.time
        self.ticks = ticks
        self.random = random.Random(seed)
        self.timers = Timers(loop, ticks)
        self.wall_base_ms = wall_base_ms
        self.skew_ms = 0.0
        self.log: EventLog = NO_LOG
        self.stopped = False

    def now_ms(self) -> int:
        """Return this node's wall clock in ms since the epoch."""
        return int(self._time() * 1000 + self.wall_base_ms + self.skew_ms)

    def lived_ms(self) -> int:
        """Return the monotonic ms in which this node could run: without those by which its timers came late.

        Nodes of a sandbox share a process. Who measures the silence of others by this clock does not take a moment in
        which none of them ran for the death of all.
        """
        return int(self.loop.time() * 1000) - self.timers.held_up_ms

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> WheelTimer:
        """Run `call` after `delay_ms` unless the node stops or the timer is cancelled first."""
        return self.timers.call_later(delay_ms, call)

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run `call` in this turn, after all work posted so far, unless the node stops first."""
        self.ticks.post(partial(self._run, call))

    def _run(self, call: Callable[[], None]) -> None:
        if not self.stopped:
            call()

    def call_at_lull(self, call: Callable[[], None]) -> None:
        """Run `call` in this turn once nothing else is to be done, however much that brings about."""
        self.ticks.at_lull(call)

    def stop(self) -> None:
        """Cancel every timer of this node and accept no new one."""
        self.stopped = True
        self.timers.stop()
