"""An asyncio event loop on virtual time, reproducible by seed.

The loop has no selector, no threads, and no clock. Time stands still while a callback is ready, and jumps to the next
timer otherwise. Coroutines with in-memory transports run on it unchanged.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

NANOSECONDS = 1_000_000_000
TURN_LIMIT = 1_000_000


class VirtualDeadlock(RuntimeError):  # noqa: N818
    """Nothing is ready and no timer is scheduled, but a coroutine still waits."""


class VirtualStall(RuntimeError):  # noqa: N818
    """Callbacks schedule each other without any passing of time."""


class _Timer(asyncio.TimerHandle):
    """A timer; asyncio reports its cancellation to the loop because of `_scheduled`."""

    _scheduled: bool


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop with a `time` that jumps from timer to timer.

    The order is a function of program and seed:

    * Ready callbacks run first in, first out, as in every asyncio loop.
    * Timers created at the same time for the same time keep their order, so equal delays never reorder a link.
    * The order of timers created at different times for the same time depends on the seed.
    * Tasks and futures hash by serial number, so asyncio's sets of them iterate in the same order in every run.

    Programs must not depend on the order of sets of strings, which changes with `PYTHONHASHSEED`.

    Times are integer nanoseconds internally, so that sums of delays never round two times to one.
    """

    _ready: deque[asyncio.Handle]
    _stopping: bool

    def __init__(self, seed: int = 0, *, turn_limit: int = TURN_LIMIT) -> None:
        """Start at time 0.

        Args:
            seed: Determines the order of simultaneous timers.
            turn_limit: Number of turns without any passing of time after which the run counts as stalled.
        """
        super().__init__()
        self._now_ns = 0
        self._timers: list[tuple[int, float, int, _Timer]] = []
        self._cancelled_count = 0
        self._serials = itertools.count()
        self._chance = random.Random(seed)
        self._instant_rank = self._chance.random()
        self._turn_limit = turn_limit
        self._turns = 0
        self.set_task_factory(self._create_numbered_task)

    def time(self) -> float:
        """Return the virtual time in seconds since the loop was created."""
        return self._now_ns / NANOSECONDS

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run `callback` after `delay` virtual seconds."""
        return self._schedule(self._now_ns + round(delay * NANOSECONDS), callback, args, context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Run `callback` at the virtual time `when`, in seconds as `time` counts them."""
        return self._schedule(round(when * NANOSECONDS), callback, args, context)

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future with a hash that does not depend on its address."""
        return _NumberedFuture(next(self._serials), loop=self)

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Raise RuntimeError: the end of a thread is not determined by the seed.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError(f"{func!r} wants a thread; a simulation has none")

    def _schedule(
        self, when_ns: int, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None
    ) -> asyncio.TimerHandle:
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        timer = _Timer(when_ns / NANOSECONDS, callback, args, self, context)
        timer._scheduled = True
        if self._cancelled_count > max(100, len(self._timers) // 2):
            self._drop_cancelled()
        heapq.heappush(self._timers, (when_ns, self._instant_rank, next(self._serials), timer))
        return timer

    def _drop_cancelled(self) -> None:
        """Remove cancelled timers: request timeouts are usually cancelled long before they expire."""
        self._timers = [entry for entry in self._timers if not entry[3].cancelled()]
        heapq.heapify(self._timers)
        self._cancelled_count = 0

    def _pop_timer(self) -> _Timer:
        timer = heapq.heappop(self._timers)[3]
        timer._scheduled = False
        self._cancelled_count -= timer.cancelled()
        return timer

    def _run_once(self) -> None:
        """Run the ready callbacks; without any, advance to the next timer first (called by `run_forever`)."""
        if not self._ready and not self._stopping:
            self._advance()
        while self._timers and self._timers[0][0] <= self._now_ns:
            self._ready.append(self._pop_timer())
        self._turns += 1
        if self._turns > self._turn_limit:
            self._turns = 0  # Cancelled tasks can still clean up.
            raise VirtualStall(f"{self._turn_limit} turns at {self.time()} s without any passing of time")
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()

    def _advance(self) -> None:
        while self._timers and self._timers[0][3].cancelled():
            self._pop_timer()
        if not self._timers:
            raise VirtualDeadlock(self._describe_deadlock())
        due_ns = self._timers[0][0]
        if due_ns > self._now_ns:
            self._now_ns = due_ns
            self._instant_rank = self._chance.random()
            self._turns = 0

    def _describe_deadlock(self) -> str:
        waiting = sorted(f"{task.get_name()} at {_suspended_at(task.get_coro())}" for task in asyncio.all_tasks(self))
        return f"at {self.time()} s nothing is ready and no timer is set, while these wait: " + "; ".join(waiting)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Count a cancelled timer (called by `asyncio.TimerHandle.cancel`)."""
        self._cancelled_count += 1

    def _write_to_self(self) -> None:
        """Do nothing (called by `call_soon_threadsafe`): this loop never sleeps."""

    def _create_numbered_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        **options: Any,
    ) -> asyncio.Task[T]:
        return _NumberedTask(next(self._serials), coro, loop=loop, **options)


class _NumberedTask(asyncio.Task[T]):
    """A task that hashes by serial number."""

    def __init__(self, serial: int, coro: Any, **options: Any) -> None:
        self._serial = serial  # Before the base class adds the task to its sets.
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self._serial

    def __eq__(self, other: object) -> bool:
        return self is other


class _NumberedFuture(asyncio.Future[T]):
    """A future that hashes by serial number."""

    def __init__(self, serial: int, *, loop: asyncio.AbstractEventLoop) -> None:
        self._serial = serial
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._serial

    def __eq__(self, other: object) -> bool:
        return self is other


def run_virtual(main: Coroutine[Any, Any, T], seed: int = 0) -> T:
    """Run a coroutine on a new virtual loop, then cancel its remaining tasks.

    Args:
        main: The coroutine.
        seed: Determines the order of simultaneous timers.

    Returns:
        The result of `main`.

    Raises:
        VirtualDeadlock: `main` waits for something that can no longer happen.
        VirtualStall: Callbacks schedule each other without any passing of time.
    """
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(seed)) as runner:
        return runner.run(main)


def _suspended_at(coro: Any) -> str:
    """Return the innermost line at which a coroutine is suspended."""
    place = repr(coro)
    while coro is not None and (frame := getattr(coro, "cr_frame", None)) is not None:
        place = f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
        coro = coro.cr_await
    return place
