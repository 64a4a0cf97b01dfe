"""EOS-CFG-152."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.parameter import Parameter, ParameterTable, Release
from eosctl.model.severity import Severity
from eosctl.text import release_text

COUNTS = frozenset({"partitions", "replication.factor", "num.partitions", "topic", "name"})


@check(
    "EOS-CFG-152",
    "Setting that topics do not have",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.TOPIC,),
    reads=(),
    references=("org.apache.kafka.storage.internals.log.LogConfig.validateNames",),
)
def unknown_topic_setting(case: Case) -> Iterator[Problem]:
    """Find settings of brokers or clients on topics.

    What it checks:
        Names in the settings of a topic that LogConfig of the release does not have, and that brokers, clients, or
        another release do have.

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
    for topic in case.deployment.of(Role.TOPIC):
        if topic.place.line < 1:
            continue
        for name, value in topic.given.items():
            declared = table.parameters.get(name)
            is_known = declared is not None and (not topic.release_named or _is_in(declared, table, topic.release))
            if is_known or (declared is None and name not in others) or name in COUNTS:
                continue
            own = name.removeprefix("log.")
            meant = own if own != name and own in table.parameters else ""
            yield problem(
                topic,
                (value,),
                f"{value.key} is not a setting of topics in Kafka {release_text(topic.release)}.",
                impact="Kafka refuses the settings of the topic as a whole (Unknown topic config name).",
                remedy=f"Write {meant}, or remove {value.key}." if meant else f"Remove {value.key}.",
            )


def _is_in(declared: Parameter, table: ParameterTable, release: Release) -> bool:
    """Return whether a release has a setting; of releases before the table's first it is not known which they have."""
    return declared.at(max(release, table.first)) is not None
