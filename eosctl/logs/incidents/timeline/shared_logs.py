"""Separate the programs of logs that share a name or a file: several servers, or a broker with its clients."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server, servers_among

_OF_KAFKA: Final = ("kafka.", "org.apache.kafka.", "o.a.k.", "o.a.kafka.", "o.apache.kafka.", "state.change.logger")
CLIENTS_SUFFIX: Final = " (clients)"
"""Added to the name of a server for the clients that write to its log."""
_OF_CLIENTS: Final = frozenset({"rdkafka_client", "stream_client", "stream_thread"})

_LOGGERS_OF_CLIENTS: Final = ("org.apache.kafka.clients.producer.", "org.apache.kafka.clients.consumer.")
_LOGGERS_OF_TOOLS: Final = ("kafka.admin.", "org.apache.kafka.tools.", "kafka.tools.")
"""Loggers of Kafka's command-line tools, which a terminal shows next to the log of a server."""
_CLIENT_LABEL: Final = re.compile(r"\[(?:AdminClient|Consumer|Producer) clientId=|'kafka-admin-client-thread \|")
_OF_LIBRDKAFKA: Final = re.compile(r"\[thrd:|\bConfluent\.Kafka\.|\bLocal: Fatal error\b")
"""What only clients of librdkafka write, in any layout: a server has no such thread, class, or error."""
_OF_STREAMS: Final = frozenset(
    {
        *("STREAMS_PROCESSING_FAILED", "STREAM_THREAD_DEATH", "STREAM_CLIENT_ERROR"),
        *("TASK_MIGRATED", "TASK_CORRUPTED", "STATE_DIR_ERROR", "STATE_STORE_CORRUPT"),
    }
)
"""Categories of records that only Streams prints, in any layout."""


def separate_clients(events: Sequence[LogEvent]) -> Iterator[LogEvent]:
    """Yield events; clients that write to a server's log get their own application name.

    If a transactional client or Streams writes to such a log, loggers other than Kafka's belong to its application.
    """
    servers = servers_among(events)
    mixed = {event.application for event in events if event.application in servers and _is_of_client(event)}
    if not mixed:
        yield from events
        return
    for event in events:
        is_clients = event.application in mixed and (_is_of_client(event) or _is_of_application(event))
        yield event._replace(application=f"{event.application}{CLIENTS_SUFFIX}") if is_clients else event


def separate_servers(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Iterator[LogEvent]:
    """Yield events with a name for each server: nodes that share a service's name are named after their machines.

    Without machine names, they are named after their files.
    """
    known = list(events)
    owners = {source.file: source.application for source in sources}
    names: dict[str, set[str]] = defaultdict(set)
    hosts: dict[str, set[str]] = defaultdict(set)
    for application, file, host in {(event.application, event.file, event.host) for event in known}:
        names[application].add(owners.get(file, application))
        hosts[application].add(host)
    of_servers = servers_among(known)
    shared = {name for name in of_servers if len(names[name]) > 1}
    spread = {name for name in of_servers if len(hosts[name] - {""}) > 1}
    if not shared and not spread:
        yield from known
        return
    for event in known:
        several_hosts = event.application in spread
        owner = event.host if several_hosts else owners.get(event.file) if event.application in shared else ""
        yield event._replace(application=owner) if owner else event


def _is_of_client(event: LogEvent) -> bool:
    if is_of_server(event):
        return False
    if event.category in _OF_STREAMS or _OF_LIBRDKAFKA.search(event.message):
        return True
    if event.logger.startswith((*_LOGGERS_OF_CLIENTS, *_LOGGERS_OF_TOOLS)) or _CLIENT_LABEL.search(event.message):
        return True
    return bool(event.fields.keys() & _OF_CLIENTS) or {"client_id", "transactional_id"} <= event.fields.keys()


def _is_of_application(event: LogEvent) -> bool:
    return bool(event.logger) and not event.logger.startswith(_OF_KAFKA) and not is_of_server(event)
