"""Leave the title of a report out of the evidence, where the report has the records themselves.

A ticket is a file with a heading and the logs below it. The heading names the fault in the words of its writer, without
a time, and often with the cause that the client guessed. What else it names, such as a transactional id, still counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

_TITLE: Final = re.compile(r"#{1,6} \S|(?:Subject|Title|Summary): \S")
"""The beginning of a Markdown heading, or of the field of a ticket or an e-mail."""
_NAMED: Final[EventCategory] = "TRANSACTIONAL_ID_NAMED"
_ROUTINE: Final[EventCategory] = "ROUTINE"


def is_title(event: LogEvent) -> bool:
    """Return whether an event is the heading of a ticket, not a record: it has no time, level, or stack trace."""
    is_bare = event.time_ms is None and not event.level and event.exception is None
    return is_bare and _TITLE.match(event.message) is not None


def demoted(event: LogEvent, dated: Sequence[LogEvent]) -> LogEvent:
    """Return an event; a title whose fault the dated records of its file report is only the record of a name."""
    if not is_title(event) or all(one.category != event.category for one in dated):
        return event
    return event._replace(category=_NAMED if event.fields.get("transactional_id") else _ROUTINE)
