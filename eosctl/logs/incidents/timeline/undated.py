"""Word incidents of records without a time: the order of their lines is known, and sometimes the times of lines around.

The time of the last change stands for them inside (``timed``). A file without any known stamp can still hold access
lines of a web server between its records, whose stamps bound the beginning of a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

_ACCESS: Final = re.compile(r"\[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\]")
"""The stamp of an access line, in the common log format of web servers."""
_WORDS: Final = r",? (?:first |last )?(?:at|by|from|on|since|to|until)"
_NO_DURATION: Final = r",? (?:about every|for|in) 0 ms\b"
_FORM: Final = "%d/%b/%Y:%H:%M:%S %z"


def without_assumed_times(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; the texts of those whose records have no time do not name one, except as bounds."""
    for one in incidents:
        events = timeline.evidence(one)
        if not events or not all(map(timeline.is_undated, events)):
            yield one
            continue
        assumed = "|".join(sorted({re.escape(time_text(event.time_ms)) for event in events if event.time_ms}))
        when = re.compile(rf"{_WORDS} (?:{assumed})(?: on\b)?|{_NO_DURATION}")
        text = f"{when.sub('', one.explanation)}{_bounds(timeline, events)}"
        yield one._replace(explanation=text, next_step=when.sub("", one.next_step))


def _bounds(timeline: LogTimeline, events: Sequence[LogEvent]) -> str:
    """Return a sentence with the stamps of the access lines around the first record; empty without both."""
    first = min(events, key=lambda event: (event.file, event.offset))
    beginning = next((source.beginning for source in timeline.sources if source.file == first.file), "")
    stamps = [
        (line, stamp)
        for line, text in enumerate(beginning.splitlines(), start=1)
        if (found := _ACCESS.search(text)) and (stamp := _ms_of(found[1])) is not None
    ]
    before = max((stamp for line, stamp in stamps if line < first.line), default=None)
    after = next((stamp for line, stamp in stamps if line > first.line), None)
    if before is None or after is None or after < before:
        return ""
    return f" By the access lines around it, it began between {time_text(before)} and {time_text(after)}."


def _ms_of(stamp: str) -> int | None:
    try:
        return int(datetime.strptime(stamp, _FORM).timestamp()) * 1000
    except ValueError:
        return None
