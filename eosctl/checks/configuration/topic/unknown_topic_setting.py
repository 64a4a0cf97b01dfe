"""EOS-CFG-152."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.parameter import Parameter, ParameterTable, Release
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.spring_names import TOPIC_PROPERTY
from eosctl.text import release_text

COUNTS = frozenset(
    {"partitions", "replication.factor", "num.partitions", "topic", "name", "include", "exclude", "enable", "groups"}
)
_OF_TOPICS: Final = {
    **dict.fromkeys(("log.retention.hours", "log.retention.minutes"), "retention.ms"),
    **dict.fromkeys(("log.roll.ms", "log.roll.hours"), "segment.ms"),
    **dict.fromkeys(("log.roll.jitter.ms", "log.roll.jitter.hours"), "segment.jitter.ms"),
    "log.cleaner.delete.retention.ms": "delete.retention.ms",
    "log.cleaner.min.compaction.lag.ms": "min.compaction.lag.ms",
    "log.cleaner.max.compaction.lag.ms": "max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio": "min.cleanable.dirty.ratio",
    "log.flush.interval.messages": "flush.messages",
    "log.flush.interval.ms": "flush.ms",
    "log.segment.delete.delay.ms": "file.delete.delay.ms",
    "message.max.bytes": "max.message.bytes",
}
"""Brokers' names of what topics call otherwise (``ServerTopicConfigSynonyms``)."""
_ROLES: Final = (Role.TOPIC, Role.SPRING, Role.STREAMS, Role.SOURCE_CONNECTOR)
_OF_CONNECT: Final = re.compile(r"topic\.creation\.[\w-]+\.(.+)$")


@check(
    "EOS-CFG-152",
    "Setting that topics do not have",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=_ROLES,
    reads=(),
    references=(
        "org.apache.kafka.storage.internals.log.LogConfig.validateNames",
        "KIP-158",
        "StreamsConfig.TOPIC_PREFIX",
        "ServerTopicConfigSynonyms",
    ),
)
def unknown_topic_setting(case: Case) -> Iterator[Problem]:
    """Find settings of brokers or clients on topics.

    What it checks:
        Names in the settings of a topic that LogConfig of the release does not have, and that brokers, clients, or
        another release do have. An application may create the topic: a source connector (topic.creation.GROUP.), a
        Streams application (topic.), a binding of Spring Cloud Stream (topic.properties).

    Why it matters for exactly-once:
        The controller refuses the whole change (InvalidConfigurationException: Unknown topic config name). The topic
        is not created, or keeps its old settings.

    Example:
        log.segment.bytes in the config of a KafkaTopic; a topic has segment.bytes.

    Fix:
        Write the topic's own name, mostly that of the broker without log. at its beginning, or remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    table = case.deployment.tables["topic"]
    others = {name for key, one in case.deployment.tables.items() if key != "topic" for name in one.parameters}
    for component in case.deployment.of(*_ROLES):
        if component.place.line < 1:
            continue
        for name, value in topic_settings(component):
            declared = table.parameters.get(name)
            is_known = declared is not None and (
                not component.release_named or _is_in(declared, table, component.release)
            )
            if is_known or (declared is None and name not in others) or name in COUNTS:
                continue
            own = _OF_TOPICS.get(name, name.removeprefix("log."))
            meant = own if own != name and own in table.parameters else ""
            yield problem(
                component,
                (value,),
                f"{value.key} is not a setting of topics in Kafka {release_text(component.release)}.",
                impact="Kafka refuses the settings of the topic as a whole (Unknown topic config name).",
                remedy=f"Write {meant}, or remove {value.key}." if meant else f"Remove {value.key}.",
            )


def _is_in(declared: Parameter, table: ParameterTable, release: Release) -> bool:
    """Return whether a release has a setting; of releases before the table's first it is not known which they have."""
    return declared.at(max(release, table.first)) is not None


def topic_settings(component: Component) -> Iterator[tuple[str, Value]]:
    """Yield the settings of topics that a component has, or gives to topics that it creates."""
    for key, value in component.given.items():
        if component.role is Role.TOPIC:
            yield key, value
        elif component.role is Role.SPRING and key.startswith(TOPIC_PROPERTY):
            yield key.rpartition("/")[2], value
        elif component.role is Role.STREAMS and key.startswith("topic."):
            yield key.removeprefix("topic."), value
        elif component.role is Role.SOURCE_CONNECTOR and (found := _OF_CONNECT.match(key)) is not None:
            yield found[1], value
