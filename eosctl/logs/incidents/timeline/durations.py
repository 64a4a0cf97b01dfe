"""Compare how long a transaction was open with its timeout, by what its client states or shows.

Where the measured time is above the timeout, the coordinator had aborted the transaction: a refused epoch is then not a
sign of a second producer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.pauses import pause_ms, pauses_before
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

NEAR_MS: Final = 5_000
"""Maximum time between a refusal and the record in which its program states the durations."""
OPEN_MS: Final = 3_600_000
"""Maximum time from the begin of a transaction to its refusal."""
DEFAULT_MS: Final = 60_000
"""The default ``transaction.timeout.ms`` of the Java client and librdkafka; those of Go and Python are not longer."""
SOON_MS: Final = 5_000
"""A transaction that began this recently has not timed out: even a short timeout is checked only every ten seconds."""
_TIMEOUT: Final = re.compile(r"transaction[ ._]timeout(?:[ ._]ms)?")
_DURATION: Final = re.compile(
    r"(?<![\w.])(?:(?P<hours>\d{1,4})h)?(?:(?P<minutes>\d{1,6}) ?m(?:in(?:utes?)?)?)?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?) ?s(?:ec(?:onds?)?)?|(?P<ms>\d{1,12}) ?ms|(?P<plain>\d{4,12}))?(?![\w.]*\w)"
)
_ENDED: Final[tuple[EventCategory, ...]] = ("TXN_COMMITTED", "TXN_ABORT_CLIENT")


class Overdue(NamedTuple):
    """A transaction that was open for longer than its timeout, and the records that show it.

    Attributes:
        open_ms: How long it was open, ms; at least this long if only a step of its program is known.
        allowed_ms: Its timeout, ms.
        records: The records that show these times.
        step: The record of the program's step that took longer than the timeout; None without one.
        is_default: Whether the timeout is the default of client libraries, because no record states it.
    """

    open_ms: int
    allowed_ms: int
    records: Sequence[LogEvent]
    step: LogEvent | None = None
    is_default: bool = False


def overdue_before(timeline: LogTimeline, refusal: LogEvent) -> Overdue | None:
    """Return the transaction of a refusal if it was open for too long; None if its log does not show that."""
    start_ms, end_ms = time_of(refusal) - NEAR_MS, time_of(refusal) + NEAR_MS
    for event in timeline.log_between(refusal, start_ms, end_ms, ("TXN_DURATION_NOTED",)):
        stated = stated_durations(event.message)
        if stated is not None and stated[0] > stated[1]:
            return Overdue(*stated, [event])
    stated_ms = allowed_ms(timeline, refusal)
    limit_ms = stated_ms or DEFAULT_MS
    steps = timeline.log_between(refusal, start_ms, time_of(refusal), ("SLOW_STEP",))
    step = max(steps, key=longest_ms, default=None)
    if step is not None and longest_ms(step) <= limit_ms:
        step = None
    if begun := _begun_before(timeline, refusal):
        open_ms = time_of(refusal) - time_of(begun)
        return Overdue(open_ms, limit_ms, [begun], step, is_default=not stated_ms) if open_ms > limit_ms else None
    return Overdue(longest_ms(step), limit_ms, (), step) if step is not None and stated_ms else None


def allowed_ms(timeline: LogTimeline, event: LogEvent) -> int:
    """Return the transaction timeout that the log of an event states, ms; 0 if it states none, or several."""
    number = timeline.value_in_log(event, "transaction_timeout_ms")
    found = _DURATION.search(timeline.value_in_log(event, "transaction_timeout"))
    return int(number) if number.isdecimal() else (_ms_of(found) or 0) if found else 0


def paused_too_long(timeline: LogTimeline, refusal: LogEvent) -> bool:
    """Return whether the process of a refused client had just stood still for half of its transaction timeout or more.

    The transaction was open before the pause, too.
    """
    longest_ms = max(map(pause_ms, pauses_before(timeline, refusal)), default=0)
    return 2 * longest_ms >= (allowed_ms(timeline, refusal) or DEFAULT_MS)


def _begun_before(timeline: LogTimeline, refusal: LogEvent) -> LogEvent | None:
    """Return the begin of a refused transaction: the last one before it, if its program reports no end since then."""
    until_ms = time_of(refusal)
    begun = timeline.log_between(refusal, until_ms - OPEN_MS, until_ms, ("TXN_BEGUN",))
    own = [event for event in begun if _agree(event, refusal)]
    if not own or timeline.log_between(refusal, time_of(own[-1]) + 1, until_ms, _ENDED):
        return None
    return own[-1]


def _agree(event: LogEvent, refusal: LogEvent) -> bool:
    ids = event.fields.get("transactional_id"), refusal.fields.get("transactional_id")
    return not all(ids) or ids[0] == ids[1]


def is_stated(overdue: Overdue) -> bool:
    """Return whether the program itself states the time, or names the step that took it; a stalled one may not."""
    return overdue.step is not None or any(event.category == "TXN_DURATION_NOTED" for event in overdue.records)


def longest_ms(event: LogEvent) -> int:
    """Return the longest time that a record states, ms; plain numbers have no unit, so they are left out."""
    parts = (part for part in _DURATION.finditer(event.message) if not part["plain"])
    return max((ms for part in parts if (ms := _ms_of(part)) is not None), default=0)


def begun_in_time(timeline: LogTimeline, refusal: LogEvent) -> LogEvent | None:
    """Return the begin of a refused transaction if too little time had passed since then for its timeout; else None."""
    begun = _begun_before(timeline, refusal)
    limit_ms = allowed_ms(timeline, refusal) or SOON_MS
    return begun if begun and time_of(refusal) - time_of(begun) < max(limit_ms, SOON_MS) else None


def stated_durations(text: str) -> tuple[int, int] | None:
    """Return a measured time and a transaction timeout that a text states, in ms; None unless it has both.

    >>> stated_durations("gap since last produce 2m14.7s, transaction timeout 2m0s")
    (134700, 120000)
    >>> stated_durations("transaction was open for 90000 ms, transaction.timeout.ms=60000")
    (90000, 60000)
    >>> stated_durations("transaction timeout is 60 s") is None
    True
    """
    word = _TIMEOUT.search(text)
    if word is None:
        return None
    before = [ms for part in _DURATION.finditer(text, 0, word.start()) if (ms := _ms_of(part)) is not None]
    after = [ms for part in _DURATION.finditer(text, word.end()) if (ms := _ms_of(part)) is not None]
    return (before[-1], after[0]) if before and after else None


def _ms_of(part: re.Match[str]) -> int | None:
    if not part[0].strip():
        return None
    seconds = 3600 * int(part["hours"] or 0) + 60 * int(part["minutes"] or 0) + float(part["seconds"] or 0)
    return round(1000 * seconds) + int(part["ms"] or part["plain"] or 0)
