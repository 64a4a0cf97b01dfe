"""Looking at sockets less often when many clients are busy, as network cards moderate their interrupts.

What a turn costs by itself (a look at the sockets, a write to each log, cold caches) is shared by the requests that it
serves. The more clients speak at once, the longer the next look waits after the last, so that more requests share a
turn; a few clients, or many that come slowly, are looked at as soon as they stir.

Among brokers that replicate a turn has rounds of fetches too, which cost the same for one request and for many. All
answers of a turn leave at its end; what clients ask next is given a moment to arrive, so that the next turn serves all
of them and not first the quicker half.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from typing import Final, NamedTuple

FEW: Final = 12  # sockets that never wait: their clients would wait longer than they are served (librdkafka has two)
SHARE_S: Final = 30e-6  # each more lets all wait so much longer, about what its request costs
LONGEST_S: Final = 1e-3
GATHERING_S: Final = 200e-6  # the longest moment after a turn: clients near by have answered by then


class Moderation(NamedTuple):
    """What suits a cluster.

    Attributes:
        window_s: For how long clients are counted; where turns last longer than that, each counts but a part of them.
        gathering: The moment after a turn that is left to a crowd to ask again, as a share of the turn.
    """

    window_s: float
    gathering: float


ONE_BROKER: Final = Moderation(1e-3, 0.0)
REPLICATING: Final = Moderation(5e-3, 0.06)


def pause_s(client_count: int, since_last_s: float) -> float:
    """Return for how many seconds sockets are better left alone; 0 or less: look now.

    Args:
        client_count: How many clients stirred within about a millisecond.
        since_last_s: How long ago the last look was.
    """
    return min((client_count - FEW) * SHARE_S, LONGEST_S) - since_last_s


class ModeratedSelector(selectors.DefaultSelector):
    """The platform's best selector, moderated; `clock` and `sleep` count seconds."""

    def __init__(
        self,
        moderation: Moderation = ONE_BROKER,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__()
        self._window_s, self._gathering = moderation
        self._clock = clock
        self._sleep = sleep
        self._last_look = clock()
        self._client_count = 0  # of the last window
        self._stirred: set[int] = set()  # descriptors, of this window
        self._window_ends_at = self._last_look

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; a caller with other work (`timeout` 0) is told nothing until the moment is over."""
        since_last_s = self._clock() - self._last_look
        pause = pause_s(self._client_count, since_last_s)
        if self._gathering and timeout != 0 and self._client_count > FEW:
            pause = max(pause, min(since_last_s * self._gathering, GATHERING_S))
        if pause > 0:
            if timeout is None:
                self._sleep(pause)
            elif timeout > 0:
                pause = min(pause, timeout)
                self._sleep(pause)
                timeout -= pause
            else:
                return []
        ready = super().select(timeout)
        self._last_look = now = self._clock()
        if now >= self._window_ends_at:
            self._window_ends_at = now + self._window_s
            self._client_count = len(self._stirred)
            self._stirred.clear()
        self._stirred.update([key.fd for key, _ in ready])
        return ready
