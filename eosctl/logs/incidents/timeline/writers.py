"""Find the writers of a log that several programs share without a label: clients, threads, and loggers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

_LIBRARY_FIELDS: Final = frozenset({"client_id", "rdkafka_client"})
_CLIENTS: Final = ("client_id", "rdkafka_client", "stream_client", "stream_thread")


def is_of_library(event: LogEvent) -> bool:
    """Return whether the Java client or librdkafka wrote an event; the latter names its thread in any layout."""
    return bool(event.fields.keys() & _LIBRARY_FIELDS) or "[thrd:" in event.message


class Writers:
    """The values that each client, thread, and logger of a log names; collected at the first query."""

    def __init__(self, log_of: Callable[[LogEvent], str], by_log: Mapping[str, Sequence[LogEvent]]) -> None:
        self._log_of = log_of
        self._by_log = by_log
        self._named: dict[tuple[str, EventField], dict[tuple[str, str], set[str]]] = {}

    def only(self, event: LogEvent, name: EventField) -> str:
        """Return a field's value if the client, thread, or logger of an event has only one; else an empty string."""
        key = self._log_of(event), name
        if key not in self._named:
            named = self._named[key] = defaultdict(set)
            for one in self._by_log.get(key[0], ()):
                if value := one.fields.get(name):
                    for writer in _writers_of(one):
                        named[writer].add(value)
        for writer in _writers_of(event):
            values = self._named[key].get(writer, ())
            if len(values) == 1:
                return next(iter(values))
        return ""


def _writers_of(event: LogEvent) -> Iterator[tuple[str, str]]:
    """Yield the writers that an event names, the most certain first."""
    for name in _CLIENTS:
        if client := event.fields.get(name):
            yield "client", client
    if event.thread:
        yield "thread", event.thread
    if event.logger:
        yield "logger", event.logger
