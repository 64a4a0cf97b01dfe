"""Return whose fault a record reports: the records of one category and one owner are one fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.incidents.remaining.sentences import transactional_id_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LogEvent

OF_QUORUM: Final = frozenset({"CONTROLLER_RESIGNED"})
"""Categories of faults of the whole metadata quorum, which each of its nodes reports."""
_OF_PROGRAM: Final = frozenset(
    {
        *("CLIENT_SETTING_REFUSED", "CODEC_NOT_AVAILABLE", "CONSUMING_TOO_SLOW", "ROLL_BLOCKED"),
        *("STORAGE_SPACE_LOW", "STORAGE_SPACE_SHRINKS"),
    }
)
"""Categories of faults of one program, whose records name different parts of it."""
_OF_GROUP: Final = frozenset({"TIMEOUT_OFFSETS", "HANGING_TXN_HINT"})
"""Categories of faults of a group, which a program logs again without the group's name."""
_OF_CLIENT: Final = frozenset({"OFFSET_OUT_OF_RANGE"})
"""Categories of faults that one client reports of several partitions together."""
_OF_PRODUCER: Final[Mapping[EventCategory, tuple[EventField, ...]]] = {
    "COORDINATOR_REFUSED": ("producer_id", "producer_epoch"),
    "UNKNOWN_PRODUCER_ID": ("producer_id",),
}
"""Categories of faults of a producer, with the fields that identify it: a broker does not log every epoch."""
_OF_MEMBER: Final = frozenset({"GROUP_FENCED"})
"""Categories of faults of one member, which a record without its group reports for each of its partitions."""
OF_PEER: Final = frozenset({"FOLLOWER_SILENT"})
"""Categories of faults of the node that a record names, which others report for each of its partitions."""
OF_PARTITION: Final = "{topic-partition}"
"""The begin of a verdict on a partition, which several programs report."""
_OWNERS: Final[tuple[EventField, ...]] = (
    "group",
    "partition",
    "coordinator_partition",
    "topic",
    "topic_id",
    "principal",
    "store",
    "log_dir",
)


def owner_of(timeline: LogTimeline, event: LogEvent, known: CatalogedIncident) -> str:
    """Return the subject of an event apart from its category: a name in it, or the program that wrote it."""
    if event.category in OF_QUORUM:
        return event.category
    if event.category in _OF_PROGRAM:
        return "\0".join((event.category, timeline.log_of(event)))
    if event.category in _OF_GROUP and (group := timeline.value_in_log(event, "group")):
        return "\0".join((event.category, event.fields.get("group", "") or group))
    if event.category in _OF_CLIENT and event.application not in timeline.servers():
        # The program reports its client's error again, without the names.
        client = event.fields.get("client_id") or timeline.value_in_log(event, "client_id")
        client = client or event.fields.get("rdkafka_client", "")
        group = event.fields.get("group") or timeline.value_in_log(event, "group")
        return "\0".join((event.category, timeline.log_of(event), client, group))
    if event.fields.get("producer_id") and (fields := _OF_PRODUCER.get(event.category)):
        return "\0".join((event.category, *(event.fields.get(one, "") for one in fields)))
    if event.category in _OF_MEMBER and _is_unnamed_member(timeline, event):
        return "\0".join((event.category, timeline.log_of(event)))
    if event.category in OF_PEER and (peer := event.fields.get("peer")):
        return "\0".join((event.category, peer))
    partition = event.fields.get("partition", "") if known.what.startswith(OF_PARTITION) else ""
    return "\0".join((event.category, partition or name_of(timeline, event) or timeline.log_of(event)))


def name_of(timeline: LogTimeline, event: LogEvent) -> str:
    """Return the transactional id or the other name that an event has; empty without one."""
    return transactional_id_of(timeline, event) or next(
        (value for name in _OWNERS if (value := event.fields.get(name))), ""
    )


def _is_unnamed_member(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a client's record names neither its group nor its client."""
    is_named = event.fields.get("group") or event.fields.get("client_id") or transactional_id_of(timeline, event)
    return not is_named and event.application not in timeline.servers()
