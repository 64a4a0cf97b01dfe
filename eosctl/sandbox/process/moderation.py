"""Poll sockets less often when many clients are busy, similar to interrupt moderation of network cards.

The fixed cost of a turn (polling sockets, a write to each log, cold caches) is shared by all requests of the turn. The
more clients are active, the longer the next poll waits, so that more requests share a turn. With few or slow clients,
sockets are polled immediately.

With replication, a turn also includes rounds of fetches, which cost the same for one request and for many. All
responses of a turn are sent at its end. The selector then waits briefly, so that the next turn serves the next requests
of all clients instead of the fastest half.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from typing import Final, NamedTuple

# Sockets that are always polled immediately; waiting would cost their clients more than it saves (librdkafka has two).
FEW: Final = 12
SHARE_S: Final = 30e-6  # Each additional client extends the wait by about the cost of a request.
LONGEST_S: Final = 1e-3
GATHERING_S: Final = 200e-6  # The longest wait after a turn; local clients have responded by then.


class Moderation(NamedTuple):
    """The parameters for a cluster.

    Attributes:
        window_s: Time window in which clients are counted; with longer turns, each client counts only in part.
        gathering: The wait after a turn with many clients, as a share of the turn's duration.
    """

    window_s: float
    gathering: float


ONE_BROKER: Final = Moderation(1e-3, 0.0)
REPLICATING: Final = Moderation(5e-3, 0.06)


def pause_s(client_count: int, since_last_s: float) -> float:
    """Return how many seconds to wait before the next poll; 0 or less for an immediate poll.

    Args:
        client_count: Number of clients that were active within about a millisecond.
        since_last_s: Seconds since the last poll.
    """
    return min((client_count - FEW) * SHARE_S, LONGEST_S) - since_last_s


class ModeratedSelector(selectors.DefaultSelector):
    """The platform's best selector with moderation; `clock` and `sleep` use seconds."""

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
        self._last_poll = clock()
        self._client_count = 0  # Clients of the last window.
        self._stirred: set[int] = set()  # Descriptors of this window.
        self._window_ends_at = self._last_poll

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the ready sockets; with `timeout` 0 (other work is pending), none until the wait is over."""
        since_last_s = self._clock() - self._last_poll
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
        self._last_poll = now = self._clock()
        if now >= self._window_ends_at:
            self._window_ends_at = now + self._window_s
            self._client_count = len(self._stirred)
            self._stirred.clear()
        self._stirred.update([key.fd for key, _ in ready])
        return ready
