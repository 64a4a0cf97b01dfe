"""Run the calls of a server in threads of their own, each with a deadline: a call that waits stops no other.

A thread cannot be ended. One that is overdue keeps its place among the calls that run together until it returns, and
the threads end with the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from eosctl.errors import EosctlError
from eosctl.text import count_text
from eosctl.waiting_threads import started

#: Calls that run together; the others wait.
CONCURRENT_CALLS: Final = 8
#: The time of a call with its wait for others, in seconds. Logs of several GB take minutes.
CALL_LIMIT_S: Final = 300.0
_STEP: Final = "Pass fewer or smaller files, or run the command in a shell, where it has no limit."
_T = TypeVar("_T")


class Calls(Generic[_T]):
    """The calls of one server that run."""

    def __init__(self, limit_s: float = CALL_LIMIT_S, together: int = CONCURRENT_CALLS) -> None:
        """Set the limit of a call in seconds, and how many run together."""
        self._limit_s = limit_s
        self._together = together
        self._places = asyncio.Semaphore(together)

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return what work returns.

        Raises:
            EosctlError: It has not returned at the deadline, or the calls before it left no place.
        """
        is_running = False
        deadline = asyncio.timeout(self._limit_s)
        try:
            async with deadline:
                await self._places.acquire()
                is_running = True
                return await started(work, self._places.release)
        except TimeoutError:
            if not deadline.expired():
                raise
            limit = f"{self._limit_s:g} seconds"
            if is_running:
                raise EosctlError(
                    f"The call was not done after {limit}.", "A file or a host may block.", _STEP
                ) from None
            raise EosctlError(
                f"The call did not start within {limit}.",
                f"{count_text(self._together, 'call')} before it did not end, and may block.",
                "Restart the server.",
            ) from None
