"""Keep file descriptors for the files of brokers, which clients could otherwise all take.

A broker that cannot open a file because its process has no descriptors left takes its log directory for failed and
stops, as Kafka does. A client that no descriptor may be spent on is disconnected instead: it can connect later.
"""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import Final

#: Kept for files; a turn of the event loop accepts up to 100 clients for each listener before any is refused.
_KEPT: Final = 512
#: As many as a process gets where the system sets no limit of its own, or a high one.
_WANTED: Final = 1 << 16


def raise_limit() -> None:
    """Raise the limit of this process to that which the system allows it, as the JVM does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft not in (resource.RLIM_INFINITY, wanted) and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a limit below the one that it reports.
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def is_scarce(descriptor: int) -> bool:
    """Return whether a new descriptor is one of those that are kept for files: the system assigns the lowest free one.

    Half of a low limit is kept.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit != resource.RLIM_INFINITY and descriptor >= limit - min(_KEPT, limit // 2)
