"""Leave out the heads of records that a wrapper split: it stamps each line, so the exception below is a record, too.

The exception has a category and shows the fault. The line above only names what failed, without a cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.logs.incidents.timeline.timeline import SAME_MOMENT_MS, LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import UNCLASSIFIED, LogEvent

_THROWN: Final = re.compile(r"(?:\S{1,80}: )?(?:[a-z]\w*\.)+[\w$]*(?:Exception|Error)\b")
"""The first line of a throwable of Java, after the name of its program or without it."""


def without_heads(timeline: LogTimeline, records: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield records without the errors of no category whose exception is a record of a category on the next line.

    Args:
        timeline: The logs.
        records: Records that no incident explains. Those without a time, or with an exception of their own, stay.
    """
    found = tuple(records)
    below = {(one.file, one.line + 1) for one in found if _may_be_head(one)}
    thrown = {
        (event.file, event.line): event
        for event in (timeline.events if below else ())
        if (event.file, event.line) in below and event.category != UNCLASSIFIED and _THROWN.match(event.message)
    }
    for one in found:
        cause = thrown.get((one.file, one.line + 1)) if thrown and _may_be_head(one) else None
        if cause is None or not _is_of_moment(one, cause):
            yield one


def _may_be_head(one: LogEvent) -> bool:
    return one.category == UNCLASSIFIED and one.exception is None and one.time_ms is not None


def _is_of_moment(one: LogEvent, below: LogEvent) -> bool:
    """Return whether two records have the same time, and name the same partition or not both one."""
    names = (one.fields.get("partition"), below.fields.get("partition"))
    return abs(time_of(below) - time_of(one)) <= SAME_MOMENT_MS and not (all(names) and names[0] != names[1])
