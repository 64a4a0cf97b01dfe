"""Wait for the high watermark: acks=all produce, coordinator appends, and markers."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import Pace
from eosctl.wire.error_codes import ErrorCode

Completed = Callable[[ErrorCode], None]
SWEEP_INTERVAL_MS: Final = 50


class ReplicationWait:
    """An append that waits until its `offset` is below the high watermark."""

    __slots__ = ("_done", "deadline", "offset")

    def __init__(self, offset: int, deadline: float, done: Completed) -> None:
        self.offset = offset
        self.deadline = deadline
        self._done: Completed | None = done

    @property
    def is_over(self) -> bool:
        """Return whether the wait has completed."""
        return self._done is None

    def complete(self, error: ErrorCode) -> None:
        """Complete the wait; only the first call has an effect."""
        done = self._done
        if done is not None:
            self._done = None
            done(error)


class Deadlines:
    """Expires waits with REQUEST_TIMED_OUT, with a single timer.

    Most waits complete in the turn in which they start; they are dropped in the next turn to save memory. The others
    are sorted at the next sweep.
    """

    def __init__(self, runtime: NodeRuntime) -> None:
        self._runtime = runtime
        self._fresh: list[ReplicationWait] = []  # Added since the last sweep.
        self._heap: list[tuple[float, int, ReplicationWait]] = []
        self._count = 0
        self._armed = False

    def add(self, wait: ReplicationWait) -> None:
        """Expire a wait at its deadline unless it completes before."""
        fresh = self._fresh
        while fresh and fresh[-1].is_over:
            fresh.pop()
        fresh.append(wait)
        if not self._armed:
            self._armed = True
            self._runtime.call_later(SWEEP_INTERVAL_MS, self._sweep, Pace.HOLD)

    def _sweep(self) -> None:
        now = self._runtime.loop.time()
        heap = self._heap
        fresh, self._fresh = self._fresh, []
        for wait in fresh:
            if not wait.is_over:
                self._count += 1
                heappush(heap, (wait.deadline, self._count, wait))
        while heap and (heap[0][2].is_over or heap[0][0] <= now):
            heappop(heap)[2].complete(ErrorCode.REQUEST_TIMED_OUT)
        self._armed = bool(heap or self._fresh)
        if self._armed:
            self._runtime.call_later(SWEEP_INTERVAL_MS, self._sweep, Pace.HOLD)
