"""Group records that no incident explains by category and subject, so that each group is one action.

Errors that are not in the catalog are grouped by logger and template: their effect was not judged. Groups of parts of
the logs can be merged. The result is that of all records together, and its size depends on the number of groups only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.timeline.evidence import short_text
from eosctl.model.event_names import EventField
from eosctl.model.log_event import FATAL_LEVELS, UNCLASSIFIED, LogEvent

TEMPLATES_OF_A_LOGGER: Final = 20
"""Above this number, all errors of a logger form one group: its messages contain values that the template keeps."""
QUOTED_AT_EACH_END: Final = 3
_SUBJECTS: Final[tuple[tuple[EventField, str], ...]] = (
    ("transactional_id", "transaction"),
    ("coordinator_partition", "partition"),
    ("group", "group"),
    ("partition", "partition"),
    ("application_id", "application"),
    ("topic", "topic"),
    ("log_dir", "log directory"),
    ("broker", "broker"),
)
_KAFKA: Final = re.compile(r"(?i:kafka|zookeeper|broker|topic|partition|offset|consumer|producer|rebalanc|stream)")
_NAMED: Final[tuple[EventField, ...]] = (
    *("transactional_id", "producer_id", "group", "partition", "coordinator_partition", "broker", "log_dir"),
)


class GroupKey(NamedTuple):
    """What the records of a group share.

    Attributes:
        category: Their category.
        kind: The kind of their subject: a resource that they name, a logger, or an application.
        name: The name of the subject.
        is_fatal: Whether they are errors outside the catalog of a level above ERROR.
        template: The template of errors outside the catalog; None for all of the subject.
    """

    category: str
    kind: str
    name: str
    is_fatal: bool = False
    template: str | None = None


class QuotedRecord(NamedTuple):
    """A record in the order of time; one without a time is before all others."""

    order_ms: int
    file: str
    offset: int
    line: int
    time_ms: int | None
    text: str


class RecordGroup(NamedTuple):
    """The records of a group.

    Attributes:
        key: What they share.
        record_count: Their number.
        first_ms: The time of the first one; None if none has a time.
        last_ms: The time of the last one.
        earliest: The first ``2 * QUOTED_AT_EACH_END`` records.
        latest: The last ``QUOTED_AT_EACH_END`` records.
        names: The ids that they name, each with one value, or with two of several.
    """

    key: GroupKey
    record_count: int
    first_ms: int | None
    last_ms: int | None
    earliest: tuple[QuotedRecord, ...]
    latest: tuple[QuotedRecord, ...]
    names: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def quoted(self) -> tuple[QuotedRecord, ...]:
        """Return all records if they are few; otherwise, the first and the last ones."""
        is_whole = self.record_count <= 2 * QUOTED_AT_EACH_END
        return self.earliest if is_whole else (*self.earliest[:QUOTED_AT_EACH_END], *self.latest)


def group_unexplained(events: Iterable[LogEvent]) -> tuple[RecordGroup, ...]:
    """Group records that no incident explains, the earliest group first."""
    return merge_groups(map(_group_of, events))


def merge_groups(groups: Iterable[RecordGroup]) -> tuple[RecordGroup, ...]:
    """Merge the groups of several parts of the logs, the earliest group first."""
    by_key: dict[GroupKey, list[RecordGroup]] = {}
    templates: dict[GroupKey, set[str | None]] = {}
    for one in groups:
        by_key.setdefault(one.key, []).append(one)
        if one.key.category == UNCLASSIFIED:
            templates.setdefault(one.key._replace(template=None), set()).add(one.key.template)
    crowded = {key for key, found in templates.items() if None in found or len(found) > TEMPLATES_OF_A_LOGGER}
    joined: dict[GroupKey, list[RecordGroup]] = {}
    for key, own in by_key.items():
        logger = key._replace(template=None)
        joined.setdefault(logger if logger in crowded else key, []).extend(own)
    return tuple(sorted((_merged(key, own) for key, own in joined.items()), key=_order))


def to_json(groups: Iterable[RecordGroup]) -> str:
    """Encode groups as text, to move them between processes."""
    return json.dumps(list(groups))


def from_json(text: str) -> Iterator[RecordGroup]:
    """Decode groups.

    >>> list(from_json(to_json(()))) == []
    True
    """
    for key, record_count, first_ms, last_ms, earliest, latest, names in json.loads(text):
        yield RecordGroup(
            key=GroupKey(*key),
            record_count=record_count,
            first_ms=first_ms,
            last_ms=last_ms,
            earliest=tuple(QuotedRecord(*one) for one in earliest),
            latest=tuple(QuotedRecord(*one) for one in latest),
            names=tuple((name, tuple(values)) for name, values in names),
        )


def subject_of(event: LogEvent) -> tuple[str, str]:
    """Return the subject of a record, as kind and name: the first resource that it names, else its program."""
    for field, kind in _SUBJECTS:
        value = event.fields.get(field, "")
        # The coordinator's record has only the number of its partition.
        if value and not (field == "coordinator_partition" and value.isdigit()):
            return kind, value
    return "application", event.application


def _group_of(event: LogEvent) -> RecordGroup:
    """Return the group of a single record."""
    quote = QuotedRecord(
        order_ms=event.time_ms or 0,
        file=event.file,
        offset=event.offset,
        line=event.line,
        time_ms=event.time_ms,
        text=short_text(event.message),
    )
    names = tuple((name, (value,)) for name in _NAMED if (value := event.fields.get(name)))
    return RecordGroup(
        key=_key_of(event),
        record_count=1,
        first_ms=event.time_ms,
        last_ms=event.time_ms,
        earliest=(quote,),
        latest=(quote,),
        names=names,
    )


def _key_of(event: LogEvent) -> GroupKey:
    if event.category != UNCLASSIFIED:
        return GroupKey(event.category, *subject_of(event))
    owner = ("logger", event.logger) if event.logger else ("application", event.application)
    return GroupKey(event.category, *owner, event.level in FATAL_LEVELS, template_of(event.message))


def may_concern_kafka(event: LogEvent) -> bool:
    """Return whether an error names anything of Kafka or an exception; a database next to it reports its own."""
    text = f"{event.application} {event.logger} {event.message}"
    return bool(event.fields) or event.exception is not None or _KAFKA.search(text) is not None


def _merged(key: GroupKey, groups: Sequence[RecordGroup]) -> RecordGroup:
    if len(groups) == 1:
        return groups[0]._replace(key=key)
    values: dict[str, set[str]] = {}
    for name, own in chain.from_iterable(one.names for one in groups):
        values.setdefault(name, set()).update(own)
    return RecordGroup(
        key=key,
        record_count=sum(one.record_count for one in groups),
        first_ms=min((one.first_ms for one in groups if one.first_ms is not None), default=None),
        last_ms=max((one.last_ms for one in groups if one.last_ms is not None), default=None),
        earliest=tuple(sorted(chain.from_iterable(one.earliest for one in groups))[: 2 * QUOTED_AT_EACH_END]),
        latest=tuple(sorted(chain.from_iterable(one.latest for one in groups))[-QUOTED_AT_EACH_END:]),
        names=tuple((name, tuple(sorted(values[name])[:2])) for name in _NAMED if name in values),
    )


def _order(one: RecordGroup) -> tuple[int, QuotedRecord]:
    return one.first_ms or 0, one.earliest[0]
