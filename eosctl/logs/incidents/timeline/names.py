"""Complete the names of transactions, groups, and tasks in records that hold them in a form of their own.

Only Kafka's own records show where a name with blanks or commas ends. A program with several transactional producers
names the one that it means anywhere in its own words, such as `tx=orders-3 committed 20 records`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from operator import eq
from typing import Final

from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

_NAMED: Final[tuple[EventField, ...]] = ("transactional_id", "group")
_END: Final = re.compile(r'[\s,;"]')
"""The signs that end a name in free text."""

_NUMBERED: Final = re.compile(r"[A-Za-z][\w.:-]*\d")
_WORD: Final = re.compile(r"\w[\w.:-]{1,253}\w")
_TASK: Final = re.compile(r"\[?([\w.>-]{1,255})\|task-(\d{1,9})(?:[|\]]|$)")
"""The context of a connector's records (KIP-449), such as `orders|task-0|offsets`."""
_TASK_THREAD: Final = re.compile(r"task-thread-(\S{1,255}-\d{1,9})")
"""The thread that runs a task of Connect."""
PROCESS: Final = r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
"""The random part of Streams' name for a process of an application."""
_TRANSACTIONAL: Final = re.compile(rf"{PROCESS}-\d+$")
"""The process and the thread that Streams appends to the application id."""


def is_of_streams(transactional_id: str) -> bool:
    """Return whether Streams generated a transactional id, for one thread of one process."""
    return _TRANSACTIONAL.search(transactional_id) is not None


def application_of_id(transactional_id: str) -> str:
    """Return the Streams application that generated a transactional id; any other id unchanged."""
    return _TRANSACTIONAL.sub("", transactional_id)


def complete_names(events: Sequence[LogEvent]) -> Iterator[LogEvent]:
    """Yield events with complete names of transactions, groups, and tasks of connectors.

    A name that was read up to its first blank or comma becomes the longest known name in its message. A topic and a
    partition number become a partition. Connect prints connector and task in the place of the thread, or before
    the message.
    """
    known: dict[EventField, Mapping[str, _Names]] = {name: _by_beginning(events, name) for name in _NAMED}
    cut = [(name, found) for name, found in known.items() if found]
    several = _several_ids(events)
    for event in events:
        whole = _partition_of(event) if "partition_index" in event.fields else {}
        if "connector_task" not in event.fields and (named := _task_of(event)):
            whole["connector_task"] = named
        elif "task-thread-" in event.thread and (task := _TASK_THREAD.fullmatch(event.thread)):
            whole["connector_task"] = event.fields.get("connector_task") or task[1]
        for name, found in cut:
            beginning = event.fields.get(name, "")
            if beginning in found and (full := found[beginning].longest_in(event.message)):
                whole[name] = full
        if event.application in several and not event.fields.get("transactional_id"):
            whole |= several[event.application].mentioned_in(event)
        yield event._replace(fields={**event.fields, **whole}) if whole else event


def _several_ids(events: Iterable[LogEvent]) -> Mapping[str, _Ids]:
    """Return the transactional ids of each application whose records name several of them, all with a number."""
    found: dict[str, set[str]] = defaultdict(set)
    for event in events:
        if named := event.fields.get("transactional_id"):
            found[event.application].add(named)
    return {name: _Ids(ids) for name, ids in found.items() if len(ids) > 1 and all(map(_NUMBERED.search, ids))}


class _Ids:
    """The transactional ids of an application, which as a rule begin alike."""

    def __init__(self, ids: Set[str]) -> None:
        self._ids = frozenset(ids)
        first, last = min(ids), max(ids)
        alike = sum(1 for _ in takewhile(bool, map(eq, first, last)))
        self._beginning = first[:alike]

    def mentioned_in(self, event: LogEvent) -> dict[EventField, str]:
        """Return the only id that a message has as a word, unless it is its partition or topic."""
        if self._beginning not in event.message:
            return {}
        named = self._ids.intersection(_WORD.findall(event.message))
        if len(named) != 1 or named & {event.fields.get("partition", ""), event.fields.get("topic", "")}:
            return {}
        return {"transactional_id": next(iter(named))}


def _task_of(event: LogEvent) -> str:
    """Return the task of Connect in a record's context, which layouts print as the thread or before the message."""
    text = event.thread if "|task-" in event.thread else event.message if event.message.startswith("[") else ""
    found = _TASK.match(text) if "|task-" in text else None
    return f"{found[1]}-{found[2]}" if found else ""


def _partition_of(event: LogEvent) -> dict[EventField, str]:
    """Return the partition of a record that has the topic and the number in separate fields."""
    number = event.fields.get("partition_index")
    topic = event.fields.get("topic") if number else None
    return {"partition": f"{topic}-{number}"} if topic and not event.fields.get("partition") else {}


class _Names:
    """Names that share a beginning, by length, so that a message is not searched for each of them."""

    def __init__(self, beginning: str, names: Set[str]) -> None:
        self._beginning = beginning
        self._names = names
        self._lengths = sorted({len(name) for name in names}, reverse=True)

    def longest_in(self, message: str) -> str:
        """Return the longest of the names that a message contains; empty if it contains none."""
        places = [match.start() for match in re.finditer(f"(?={re.escape(self._beginning)})", message)]
        parts = (message[place : place + length] for length in self._lengths for place in places)
        return next((part for part in parts if part in self._names), "")


def _by_beginning(events: Iterable[LogEvent], name: EventField) -> Mapping[str, _Names]:
    """Return the names that continue after such a sign, by the part before it."""
    found: dict[str, set[str]] = defaultdict(set)
    for value in {event.fields.get(name, "") for event in events}:
        if end := _END.search(value):
            found[value[: end.start()]].add(value)
    return {beginning: _Names(beginning, names) for beginning, names in found.items()}
