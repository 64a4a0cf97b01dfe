"""One turn of the event loop: work in order of arrival, then flushes, then responses to the sockets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

Call = Callable[[], None]


class Handle(Protocol):
    """A scheduled call, as an event loop returns it."""

    def cancel(self) -> None:
        """Cancel the call."""


class Loop(Protocol):
    """The part of an asyncio event loop that the sandbox uses (real, uvloop or virtual)."""

    def time(self) -> float:
        """Return monotonic seconds."""

    def call_soon(self, callback: Callable[..., object], *args: Any) -> Handle:
        """Schedule `callback` for the next turn."""

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Handle:
        """Schedule `callback` in `delay` seconds."""


class Ticks:
    """Runs posted calls without recursion and batches the end of a turn.

    A turn has four phases; each starts when the phases before it have no calls left: calls of `post`, calls of
    `at_lull` (waiting fetches check for new records), calls of `at_flush` (logs are written to their files), and calls
    of `at_write` (sockets). So a response is sent only after the bytes it refers to are in the page cache, and a turn
    costs one write per log and per connection.

    Attributes:
        turn: The number of turns so far.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._work: deque[Call] = deque()
        self._lull: list[Call] = []
        self._flushes: list[Call] = []
        self._writes: list[Call] = []
        self._flush_count = 0
        self._scheduled = False
        self.turn = 0

    def post(self, call: Call) -> None:
        """Run `call` in this turn, after everything posted before it."""
        self._work.append(call)
        if not self._scheduled:
            self.schedule()

    def post_settled(self, call: Call) -> None:
        """Run `call` as `post` does, once everything appended so far is in the page cache.

        A node writes to one log because of the content of another: markers after the decision, the end of a transaction
        after its markers. Without this order, a kill between the writes of one turn could leave the second without the
        first.
        """
        if self._flushes:
            call = partial(self._settle, self._flush_count, call)
        self.post(call)

    def _settle(self, flush_count: int, call: Call) -> None:
        try:
            if self._flushes and flush_count == self._flush_count:
                self._flush()
        finally:
            call()

    def _flush(self) -> None:
        self._flush_count += 1
        _run_each(self._flushes)

    def at_lull(self, call: Call) -> None:
        """Run `call` in this turn once no posted call is left."""
        self._lull.append(call)
        if not self._scheduled:
            self.schedule()

    def at_flush(self, call: Call) -> None:
        """Run `call` once this turn's work is done."""
        self._flushes.append(call)
        if not self._scheduled:
            self.schedule()

    def at_write(self, call: Call) -> None:
        """Run `call` after this turn's flushes."""
        self._writes.append(call)
        if not self._scheduled:
            self.schedule()

    def schedule(self) -> None:
        """Schedule a turn unless one is scheduled."""
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self.run)

    def run(self) -> None:
        """Run a whole turn. A failing call is reported by the loop and does not affect other calls."""
        self.turn += 1
        self._scheduled = True  # Calls posted from here on belong to this turn.
        work = self._work
        try:
            while True:
                while work:
                    work.popleft()()
                if self._lull:
                    work.extend(self._lull)
                    self._lull.clear()
                elif self._flushes:
                    self._flush()
                elif self._writes:
                    _run_each(self._writes)
                else:
                    break
        finally:
            self._scheduled = False
            if work or self._lull or self._flushes or self._writes:
                self.schedule()


def _run_each(calls: list[Call]) -> None:
    while calls:
        calls.pop()()
