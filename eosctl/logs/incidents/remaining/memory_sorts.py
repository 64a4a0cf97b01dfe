"""Distinguish which memory of a process was exhausted, and whether the process ended with it.

A JVM reports all of them as OutOfMemoryError, with other words behind it: the heap, the metaspace of its classes, the
direct memory of network buffers, or threads, which the operating system grants.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.log_event import LogEvent

_DIRECT: Final = re.compile(r"(?i:\bdirect (?:buffer )?memory)")
_RESERVED: Final = re.compile(
    r"(?:Cannot reserve|failed to allocate) (?P<requested>\d{1,18}) byte(?:s|\(s\)) of direct (?:buffer )?memory"
    r"(?: \((?:allocated|used): (?P<allocated>\d{1,18}), (?:limit|max): (?P<limit>\d{1,18})\))?"
)
"""The words of the JDK, and of Netty about its own pool."""
_CLASSES: Final = re.compile(r"OutOfMemoryError: (?:Metaspace|Compressed class space|PermGen space)")
_THREADS: Final = re.compile(r"(?i:unable to create (?:new )?native thread|can't start new thread)")
_ENDED: Final = re.compile(
    r"Fatal error during \w{1,40} startup|Exiting Kafka\b|Encountered fatal fault|Prepare to shut ?down"
    r"|Halting due to Out Of Memory|Terminating due to java\.lang\.OutOfMemoryError"
)
"""The words of Kafka, and of a JVM with -XX:+ExitOnOutOfMemoryError, about a process that ends."""


def is_of_direct_memory(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a process without memory for its network buffers, which is not a part of its heap."""
    texts = _texts(events)
    if not all(map(_DIRECT.search, texts)):
        return None
    found = next(filter(None, map(_RESERVED.search, texts)), None)
    sizes = {name: f"{int(value):,}" for name, value in found.groupdict().items() if value} if found else {}
    return {**sizes, **_ends(events)}


def is_of_classes(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a JVM without memory for its classes, which has a limit of its own."""
    return _ends(events) if all(map(_CLASSES.search, _texts(events))) else None


def is_of_threads(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a process that the operating system gave no further thread."""
    return _ends(events) if all(map(_THREADS.search, _texts(events))) else None


def is_of_dedupe_buffer(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a broker whose heap is smaller than the buffers of its log cleaner (``SkimpyOffsetMap``)."""
    return _ends(events) if any(event.fields.get("allocator") for event in events) else None


def does_server_end(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a server that ends because of its exhausted memory."""
    return _ends(events) or None


def _ends(events: Sequence[LogEvent]) -> Mapping[str, str]:
    return {"ended": "ended"} if any(_ENDED.search(event.message) for event in events) else {}


def _texts(events: Sequence[LogEvent]) -> Sequence[str]:
    return [f"{event.message}\n{event.fields.get('thrown', '')}" for event in events]
