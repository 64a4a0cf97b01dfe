"""Replace what is assumed for every workload where a kind of application, or a release, sets something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from eosctl.capacity.workload_schema import (
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    DEFAULTS_BY_KIND,
    PURGED,
    TOPIC_KEYS,
    UNKNOWN,
    Assumed,
    Key,
)
from eosctl.model.workload import (
    FIRST_CONNECTOR_WITH_NAMING,
    ApplicationKind,
    Assumption,
    Cleanup,
    is_repartition_topic,
)

#: The first major release with level 2 of ``transaction.version`` (KIP-890).
FIRST_WITH_VERSION_2: Final = 4
BEFORE_VERSION_2: Final = Assumed("0", "the default before 4.0")
#: The values of a section of a workload file, by the fields that they fill.
Section = dict[str, Any]


def assume_by_kind(assumptions: list[Assumption], topics: Sequence[Section], applications: Sequence[Section]) -> None:
    """Replace what was assumed by what applications of their kind set themselves, in their topics too."""
    for kind, defaults in DEFAULTS_BY_KIND.items():
        own = [values for values in applications if values.get("kind") is kind]
        written = {name for values in own for name, _ in values["writes"]}
        for name, assumed in defaults.items():
            if (key := TOPIC_KEYS.get(name)) is not None:
                for values in topics:
                    if values["name"] in written:
                        _assume(assumptions, values, f"topics.{values['name']}.{name}", key, assumed)
            elif (key := APPLICATION_KEYS.get(name)) is not None:
                for values in own:
                    _assume(assumptions, values, f"applications.{values['name']}.{name}", key, assumed)


def assume_for_connectors(assumptions: list[Assumption], applications: Sequence[Section]) -> None:
    """Take a sink whose connector has no naming strategies to renew its ids: that is known, not assumed.

    Connectors before 4.0 have one transactional id for each subtask and checkpoint.
    """
    majors = {
        values["name"]: int(release.partition(".")[0])
        for values in applications
        if (release := values.get("connector"))
    }
    known = {f"applications.{name}.naming" for name, major in majors.items() if major < FIRST_CONNECTOR_WITH_NAMING}
    assumptions[:] = [assumption for assumption in assumptions if assumption.path not in known]


def assume_bounded_by_retention(assumptions: list[Assumption], topics: Sequence[Section]) -> None:
    """Take topics with compact,delete and no stated live records to be bounded by their retention alone."""
    for values in topics:
        path = f"topics.{values['name']}.live"
        if values.get("cleanup") is Cleanup.COMPACT_AND_DELETE:
            for at, assumption in enumerate(assumptions):
                if assumption.path == path:
                    assumptions[at] = Assumption(path, UNKNOWN, "what retention keeps is the most that is stored")


def assume_for_release(assumptions: list[Assumption], cluster: Section) -> None:
    """Replace the transaction version that was assumed for releases that do not have it."""
    major = int(str(cluster.get("kafka_version", FIRST_WITH_VERSION_2)).partition(".")[0])
    if major < FIRST_WITH_VERSION_2:
        name = "transaction_version"
        _assume(assumptions, cluster, f"cluster.{name}", CLUSTER_KEYS[name], BEFORE_VERSION_2)


def assume_purged(assumptions: list[Assumption], topics: Sequence[Section], applications: Sequence[Section]) -> None:
    """Replace the retention that was assumed for repartition topics: Kafka Streams deletes what it has read."""
    own = [values for values in applications if values.get("kind") is ApplicationKind.STREAMS]
    purged = {name for values in own for name, _ in values["writes"] if name in values["reads"]}
    for values in topics:
        if values["name"] in purged and is_repartition_topic(values["name"]):
            _assume(assumptions, values, f"topics.{values['name']}.retention", TOPIC_KEYS["retention"], PURGED)


def assume_no_other_writers(
    assumptions: Sequence[Assumption], topics: Sequence[Section], applications: Sequence[Section]
) -> None:
    """Take topics that applications write to have no other producers, unless the file states them."""
    assumed = {assumption.path for assumption in assumptions}
    written = {name for values in applications for name, _ in values["writes"]}
    for values in topics:
        if values["name"] in written and f"topics.{values['name']}.writers" in assumed:
            values["writer_count"] = 0


def _assume(assumptions: list[Assumption], values: Section, path: str, key: Key, assumed: Assumed) -> None:
    for at, assumption in enumerate(assumptions):
        if assumption.path == path:
            values[key.attribute] = key.parse(assumed.text)
            assumptions[at] = Assumption(path, assumed.text, assumed.why)
