"""Names of transactions and groups that hold blanks or commas: free text does not tell where they end, Kafka's does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.model.log_event import LogEvent

_NAMED: Final = ("transactional_id", "group")
_ENDS: Final = frozenset(' ,;"')
"""What ends a name in free text."""


def complete_names(events: Sequence[LogEvent]) -> Iterator[LogEvent]:
    """Yield events whose names of transactions and groups are whole.

    A name that was read as far as its first blank or comma is the longest of the known ones that its message goes on
    with.
    """
    known = {name: _longest_first(events, name) for name in _NAMED}
    for event in events:
        whole = {
            name: full
            for name in _NAMED
            if known[name]
            and (value := event.fields.get(name))
            and (full := next((one for one in known[name] if _goes_on(value, one, event.message)), ""))
        }
        yield event._replace(fields={**event.fields, **whole}) if whole else event


def _longest_first(events: Iterable[LogEvent], name: str) -> list[str]:
    values = {value for event in events if _ENDS & set(value := event.fields.get(name, ""))}
    return sorted(values, key=len, reverse=True)


def _goes_on(value: str, full: str, message: str) -> bool:
    return len(value) < len(full) and full.startswith(value) and full[len(value)] in _ENDS and full in message
