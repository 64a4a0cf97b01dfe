"""Name the Streams applications that wrote logs by their clients and threads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.names import PROCESS
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.log_event import LogEvent

_THREAD: Final = re.compile(r"-StreamThread-\d+$")
_CONSUMER: Final = re.compile(r"-StreamThread-\d+-consumer$")
"""What Streams appends to its client.id for the consumer of a thread, whose group.id is the application.id."""
CLIENT: Final = re.compile(rf"{PROCESS}(?:-StreamThread-\d+)?.*$")


class StreamsNames:
    """The Streams applications that wrote logs, by the names of their clients and threads."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._firsts: dict[str, str] = {}
        self._clients: dict[str, list[tuple[str, str]]] = {}

    def of(self, episode: Sequence[LogEvent]) -> str:
        """Return the application that wrote events of one log; the program's name if the log does not name one."""
        first = episode[0]
        if named := self._timeline.value_in_log(first, "application_id"):
            return named
        log = self._timeline.log_of(first)
        if log not in self._firsts:
            self._firsts[log] = next(filter(None, map(_identity, self._timeline.log_with(first))), "")
        identity = next(filter(None, map(_identity, episode)), self._firsts[log])
        if not identity:
            return first.application
        return self._named_by(first, identity) or _THREAD.sub("", CLIENT.sub("", identity))

    def _named_by(self, event: LogEvent, identity: str) -> str:
        """Return the application of a Streams client by its settings or its consumers' group; the names may differ."""
        log = self._timeline.log_of(event)
        if log not in self._clients:
            names = (pair for one in self._timeline.log_with(event) for pair in _owners(one))
            self._clients[log] = list(dict.fromkeys((client, owner) for client, owner in names if client and owner))
        return next((owner for client, owner in self._clients[log] if f"{identity}-".startswith(f"{client}-")), "")


def _owners(event: LogEvent) -> Iterator[tuple[str, str]]:
    """Yield the names of the Streams clients in a record, with their applications."""
    client = event.fields.get("client_id", "")
    yield client, event.fields.get("application_id", "")
    if _CONSUMER.search(client):
        yield _CONSUMER.sub("", client), event.fields.get("group", "")


def _identity(event: LogEvent) -> str:
    return event.fields.get("stream_client") or event.fields.get("stream_thread") or ""
