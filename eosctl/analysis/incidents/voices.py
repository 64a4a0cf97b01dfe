"""Who speaks in a log that several programs write without a label: clients, threads and loggers tell them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from eosctl.model.log_event import LogEvent

_CLIENTS: Final = ("client_id", "rdkafka_client", "stream_client", "stream_thread")


class Voices:
    """What each client, thread and logger of a log names."""

    def __init__(self, events: Iterable[LogEvent], log_of: Callable[[LogEvent], str]) -> None:
        self._log_of = log_of
        self._named: dict[tuple[str, str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for event in events:
            if event.fields:
                for voice in self._voices(event):
                    for name, value in event.fields.items():
                        self._named[voice][name].add(value)

    def only(self, event: LogEvent, name: str) -> str:
        """Return the value of a field that the client, thread or logger of an event names alone; else nothing."""
        for voice in self._voices(event):
            values = self._named[voice][name] if voice in self._named else ()
            if len(values) == 1:
                return next(iter(values))
        return ""

    def _voices(self, event: LogEvent) -> Iterator[tuple[str, str, str]]:
        """Yield the surest first."""
        log = self._log_of(event)
        for name in _CLIENTS:
            if client := event.fields.get(name):
                yield log, "client", client
        if event.thread:
            yield log, "thread", event.thread
        if event.logger:
            yield log, "logger", event.logger
