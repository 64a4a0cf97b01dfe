"""Complete the subjects of incidents with the names that all of their evidence agrees on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.program_names import client_id_of
from eosctl.logs.incidents.timeline import LogTimeline
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_NAMES: Final[tuple[tuple[EventField, str, str], ...]] = (
    ("transactional_id", "transactional.id", "transactional.ids"),
    ("group", "group", "groups"),
    ("group_instance_id", "group.instance.id", "group.instance.ids"),
    ("partition", "topic-partition", "topic-partitions"),
    ("producer_id", "producerId", "producerIds"),
    ("connector_task", "connector.task", "connector.tasks"),
)
"""Fields of records, their names in a subject, and the names for several of them."""
_WITHOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "transactional.id": ("application.id",),
    "producerId": ("application.id",),
    "topic-partition": ("log.dir",),
}
"""Names that are left out of a subject with another name: each thread of Streams has an id, each disk partitions."""
_SERVERS: Final = ("broker", "brokers", "controller", "controllers")


def complete_subjects(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents with each name that their subject lacks and that their evidence has with one value."""
    for one in incidents:
        events = timeline.evidence(one)
        found = dict(_names_of(timeline, one, events))
        yield one._replace(subject={**one.subject, **found}) if found else one


def _names_of(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Iterator[tuple[str, str]]:
    for field, name, plural in _NAMES:
        values = {value.rpartition(":")[2] for event in events if (value := event.fields.get(field))}
        # A coordinator's partition is where an id or a group is kept, not what the fault is about.
        values = {value for value in values if not value.startswith("__")}
        if len(values) == 1 and not any(one.subject.get(other) for other in (name, plural, *_WITHOUT.get(name, ()))):
            yield name, values.pop()
    clients = [event for event in events if event.application not in timeline.servers()]
    names = {name for event in clients if (name := client_id_of(event))}
    if len(names) == 1 and not any(one.subject.get(other) for other in ("client.id", "client", "application.id")):
        yield "client.id", names.pop()
    servers = {event.application for event in events} & timeline.servers()
    nodes = {timeline.node_of(server) for server in servers}
    if len(servers) == 1 and not clients and nodes != {""} and not any(one.subject.get(name) for name in _SERVERS):
        yield _role_of(events), nodes.pop()


def _role_of(events: Sequence[LogEvent]) -> str:
    """Return the role in which a node wrote records."""
    words = ("[QuorumController ", "[ControllerServer ", "[Controller ", "[RaftManager ")
    is_controller = all(event.message.startswith(words) or ".controller." in event.logger for event in events)
    return "controller" if is_controller else "broker"
