"""Name the client of an incident whose records name none: by what the whole log of its program names only once.

Such a name is an inference, and the incident says so. Where a log names two, it could be either, and none is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.program_names import MADE_NAME
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_IDENTITIES: Final = (
    *("transactional.id", "transactional.ids", "group", "groups", "application.id", "connector.task"),
    *("connector.tasks", "connector", "client.id", "client", "clients", "component", "principal", "query", "queries"),
    *("pod", "pods", "host", "process"),
)
"""Names in a subject that identify a client."""
_FIELDS: Final[dict[str, EventField]] = {
    "transactional.id": "transactional_id",
    "group": "group",
    "application.id": "application_id",
    "connector.task": "connector_task",
    "client.id": "client_id",
}
_OF_PRODUCERS: Final = kinds_with("fails_transaction") | kinds_with("of_producer") | kinds_with("in_error_state")
_BY_PRODUCER: Final = ("transactional.id", "connector.task", "application.id", "client.id", "group")
_BY_MEMBER: Final = ("group", "application.id", "connector.task", "transactional.id", "client.id")
_NAMELESS: Final = "A member of its group"


def name_known_owners(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; one without the name of a client gets the only one that the log of its program has."""
    for one in incidents:
        events = timeline.evidence(one)
        clients = [event for event in events if event.application not in timeline.servers()]
        found = None if not clients or len(clients) < len(events) or _is_named(one) else _known(timeline, one, clients)
        yield _worded(one) if found is None else _with_owner(one, clients, *found)


def _is_named(one: Incident) -> bool:
    values = (one.subject.get(name, "") for name in _IDENTITIES)
    return any(value and not (isinstance(value, str) and _is_made(value)) for value in values)


def _is_made(name: str) -> bool:
    """Return whether a name is one that libraries make up, which a restart or another program repeats."""
    return MADE_NAME.fullmatch(name.partition("#")[0]) is not None


def _known(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> tuple[str, str] | None:
    """Return the first name, and its value, that the logs of records agree on; None if they agree on none."""
    logs = {timeline.log_of(event): event for event in events}
    for name in _BY_PRODUCER if one.kind in _OF_PRODUCERS else _BY_MEMBER:
        values = {_value(timeline, event, name) for event in logs.values()}
        if len(values) == 1 and (value := values.pop()):
            return name, value
    return None


def _value(timeline: LogTimeline, event: LogEvent, name: str) -> str:
    field = _FIELDS[name]
    if len(timeline.values_in_log(event, field)) > 1:
        return ""
    if name == "transactional.id":
        return timeline.transactional_id(event)
    if name == "group":
        return timeline.group_of(event)
    value = timeline.value_in_log(event, field)
    return "" if name == "client.id" and MADE_NAME.fullmatch(value) else value


def _with_owner(one: Incident, events: Sequence[LogEvent], name: str, value: str) -> Incident:
    text = one.explanation
    for file in {PurePath(event.file.replace("\\", "/")).name for event in events}:
        for words in (f"the program of {file}", f"The program of {file}", f"a client in {file}", f"A client in {file}"):
            text = text.replace(words, value)
    inferred = f"No record of it names its client; the log of its program names only one {name}, {value}."
    return _worded(one._replace(subject={**one.subject, name: value}, explanation=f"{text} {inferred}"))


def _worded(one: Incident) -> Incident:
    """Return an incident whose sentence names the member that its subject names."""
    if _NAMELESS not in one.explanation:
        return one
    group = one.subject.get("group") or ""
    client = one.subject.get("client") or one.subject.get("client.id") or ""
    who = f"A member of {group}" if group else client
    named = isinstance(group, str) and isinstance(client, str) and who
    return one._replace(explanation=one.explanation.replace(_NAMELESS, str(who), 1)) if named else one
