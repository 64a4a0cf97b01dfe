"""The components that outputs of Kafka's tools show, as files would give them: brokers, topics, and access rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.checks.configuration.cluster import broker_components
from eosctl.collect.printed.evidence import PrintedEvidence, ToolOutput
from eosctl.collect.printed.sections import ACLS, CONFIGS, TOPICS
from eosctl.model.cluster_state import AccessRule
from eosctl.model.deployment import ALL_BROKERS, Component, Place, Role, Value
from eosctl.model.setting import SettingSource
from eosctl.model.snapshot import Topic

OUTPUTS_OF_SETTINGS: Final = (CONFIGS, TOPICS)
_SUBJECT: Final = re.compile(
    r"onfigs for (?:broker (?P<broker>\d+)|(?P<shared>brokers)|topic '?(?P<name>[\w.-]+))|Topic: ?(?P<topic>[\w.-]+)"
)
_FACTOR: Final = re.compile(r"ReplicationFactor: ?(\d+)")
_PATTERN_TYPES: Final = {"Prefixed": "prefix"}


def printed_components(printed: PrintedEvidence, texts: Mapping[str, str]) -> tuple[Component, ...]:
    """Return the brokers and topics that outputs show settings of, each setting with the line that prints it.

    The topics exist, and what is printed of them may be an excerpt: their number of partitions is left out.
    """
    outputs = [one for one in printed.outputs if one.tool in OUTPUTS_OF_SETTINGS]
    if printed.snapshot is None or not outputs:
        return ()
    output = outputs[0]
    place = Place(output.file, output.line)
    lines = [line for one in outputs for line in _lines(one, texts.get(one.file, ""))]
    factors = {one.subject: shown[1] for one in lines if (shown := _FACTOR.search(one.text))}
    topics = (_topic(topic, place, factors.get(topic.name)) for topic in printed.snapshot.topics)
    found = (*broker_components(printed.snapshot), *(topic for topic in topics if topic.given))
    return tuple(
        replace(
            one,
            place=place,
            recognized_by=output.tool,
            given={
                name: replace(value, place=_place(lines, one.name, name, place)) for name, value in one.given.items()
            },
        )
        for one in found
    )


def printed_rules(printed: PrintedEvidence, texts: Mapping[str, str]) -> tuple[Component, ...]:
    """Return the rules that kafka-acls.sh printed, each at its line; they grant what clients in other files need."""
    found = None if printed.snapshot is None else printed.snapshot.access_rules
    output = next((one for one in printed.outputs if one.tool == ACLS), None)
    if found is None or output is None:
        return ()
    lines = [line for one in printed.outputs if one.tool == ACLS for line in _lines(one, texts.get(one.file, ""))]
    default = Place(output.file, output.line)

    def place_of(rule: AccessRule) -> Place:
        named = f"name={rule.resource_name}, patternType={rule.pattern_type}".lower()
        return next((line.place for line in lines if named in line.text.lower()), default)

    return tuple(_rule(rule, place_of(rule)) for rule in found.rules)


class _Line(NamedTuple):
    """A line of an output, and the broker or topic that it is about."""

    subject: str
    text: str
    place: Place


def _lines(output: ToolOutput, text: str) -> Iterator[_Line]:
    subject = ""
    for number, line in enumerate(text.splitlines(), 1):
        if number >= output.line:
            found = _SUBJECT.search(line)
            subject = subject if found is None else _subject(found)
            yield _Line(subject, line, Place(output.file, number))


def _subject(found: re.Match[str]) -> str:
    if found["shared"]:
        return ALL_BROKERS
    return f"broker {found['broker']}" if found["broker"] else found["name"] or found["topic"]


def _place(lines: Iterable[_Line], subject: str, name: str, default: Place) -> Place:
    """Return where an output prints a setting of a broker or topic."""
    printed = "ReplicationFactor" if name == "replication.factor" else f"{name}="
    subjects = (subject, ALL_BROKERS) if subject.startswith("broker ") else (subject,)
    given = list(lines)
    found = (one.place for named in subjects for one in given if one.subject == named and printed in one.text)
    return next(found, default)


def _topic(topic: Topic, place: Place, factor: str | None) -> Component:
    """Return a topic; of partitions with fewer replicas than the topic's factor, these count."""
    overridden = {
        s.name: s.value for s in topic.settings if s.source is SettingSource.DYNAMIC_TOPIC and not s.sensitive
    }
    factors = {len(partition.replicas) for partition in topic.partitions}
    if factors or factor:
        overridden["replication.factor"] = str(min(factors)) if factors else str(factor)
    given = {name: Value(name, text, name, place) for name, text in overridden.items()}
    return Component(Role.TOPIC, topic.name, place, place.file, given)


def _rule(rule: AccessRule, place: Place) -> Component:
    pattern = _PATTERN_TYPES.get(rule.pattern_type, rule.pattern_type.lower())
    own = {
        "resource.type": rule.resource_type[:1].lower() + rule.resource_type[1:],
        "resource.name": rule.resource_name,
        "pattern.type": pattern,
        "operations": rule.operation,
        "permission": rule.permission.lower(),
        "principal": rule.principal.removeprefix("User:"),
    }
    given = {name: Value(name, text, name, place) for name, text in own.items()}
    return Component(Role.ACCESS_RULE, rule.principal, place, place.file, given, recognized_by=ACLS)
