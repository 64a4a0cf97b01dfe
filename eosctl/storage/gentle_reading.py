"""Reading the logs of a running broker without being in its way: no faster than told, and leaving its page cache alone.

A page that was in the cache before stays there, since the broker may be serving it; what had to be brought in for us is
given up at once. Linux tells the one from the other (`preadv2` with RWF_NOWAIT reads only what is cached).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

Read = Callable[[int, int, int], bytes]
"""As `os.pread`: descriptor, size, position."""

#: Shorter pauses are saved up: sleeping is no more exact than this.
_SHORTEST_PAUSE_S: Final = 0.01


class GentleReader:
    """Reads at a bounded rate.

    Args:
        bytes_per_s: The rate.
        now: A monotonic clock, in seconds.
        sleep: Waits, given seconds.
    """

    def __init__(self, bytes_per_s: int, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._bytes_per_s = bytes_per_s
        self._now = now
        self._sleep = sleep
        self._free_at = now()

    def read(self, descriptor: int, size: int, position: int) -> bytes:
        """Read as `os.pread` does, as soon as the rate allows it."""
        wait_s = self._free_at - self._now()
        if wait_s > _SHORTEST_PAUSE_S:
            self._sleep(wait_s)
        found = _read_without_caching(descriptor, size, position)
        self._free_at = max(self._free_at, self._now() - _SHORTEST_PAUSE_S) + len(found) / self._bytes_per_s
        return found


def _read_without_caching(descriptor: int, size: int, position: int) -> bytes:
    if sys.platform != "linux":
        return os.pread(descriptor, size, position)
    buffer = bytearray(size)
    try:
        cached = os.preadv(descriptor, [buffer], position, os.RWF_NOWAIT)
    except BlockingIOError:
        cached = 0
    except OSError:  # a file system that cannot tell
        return os.pread(descriptor, size, position)
    if cached == size:
        return bytes(buffer)
    # Without this the kernel reads ahead, and what it brought in would look like the broker's own.
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    rest = os.pread(descriptor, size - cached, position + cached)
    os.posix_fadvise(descriptor, position + cached, len(rest), os.POSIX_FADV_DONTNEED)
    return bytes(buffer[:cached]) + rest
