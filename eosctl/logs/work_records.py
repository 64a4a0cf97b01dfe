"""Keep the first of the records in a row with which a program reports its work: they say the same, and can be millions.

What matters is whether a program works again after a failure, so the first ones after any other record are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.logs.records.anchors import WORK
from eosctl.logs.records.digits import TEXT_BLUR
from eosctl.model.log_event import LogEvent

SLOT_MS: Final = 10_000
"""Records in a row are kept anew for each slot of this length."""
KEPT: Final = 64
"""Maximum number of them in a slot: of several programs, threads, and messages."""
_COMPARED: Final = 80
"""Number of characters of a message that are compared, without their digits."""
_ZERO: Final = re.compile(r"(?<![\d.,])0(?![\d.,])")
"""A count of nothing, which a count of something must not be taken for."""
_OWNER: Final = re.compile(r"\btxn?(?:[_-]?id)?[=:] ?([\w.:-]{1,60}\d)")
"""A transactional id in a program's own words: each of several producers has work of its own."""


class WorkRecords:
    """Decides which records of work are kept, for events in the order of a file.

    The kept events of two parts of a file, put together and thinned out once more, are those of the whole.
    """

    def __init__(self) -> None:
        self._slot: int | None = None
        self._kept: set[tuple[str, str, str, str]] = set()

    def keeps(self, event: LogEvent) -> bool:
        """Return whether the next event is kept: any that is not of work, and the first ones of work in a slot."""
        if event.category != WORK:
            self._kept.clear()
            return True
        slot = _slot_of(event.time_ms)
        if slot != self._slot:
            self._slot = slot
            self._kept.clear()
        key = _key(event.application, event.host, event.thread, event.message)
        if key in self._kept or len(self._kept) >= KEPT:
            return False
        self._kept.add(key)
        return True

    def drops(self, time_ms: int | None, application: str, host: str, thread: str, message: str) -> bool:
        """Return whether ``keeps`` would be false for the next event, of a record that can only report work."""
        if _slot_of(time_ms) != self._slot:
            return False
        return len(self._kept) >= KEPT or _key(application, host, thread, message) in self._kept


def _slot_of(time_ms: int | None) -> int | None:
    return None if time_ms is None else time_ms // SLOT_MS


def _key(application: str, host: str, thread: str, message: str) -> tuple[str, str, str, str]:
    begin = message[:_COMPARED]
    named = _OWNER.search(begin) if "tx" in begin else None
    owner = named[1] if named else ""
    return application, host, thread, f"{_ZERO.search(begin) is not None}{owner}{begin.translate(TEXT_BLUR)}"


def thinned(events: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield events of a file, in order, without the records of work that repeat those before them in the same slot."""
    work = WorkRecords()
    return (event for event in events if work.keeps(event))
