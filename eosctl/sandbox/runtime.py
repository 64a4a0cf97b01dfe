"""Time, timers and chance of one node, over any asyncio-like loop."""

from __future__ import annotations

import random
from collections.abc import Callable

from eosctl.sandbox.logging.event_log import NO_LOG, EventLog
from eosctl.sandbox.ticks import Handle, Loop, Ticks


class NodeTimer:
    """A pending call of one node; gone when it ran, was cancelled or its node stopped."""

    __slots__ = ("_call", "_handle", "_runtime")

    def __init__(self, runtime: NodeRuntime, call: Callable[[], None]) -> None:
        self._runtime = runtime
        self._call: Callable[[], None] | None = call
        self._handle: Handle | None = None

    def arm(self, handle: Handle) -> None:
        """Remember the loop's handle so that the timer can be cancelled."""
        self._handle = handle

    def fire(self) -> None:
        """Run the call as work of a turn."""
        self._runtime.timers.discard(self)
        self._runtime.ticks.post(self._run)

    def _run(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()

    def cancel(self) -> None:
        """Drop the call, also when its time has come and other work of the turn is before it; else harmless."""
        self._call = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            self._runtime.timers.discard(self)


class NodeRuntime:
    """What a node knows of the outside: its clock, its timers, its random source.

    ``wall_base_ms`` is the wall clock (ms since the epoch) that corresponds to the loop's time 0; ``skew_ms`` is added
    to it for this node alone and may change while the node runs. ``log`` takes the node's log lines.
    """

    def __init__(self, loop: Loop, ticks: Ticks, wall_base_ms: float, seed: int = 0) -> None:
        self.loop = loop
        self.ticks = ticks
        self.random = random.Random(seed)
        self.timers: set[NodeTimer] = set()
        self.wall_base_ms = wall_base_ms
        self.skew_ms = 0.0
        self.log: EventLog = NO_LOG
        self.stopped = False

    def now_ms(self) -> int:
        """Return this node's wall clock in ms since the epoch."""
        return int(self.loop.time() * 1000 + self.wall_base_ms + self.skew_ms)

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> NodeTimer:
        """Run ``call`` after ``delay_ms`` unless the node stops or the timer is cancelled first."""
        timer = NodeTimer(self, call)
        if not self.stopped:
            timer.arm(self.loop.call_later(max(0.0, delay_ms) / 1000, timer.fire))
            self.timers.add(timer)
        return timer

    def call_soon(self, call: Callable[[], None]) -> None:
        """Run ``call`` in this turn, after all work posted so far."""
        self.ticks.post(call)

    def call_at_lull(self, call: Callable[[], None]) -> None:
        """Run ``call`` in this turn once nothing else is to be done, however much that brings about."""
        self.ticks.at_lull(call)

    def stop(self) -> None:
        """Cancel every timer of this node and accept no new one."""
        self.stopped = True
        for timer in tuple(self.timers):
            timer.cancel()
