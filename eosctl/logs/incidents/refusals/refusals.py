"""Detect what brokers and clients refuse: missing permissions, limits, settings, and full or failed disks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from eosctl.logs.classifier.storage_errors import storage_error
from eosctl.logs.incidents.refusals.topic_denials import Observers
from eosctl.logs.incidents.timeline.backoffs import retries
from eosctl.logs.incidents.timeline.evidence import incident, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.unnamed import Owners
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

EPISODE_MS = 300_000
START_MS = 30_000
"""Maximum time between Streams' record of its settings and its refusal of them."""
_DENIALS: Final[tuple[tuple[EventCategory, str, str, str, EventField], ...]] = (
    (
        "AUTHZ_TXN_ID",
        "transactional_id_authorization",
        "missing-transactional-id-acl",
        "transactional.id",
        "transactional_id",
    ),
    ("AUTHZ_GROUP", "group_authorization", "missing-group-acl", "group", "group"),
)
"""The category of denials, the incident and its cause, and the denied resource with its field."""
_NO_NAME = "rdkafka"
"""librdkafka's name for a client without a client.id."""


def find_denials(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the requests that were denied for a missing permission, one incident for each resource."""
    observers = Observers(timeline)
    for category, kind, root_cause, name, field in _DENIALS:
        owners = Owners(timeline)
        events = [event for event in timeline.of(category) if not observers.has(event)]
        for (asked, _), denials in _by_name(
            timeline, ((_asked(timeline, owners, event, field), event) for event in events)
        ):
            for episode in episodes(denials, EPISODE_MS):
                principal = next((event.fields["principal"] for event in episode if event.fields.get("principal")), "")
                operation = next((event.fields["operation"] for event in episode if event.fields.get("operation")), "")
                yield incident(
                    kind,
                    root_cause,
                    {name: asked, "principal": principal, **({} if asked else _client_of(episode[0]))},
                    episode,
                    f"{principal or 'The client'} was denied {operation or 'access'} on "
                    f"{_what(name, asked, episode[0])}.",
                    "Add the ACL: Write and Describe on TransactionalId."
                    if field != "group"
                    else "Add the ACL: Read on Group.",
                    confidence=0.95 if principal and len({event.file for event in episode}) > 1 else 0.85,
                )


def _what(name: str, asked: str, event: LogEvent) -> str:
    """Name a denied resource; one that is in no record by its connector."""
    if not asked and (connector := event.fields.get("connector")):
        return f"a {name} of connector {connector}"
    if asked:
        return f"{name} {asked}"
    if "connector_task" not in event.fields:
        return f"a {name} that its log does not name"
    return f"a {name} of connector task {event.fields['connector_task']}"


def _asked(timeline: LogTimeline, owners: Owners, event: LogEvent, field: EventField) -> str:
    if field == "transactional_id":
        return owners.transactional_id(event)
    return event.fields.get(field) or timeline.value_in_log(event, field) or owners.denied(event, field)


def _by_name(
    timeline: LogTimeline, named: Iterable[tuple[str, LogEvent]]
) -> Iterable[tuple[tuple[str, str], list[LogEvent]]]:
    """Group events by the refused name; those of clients that log none are grouped by log."""
    groups: dict[tuple[str, str], list[LogEvent]] = {}
    for name, event in named:
        groups.setdefault((name, "" if name else timeline.log_of(event)), []).append(event)
    return groups.items()


def _client_of(event: LogEvent) -> dict[str, str]:
    """Identify a client by its settings other than its transactional id or group."""
    client = event.fields.get("client_id") or event.fields.get("rdkafka_client", "").rpartition("#")[0]
    task = event.fields.get("connector_task", "")
    connector = event.fields.get("connector", "")
    return {
        "application": event.application,
        "connector": connector,
        "connector.task": task,
        "client.id": "" if client == _NO_NAME else client,
    }


def find_settings(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield settings that a client or broker refuses at startup."""
    for events in by_key((timeline.log_of(event), event) for event in timeline.of("INVALID_STREAMS_CONFIG")).values():
        first = events[0]
        settings = timeline.log_between(first, time_of(first) - START_MS, time_of(first))
        ids = [event.fields["application_id"] for event in settings if event.fields.get("application_id")]
        owner = timeline.value_in_log(first, "application_id") or (ids[-1] if ids else first.application)
        timeout, interval = (first.fields.get(name, "?") for name in ("transaction_timeout_ms", "commit_interval_ms"))
        yield incident(
            "invalid_streams_config",
            "commit-interval-above-transaction-timeout",
            {"application.id": owner},
            events,
            f"Streams refused to start: commit.interval.ms={interval} is above the transaction timeout "
            f"of {timeout} ms.",
            "Lower commit.interval.ms, or raise producer.transaction.timeout.ms above it.",
            confidence=0.95,
        )
    refused = timeline.of("INVALID_TXN_TIMEOUT")
    for (transactional_id, _), events in _by_name(
        timeline, ((timeline.transactional_id(event), event) for event in refused)
    ):
        for episode in retries(events, EPISODE_MS):
            yield incident(
                "invalid_transaction_timeout",
                "transaction-timeout-above-broker-max",
                {"transactional.id": transactional_id, **_client_of(episode[0])},
                episode,
                f"{transactional_id or opening(program_of(timeline, episode[0]))} asks for a transaction timeout "
                "above the brokers' transaction.max.timeout.ms.",
                "Lower transaction.timeout.ms of the client, or raise transaction.max.timeout.ms of the brokers.",
                confidence=0.95,
            )


_SAME_MS: Final = 100
"""Programs write the name of an exception and its text as two records."""
_ABOVE_CLIENT: Final = "record-above-client-limit"
_ABOVE_BROKER: Final = "record-above-broker-limit"
_ABOVE_FETCH: Final = "record-above-fetch-limit"
_ABORTED: Final = "{owner} must be aborted"
_RAISE: Final = "Raise this limit on client and broker alike, or keep large payloads out of Kafka."
_LOST: Final = "the program drops its batch, so these records are missing in Kafka"
_RAISE_FOR_BATCHES: Final = (
    "Raise the limit of the output and max.message.bytes of the topic alike, or let the program write smaller batches. "
    "The program does not keep what it dropped: read it again from its source."
)
_LIMITS: Final = {
    _ABOVE_CLIENT: ("max.request.size of the client", _ABORTED, _RAISE),
    _ABOVE_BROKER: ("message.max.bytes of the broker or topic", _ABORTED, _RAISE),
    _ABOVE_FETCH: (
        "the fetch limit of its consumer",
        "the consumer stands still in front of it",
        (
            "Raise fetch.message.max.bytes and receive.message.max.bytes of the consumer above the topic's "
            "max.message.bytes."
        ),
    ),
}
"""For each cause: the limit, the effect, and the next step."""


def find_large_records(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield records that exceed the client's or the broker's size limit."""
    events = timeline.client_events("RECORD_TOO_LARGE")
    for (_, _, root_cause), group in _by_limit(timeline, events).items():
        for episode in retries(group, EPISODE_MS):
            named = next(
                (timeline.transactional_id(event) for event in episode if timeline.transactional_id(event)), ""
            )
            size = next((event.fields["record_bytes"] for event in episode if event.fields.get("record_bytes")), "")
            topic = next((event.fields["topic"] for event in episode if event.fields.get("topic")), "")
            limit, effect, step = _LIMITS[root_cause]
            if any(event.fields.get("gave_up") for event in episode):
                setting = next(filter(None, (event.fields.get("limit_setting") for event in episode)), limit)
                limit, effect, step = f"the limit of its client or of the topic ({setting})", _LOST, _RAISE_FOR_BATCHES
            where = f"for {topic}" if topic else f"in {PurePath(episode[0].file).name}"
            owner = "its transaction" if named else "it is refused at each retry, and a transaction that it belongs to"
            yield incident(
                "record_too_large",
                root_cause,
                {
                    "transactional.id": named,
                    "topic": topic,
                    "application": episode[0].application,
                    "connector.task": next(filter(None, (one.fields.get("connector_task") for one in episode)), ""),
                },
                episode,
                f"A record{f' of {size} bytes' if size else ''} {where} is above {limit}; "
                f"{effect.format(owner=owner)}.",
                step,
                confidence=0.95,
            )


def _by_limit(timeline: LogTimeline, events: Sequence[LogEvent]) -> dict[tuple[str, str, str], list[LogEvent]]:
    """Group events by log, limit, and transactional id; an event without an id joins the one before it."""
    groups: dict[tuple[str, str, str], list[LogEvent]] = {}
    latest: dict[str, str] = {}
    named: dict[tuple[str, str], str] = {}
    stating = tuple(one for one in events if one.fields.get("limit_setting") or one.fields.get("refused_by_client"))
    for event in events:
        # librdkafka also uses the broker's error for its own limit; only produce calls fail immediately.
        log = timeline.log_of(event)
        if event.fields.get("fetch_limit"):
            groups.setdefault((log, "", _ABOVE_FETCH), []).append(event)
            continue
        own = event in stating
        by_broker = bool(event.fields.get("refused_by_broker"))
        stated = own or by_broker or "MSG_SIZE_TOO_LARGE" in event.message or event.exception
        # An echo ("because we are in an error state") belongs to the refusal before it.
        root = _ABOVE_CLIENT if own else _ABOVE_BROKER if stated else latest.get(log, _ABOVE_BROKER)
        soon = within(stating, time_of(event), time_of(event) + _SAME_MS)
        if (
            not own
            and not by_broker
            and (latest.get(log) == _ABOVE_CLIENT or any(timeline.log_of(one) == log for one in soon))
        ):
            root = _ABOVE_CLIENT
        latest[log] = root
        owner = event.fields.get("transactional_id") or named.get((log, root)) or timeline.transactional_id(event)
        named[log, root] = owner
        groups.setdefault((log, owner, root), []).append(event)
    return groups


def find_failed_log_dirs(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the log directories that a broker lost."""
    own = [event for event in timeline.server_events("DISK_ERROR") if event.fields.get("log_dir") and _own_words(event)]
    for application, events in by_key((event.application, event) for event in own).items():
        for episode in retries(events, EPISODE_MS):
            node = timeline.node_of(application)
            stopped = (event.fields["log_dir"] for event in episode if "replicas in dir" in event.message)
            paths = tuple(dict.fromkeys(stopped)) or (episode[0].fields["log_dir"],)
            errors = timeline.of("DISK_ERROR", "STORAGE_ERROR", "STORAGE_ECHO")
            # A broker without file descriptors fails to accept connections before it fails to open a file.
            files = [one for one in timeline.server_events("FD_EXHAUSTED") if one.application == application]
            echoes = [
                *within(errors, time_of(episode[0]), time_of(episode[-1]) + 30_000),
                *within(files, time_of(episode[0]) - EPISODE_MS, time_of(episode[-1]) + EPISODE_MS),
            ]
            broker = f"Broker {node}" if node else "A broker"
            reasons = {event.fields["os_error"] for event in (*episode, *echoes) if event.fields.get("os_error")}
            why, step = (
                _advice(reasons) if len(paths) > 1 else (storage_error(reasons).why, storage_error(reasons).next)
            )
            if not why and (thrown := next(filter(None, (one.fields.get("thrown") for one in episode)), "")):
                why = f' ("{short_text(thrown)}")'
            replicas = "the replicas in it are" if len(paths) == 1 else "their replicas are"
            yield incident(
                "log_dir_failure",
                storage_error(reasons).cause,
                {"broker": node, "log.dir": paths[0], "log.dirs": paths if len(paths) > 1 else ()},
                [*episode, *echoes],
                f"{broker} can no longer use {' and '.join(paths)}{why}; {replicas} offline.{_end(episode)}",
                f"{step}, then restart the broker. It copies what other brokers have of its partitions; a "
                "partition without another replica has only what is in the directory.",
                severity=_severity((*episode, *echoes)),
                confidence=0.95,
            )


def _advice(reasons: Iterable[str]) -> tuple[str, str]:
    """Return why several directories failed, each perhaps for its own reason, and the next steps."""
    errors = {error.cause: error for error in map(storage_error, ([reason] for reason in sorted(reasons)))}
    if len(errors) < 2:
        return storage_error(reasons).why, storage_error(reasons).next
    return f": the system reports {' and '.join(sorted(reasons))}", "; ".join(one.next for one in errors.values())


_ENDED: Final = ("all log dirs in ", "none of the specified log dirs from ")
"""The broker has no log directory left and ends."""


def _end(events: Iterable[LogEvent]) -> str:
    is_last = any(words in event.message for event in events for words in _ENDED)
    return " It was the last one, so the broker shut down: clients cannot connect to it." if is_last else ""


def _severity(events: Iterable[LogEvent]) -> Severity:
    return Severity.CRITICAL if any(words in event.message for event in events for words in _ENDED) else Severity.ERROR


def _own_words(event: LogEvent) -> bool:
    words = ("Stopping serving", "have failed", "Error while ", *_ENDED)
    return "LogDirFailureChannel" in event.logger or any(one in event.message for one in words)
