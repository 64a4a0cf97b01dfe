"""Read the logs of a running broker at a bounded rate and without displacing its page cache.

Pages that were cached before stay cached, since the broker may be serving them. Pages read from disk for this reader
are dropped immediately. Linux distinguishes the two: `preadv2` with RWF_NOWAIT reads only cached pages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

Read = Callable[[int, int, int], bytes]
"""The signature of `os.pread`: descriptor, size, position."""

#: Shorter pauses accumulate: sleep is not more precise than this.
_SHORTEST_PAUSE_S: Final = 0.01


class ThrottledReader:
    """Reads files at a bounded rate.

    Args:
        bytes_per_s: The rate.
        now: A monotonic clock, in seconds.
        sleep: Waits for a number of seconds.
    """

    def __init__(self, bytes_per_s: int, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._bytes_per_s = bytes_per_s
        self._now = now
        self._sleep = sleep
        self._free_at = now()

    def read(self, descriptor: int, size: int, position: int) -> bytes:
        """Read as `os.pread` does, once the rate allows it."""
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
    except OSError:  # The file system does not support RWF_NOWAIT.
        return os.pread(descriptor, size, position)
    if cached == size:
        return bytes(buffer)
    # Without this, the kernel reads ahead, and the extra pages look like the broker's own.
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    rest = os.pread(descriptor, size - cached, position + cached)
    os.posix_fadvise(descriptor, position + cached, len(rest), os.POSIX_FADV_DONTNEED)
    return bytes(buffer[:cached]) + rest
