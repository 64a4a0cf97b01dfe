"""A hierarchical timing wheel (Kafka's `SystemTimer` and `TimingWheel`): constant cost to start and cancel timers.

A wheel is a ring of buckets, one per tick. Timers beyond its span wait in a coarser wheel whose tick is that span, and
move down when their bucket expires. Only non-empty buckets are ordered by time, in a heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum
from heapq import heappop, heappush
from typing import Final

WHEEL_SIZE: Final = 20  # The wheel size of Kafka, like the tick of 1 ms that the sandbox uses.


class Pace(IntEnum):
    """How a timer behaves when the clock skips a time in which nothing happens (`clock.advance`).

    - `ACT`: nothing is skipped beyond it.
    - `SCAN`: a periodic check; one that expires in the skipped time runs once, after it.
    - `KEEP_ALIVE`: a message between nodes that repeats while nothing happens; it has as long to wait as before.
    - `HOLD`: something is in flight that the clock must not skip.
    """

    ACT = 0
    SCAN = 1
    KEEP_ALIVE = 2
    HOLD = 3


class WheelTimer:
    """A call due at a tick; `call` is None once it has run or was cancelled."""

    __slots__ = ("bucket", "call", "due", "pace", "serial")

    def __init__(self, due: int, call: Callable[[], None], pace: Pace = Pace.ACT) -> None:
        self.pace = pace
        self.due = due
        self.call: Callable[[], None] | None = call
        self.serial = 0
        self.bucket: dict[WheelTimer, None] | None = None

    @property
    def is_pending(self) -> bool:
        """Return whether the call has neither run nor been cancelled."""
        return self.call is not None

    def run(self) -> None:
        """Run the call unless it has run or was cancelled."""
        call, self.call = self.call, None
        if call is not None:
            call()

    def cancel(self) -> None:
        """Cancel the call; no effect after it has run."""
        self.call = None
        bucket = self.bucket
        if bucket is not None:
            self.bucket = None
            del bucket[self]


class _Wheel:
    """A ring of buckets. `starts` is the tick for which each bucket is in the heap, -1 for none."""

    __slots__ = ("buckets", "span", "starts", "tick")

    def __init__(self, tick: int, size: int) -> None:
        self.tick = tick
        self.span = tick * size
        self.buckets: list[dict[WheelTimer, None]] = [{} for _ in range(size)]
        self.starts = [-1] * size


class TimingWheel:
    """Timers by tick. The caller passes the time, which never decreases."""

    __slots__ = ("_heap", "_now", "_serial", "_size", "_wheels")

    def __init__(self, now: int = 0, size: int = WHEEL_SIZE) -> None:
        self._now = now
        self._size = size
        self._serial = 0
        self._wheels = [_Wheel(1, size)]
        self._heap: list[tuple[int, int, int]] = []  # Non-empty buckets by their first tick: (tick, wheel, index).

    def add(self, due: int, call: Callable[[], None], now: int, pace: Pace = Pace.ACT) -> WheelTimer:
        """Start a timer; one that has already expired fires with the next tick."""
        heap = self._heap
        if now > self._now and (not heap or heap[0][0] > now):
            self._now = now
        timer = WheelTimer(due, call, pace)
        self._serial = timer.serial = self._serial + 1
        if due <= self._now:
            self._put(timer, 0, self._now + 1)
        else:
            self._place(timer, due)
        return timer

    def _place(self, timer: WheelTimer, due: int) -> None:
        """Add a timer to the finest wheel whose span covers it."""
        now, wheels, level = self._now, self._wheels, 0
        while due >= now - now % wheels[level].tick + wheels[level].span:
            level += 1
            if level == len(wheels):
                wheels.append(_Wheel(wheels[-1].span, self._size))
        self._put(timer, level, due)

    def _put(self, timer: WheelTimer, level: int, due: int) -> None:
        wheel = self._wheels[level]
        slot = due // wheel.tick
        index = slot % self._size
        timer.bucket = bucket = wheel.buckets[index]
        bucket[timer] = None
        start = slot * wheel.tick
        if wheel.starts[index] != start:
            wheel.starts[index] = start
            heappush(self._heap, (start, level, index))

    def advance(self, now: int) -> list[WheelTimer]:
        """Advance to `now`; return the due timers by time, then by start order."""
        due: list[WheelTimer] = []
        heap = self._heap
        while heap and heap[0][0] <= now:
            self._now, level, index = heappop(heap)
            wheel = self._wheels[level]
            wheel.starts[index] = -1
            bucket = wheel.buckets[index]
            if not bucket:
                continue
            timers = list(bucket)
            bucket.clear()
            for timer in timers:
                if timer.due <= now:
                    timer.bucket = None
                    due.append(timer)
                else:
                    self._place(timer, timer.due)
        self._now = max(self._now, now)
        if len(due) > 1:
            due.sort(key=_order)
        return due

    def next_tick(self) -> int | None:
        """Return the tick of the next bucket that holds a timer, before which `advance` has nothing to do; or None."""
        heap = self._heap
        while heap:
            start, level, index = heap[0]
            if self._wheels[level].buckets[index]:
                return start
            heappop(heap)
            self._wheels[level].starts[index] = -1
        return None

    def timers(self) -> Iterator[WheelTimer]:
        """Iterate over all pending timers."""
        return (timer for wheel in self._wheels for bucket in wheel.buckets for timer in bucket)

    def hasten(self, duration: int) -> None:
        """Let all timers but those of `KEEP_ALIVE` expire earlier; those that have expired fire with the next tick."""
        for timer in sorted((one for one in self.timers() if one.pace is not Pace.KEEP_ALIVE), key=_order):
            if timer.bucket is not None:
                del timer.bucket[timer]
            timer.due = max(self._now + 1, timer.due - duration)
            self._place(timer, timer.due)

    def clear(self) -> None:
        """Cancel every timer."""
        for wheel in self._wheels:
            for bucket in wheel.buckets:
                for timer in tuple(bucket):
                    timer.cancel()
        self._heap.clear()
        self._wheels = [_Wheel(1, self._size)]


def _order(timer: WheelTimer) -> tuple[int, int]:
    return timer.due, timer.serial
