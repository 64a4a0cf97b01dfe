"""Names of transactions and groups that hold blanks or commas: free text does not tell where they end, Kafka's does."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
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
            if (beginning := event.fields.get(name, "")) in known[name]
            and (full := known[name][beginning].longest_in(event.message))
        }
        yield event._replace(fields={**event.fields, **whole}) if whole else event


def _partition_of(event: LogEvent) -> dict[str, str]:
    """Return the partition of a record that gives its topic and its number separately."""
    topic, number = event.fields.get("topic"), event.fields.get("partition_index")
    return {"partition": f"{topic}-{number}"} if topic and number and not event.fields.get("partition") else {}


class _Names:
    """Names with one beginning, by their lengths: a message is not searched for each of them."""

    def __init__(self, beginning: str, names: Set[str]) -> None:
        self._beginning = beginning
        self._names = names
        self._lengths = sorted({len(name) for name in names}, reverse=True)

    def longest_in(self, message: str) -> str:
        """Return the longest of the names that a message holds; empty if it holds none."""
        places = [match.start() for match in re.finditer(f"(?={re.escape(self._beginning)})", message)]
        parts = (message[place : place + length] for length in self._lengths for place in places)
        return next((part for part in parts if part in self._names), "")


def _by_beginning(events: Iterable[LogEvent], name: str) -> Mapping[str, _Names]:
    """Return the names that go on behind such a sign by what is before it."""
    found: dict[str, set[str]] = defaultdict(set)
    for value in {event.fields.get(name, "") for event in events}:
        if end := _END.search(value):
            found[value[: end.start()]].add(value)
    return {beginning: _Names(beginning, names) for beginning, names in found.items()}
