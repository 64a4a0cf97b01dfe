"""Names of transactions and groups that hold blanks or commas: free text does not tell where they end, Kafka's does."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.model.log_event import LogEvent

_NAMED: Final = ("transactional_id", "group")
_END: Final = re.compile(r'[\s,;"]')
"""What ends a name in free text."""

PROCESS: Final = r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
"""The random part of what Streams calls a process of an application."""
_TRANSACTIONAL: Final = re.compile(rf"{PROCESS}-\d+$")
"""What Streams puts behind the application's id: the process and the thread."""


def is_of_streams(transactional_id: str) -> bool:
    """Whether Streams made a transactional id, for one thread of one process."""
    return _TRANSACTIONAL.search(transactional_id) is not None


def application_of_id(transactional_id: str) -> str:
    """Return the Streams application that made a transactional id; any other id as it is."""
    return _TRANSACTIONAL.sub("", transactional_id)


def complete_names(events: Sequence[LogEvent]) -> Iterator[LogEvent]:
    """Yield events whose names of transactions and groups are whole.

    A name that was read as far as its first blank or comma is the longest of the known ones that its message goes on
    with. A topic and the number of its partition are a partition.
    """
    known = {name: _by_beginning(events, name) for name in _NAMED}
    for event in events:
        whole = _partition_of(event) | {
            name: full
            for name in _NAMED
            if (
                full := next(
                    (one for one in known[name].get(event.fields.get(name, ""), ()) if one in event.message), ""
                )
            )
        }
        yield event._replace(fields={**event.fields, **whole}) if whole else event


def _partition_of(event: LogEvent) -> dict[str, str]:
    """Return the partition of a record that gives its topic and its number apart."""
    topic, number = event.fields.get("topic"), event.fields.get("partition_index")
    return {"partition": f"{topic}-{number}"} if topic and number and not event.fields.get("partition") else {}


def _by_beginning(events: Iterable[LogEvent], name: str) -> Mapping[str, Sequence[str]]:
    """Return the names that go on behind such a sign by what is before it, the longest first."""
    found: dict[str, set[str]] = defaultdict(set)
    for value in {event.fields.get(name, "") for event in events}:
        if end := _END.search(value):
            found[value[: end.start()]].add(value)
    return {beginning: sorted(names, key=len, reverse=True) for beginning, names in found.items()}
