"""Name the Streams applications that wrote logs by their clients and threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.names import PROCESS
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.log_event import LogEvent

_THREAD: Final = re.compile(r"-StreamThread-\d+$")
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
        """Return the application whose settings give a Streams client its name; the two names may differ."""
        log = self._timeline.log_of(event)
        if log not in self._clients:
            names = (
                (one.fields.get("client_id"), one.fields.get("application_id"))
                for one in self._timeline.log_with(event)
            )
            self._clients[log] = list(dict.fromkeys((client, owner) for client, owner in names if client and owner))
        return next((owner for client, owner in self._clients[log] if identity.startswith(f"{client}-")), "")


def _identity(event: LogEvent) -> str:
    return event.fields.get("stream_client") or event.fields.get("stream_thread") or ""
