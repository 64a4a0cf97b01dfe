"""Word the incidents of the catalog: their subjects, and their sentences with names, numbers, and the last cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.classifier.client_errors import category_of_error
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.programs.streams_names import StreamsNames
from eosctl.logs.incidents.remaining.connection_stages import stage_of
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.roles import role_of_record
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent
from eosctl.text import one_line

UNEXPLAINED: Final = "unexplained"
_HANDSHAKE: Final = 0x16
"""The content type of the TLS records of a handshake."""
_VERSION: Final = 0x03
"""The major version of each TLS record."""
_METHODS: Final = frozenset({"GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "PATC", "CONN", "TRAC", "PRI "})
"""The first four characters of a request of HTTP; the last one is the preface of HTTP/2."""
_TEXT: Final = range(0x20, 0x7F)
_SUBJECT: Final[tuple[tuple[EventField, str], ...]] = (
    ("group", "group"),
    ("group_instance_id", "group.instance.id"),
    ("partition", "topic-partition"),
    ("coordinator_partition", "topic-partition"),
    ("topic", "topic"),
    ("topic_id", "topicId"),
    ("partition_index", "partition"),
    ("principal", "principal"),
    ("operation", "operation"),
    ("store", "store"),
    ("process", "process"),
    ("log_dir", "log.dir"),
    ("state_dir", "state.dir"),
    ("task", "task"),
    ("source_offset", "offset"),
    ("peer", "server"),
    ("connector_task", "connector.task"),
    ("connector", "connector"),
    ("rdkafka_client", "client"),
    ("pod", "pod"),
    ("device", "device"),
    ("producer_id", "producerId"),
    ("producer_epoch", "producerEpoch"),
)
"""Names of record fields in the subject of an incident."""
_SEVERAL: Final[Mapping[EventField, str]] = {
    "connector_task": "connector.tasks",
    "partition_index": "partitions",
    "task": "tasks",
}
"""Fields with several values in the records of one fault, and the name of them all."""
_UNKNOWN: Final[Mapping[str, str]] = {
    "topic-partition": "a partition",
    "topic": "a topic",
    "transactional.id": "its clients",
    "group": "its group",
    "producerId": "unknown",
    "server": "the name of a server",
    "broker-address": "a broker",
    "topic-or-partition": "a topic or partition",
    "operation": "a request",
    "pod": "a pod",
    "component": "a resource",
    "connector-tasks": "a connector task",
    "process": "a process",
    "awaited": "what it needs",
}
"""The general terms for what a record does not name."""
INTERNAL_TOPICS: Final[Mapping[str, str]] = {
    "transaction.state.log.replication.factor": "__transaction_state",
    "offsets.topic.replication.factor": "__consumer_offsets",
    "share.coordinator.state.topic.replication.factor": "__share_group_state",
}
"""The internal topics whose settings records name."""
_DETAILS: Final[tuple[tuple[EventField, str], ...]] = (
    ("address", "address"),
    ("shortage", "shortage"),
    ("slot", "slot"),
    ("session", "session"),
    ("position", "position"),
    ("policy", "policy"),
    ("in_sync", "in-sync"),
    ("replicas", "replicas"),
    ("min_isr", "min.isr"),
    ("kept_to", "kept-to"),
    ("high_watermark", "high-watermark"),
    ("allocation_bytes", "allocation-bytes"),
    ("shard", "shard"),
    ("refusal", "refusal"),
    ("metadata_offset", "metadata-offset"),
    ("is_fatal", "is-fatal"),
    ("missing", "missing"),
    ("awaited", "awaited"),
    ("component", "component"),
    ("codec", "codec"),
    ("setting", "setting"),
    ("schema_subject", "schema-subject"),
    ("suppressed", "suppressed"),
)
"""Further fields that sentences of the catalog have."""
_LAST_LASTS: Final = kinds_with("last_lasts")
_OPTIONAL: Final = re.compile(r"\[(?:(?P<absent>!)?(?P<condition>[\w.-]+)\? )?(?P<text>[^\[\]]*)\]")
"""A part of a sentence that is left out if one of its values is unknown, or if its condition is not met."""
_UNITS: Final[Mapping[int, str]] = {10: "seconds", 16: "microseconds", 19: "nanoseconds"}
"""The units of a time since 1970 by its number of digits, from 2001 to 2286; 13 are milliseconds."""
_FATAL: Final = (
    re.compile(r"[Ff]atal (?:\w{1,20} )?error: (?!Local: Fatal)(?P<reason>[^\n]{4,300})"),
    re.compile(r"KafkaError\{FATAL,[^\n]{0,80}\bstr=\"(?P<reason>[^\"\n]{4,300})"),
)
"""The reason behind a fatal error of librdkafka, and of its binding for Python."""
_NO_REASON: Final = re.compile(r"(?i)(?:sasl )?authentication failed|unknown|none|null")
"""A refusal that has no reason."""
_SHORTEST_REASON: Final = 12
_MOST_NAMED: Final = 5
"""Maximum number of names in a sentence."""
_QUOTED_CHARACTERS: Final = 400
_PLACEHOLDER: Final = "{topic"


def subject_of(
    timeline: LogTimeline, streams: StreamsNames, known: CatalogedIncident, events: Sequence[LogEvent]
) -> dict[str, str | tuple[str, ...]]:
    """Return the subject of records of one category: each name that all of them agree on, or else their log."""
    head = events[0]
    is_of_topic = _PLACEHOLDER in known.what
    is_client = head.application not in timeline.servers()
    subject: dict[str, str | tuple[str, ...]] = {
        "transactional.id": next(filter(None, (transactional_id_of(timeline, one) for one in events)), "")
    }
    for field, name in _SUBJECT:
        values = {value for one in events if (value := one.fields.get(field))}
        if len(values) == 1 and not subject.get(name):
            subject[name] = values.pop()
        elif len(values) > 1 and (plural := _SEVERAL.get(field)):
            subject[plural] = tuple(sorted(values))[:MAX_EVIDENCE_COUNT]
    if not subject.get("topic") and (topic := INTERNAL_TOPICS.get(head.fields.get("limit_setting", ""))):
        subject["topic"] = topic
    if is_client and not subject.get("group"):
        subject["group"] = timeline.value_in_log(head, "group")
    if is_client and head.category == "STATIC_MEMBER_FENCED" and not subject.get("group.instance.id"):
        subject["group.instance.id"] = timeline.value_in_log(head, "group_instance_id")
    if is_client and is_of_topic and not (subject.get("topic") or subject.get("topic-partition")):
        subject["topic-partition"] = timeline.value_in_log(head, "partition")
        subject["topic"] = timeline.value_in_log(head, "topic")
    if is_client:
        clients = {client for one in events if (client := one.fields.get("client_id"))}
        subject["client.id"] = clients.pop() if len(clients) == 1 else ""
        subject["application.id"] = _streams_application(streams, events)
        subject["application"] = head.application
    else:
        role = role_of(timeline, head)
        subject[role] = head.fields.get("broker", "") or timeline.node_of(head.application)
    return {name: value for name, value in subject.items() if value}


def transactional_id_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the transactional id that an event names, or the only one that its client can have."""
    if event.application in timeline.servers():
        return event.fields.get("transactional_id", "")
    return timeline.transactional_id(event)


def _streams_application(streams: StreamsNames, events: Sequence[LogEvent]) -> str:
    """Return the Streams application whose threads wrote records; empty for any other program."""
    is_of_streams = any(one.fields.get("stream_thread") or one.fields.get("stream_client") for one in events)
    return streams.of(events) if is_of_streams else ""


def role_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the role of a server: that of a record, or of all records of its log that name its node."""
    return role_of_record(event) or timeline.role_of(event.application)


def details_of(events: Sequence[LogEvent]) -> dict[str, str]:
    """Return what the sentence on records of one category can say about them apart from their subject."""
    found = {}
    for field, name in _DETAILS:
        if value := next((value for one in events if (value := one.fields.get(field))), ""):
            found[name] = one_line(value, _QUOTED_CHARACTERS).rstrip(".")
    if _NO_REASON.fullmatch(found.get("refusal", "")):
        del found["refusal"]
    if tasks := sorted({task for one in events if (task := one.fields.get("connector_task"))}):
        found["connector-tasks"] = f"connector {'tasks' if len(tasks) > 1 else 'task'} {_listed(tasks)}"
    if any("ommit" in one.message for one in events):
        found["commits"] = "commits"
    if any(one.exception is not None or one.fields.get("thrown") for one in events):
        found["exception"] = "exception"
    stage = stage_of(events) or "any-stage"
    found[stage] = stage
    if fatal := next((match for one in events for each in _FATAL if (match := each.search(one.message))), None):
        found["fatal-reason"] = one_line(fatal["reason"], _QUOTED_CHARACTERS).rstrip(".")
    if received := {value for one in events if (value := one.fields.get("received_bytes"))}:
        found["speakers"] = " and ".join(sorted(filter(None, {speaker_of(int(value)) for value in received})))
    if stamp := next((value for one in events if (value := one.fields.get("record_timestamp"))), ""):
        found["timestamp"] = stamp
        found["unit"] = _UNITS.get(len(stamp), "")
    return found


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED:,} more"] if len(names) > _MOST_NAMED else [*names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in a sentence of the catalog; an unknown value gets a general term."""
    if values.get("topic") and not values.get("topic-partition"):
        values = {**values, "topic-partition": f"a partition of {values['topic']}"}
    elif (topic_id := values.get("topicId")) and not values.get("topic-partition"):
        partition = f"partition {values['partition']}" if values.get("partition") else "several partitions"
        values = {**values, "topic-partition": f"{partition} of the topic with id {topic_id}"}
    kept = _OPTIONAL.sub(lambda part: part["text"] if _is_kept(part, values) else "", text).strip()
    parts = Formatter().parse(kept)
    pieces = (before + (values.get(name) or _general(name) if name else "") for before, name, _, _ in parts)
    sentence = "".join(pieces)
    return f"A{sentence[1:]}" if sentence.startswith("a ") else sentence


def _is_kept(part: re.Match[str], values: Mapping[str, str]) -> bool:
    """Return whether a part of a sentence applies: what it names is known, and its condition holds.

    The condition is a value that the records show (``name?``), or that none of them shows (``!name?``).
    """
    if (condition := part["condition"]) and bool(values.get(condition)) is bool(part["absent"]):
        return False
    return all(map(values.get, _names_in(part["text"])))


def _names_in(text: str) -> Iterable[str]:
    return (name for _, name, _, _ in Formatter().parse(text) if name)


def _general(name: str) -> str:
    return _UNKNOWN.get(name) or f"a {re.sub(r'[.-]', ' ', name)}"


def last_cause(known: CatalogedIncident, events: Sequence[LogEvent]) -> str:
    """Return a sentence with the exception of an incident; empty without one, or if the category names it."""
    ordered = reversed(events) if known.kind in _LAST_LASTS else events
    thrown = next((text for one in ordered if (text := one.fields.get("thrown"))), "")
    if known.cause == UNEXPLAINED and not thrown:
        thrown = next((one.exception.root_class.rpartition(".")[2] for one in events if one.exception is not None), "")
    elif known.cause != UNEXPLAINED and thrown and _is_its_own(thrown, events[0]):
        return ""
    return f" Its last cause: {one_line(thrown, _QUOTED_CHARACTERS).rstrip('.')}." if thrown else ""


def _is_its_own(thrown: str, event: LogEvent) -> bool:
    """Return whether an exception says no more than the category of its record: it has the error's usual text."""
    name, _, text = thrown.partition(":")
    if category_of_error(name) != event.category:
        return False
    return len(text) < _SHORTEST_REASON or category_of_error(text) == event.category


def speaker_of(received_bytes: int) -> str:
    """Return what a client speaks, in words, by the size that its first bytes are as an integer; empty if unknown.

    A listener reads the first four bytes of a request as its size, in network byte order. Other protocols begin with
    text, or with the header of a TLS record (RFC 8446, section 5.1).

    >>> speaker_of(int.from_bytes(b"GET "))
    "HTTP ('GET ')"
    """
    if not 0 <= received_bytes < 1 << 32:
        return ""
    first = received_bytes.to_bytes(4)
    if first[0] == _HANDSHAKE and first[1] == _VERSION:
        return "TLS (a handshake)"
    if any(one not in _TEXT for one in first):
        return ""
    text = first.decode("ascii")
    return f"HTTP ('{text}')" if text in _METHODS else f"another protocol ('{text}')"
