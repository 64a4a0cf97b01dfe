"""Topics as tools declare them: a name, numbers of partitions and replicas, and the settings that differ.

Strimzi's resources are read by their kind; this is for what Terraform, kafka-gitops, JulieOps, charts and scripts of
one's own write, each with its own spelling of the same four things.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Branch, Leaf, Row, flatten
from eosctl.settings.names.recognition import exclusive
from eosctl.settings.names.spellings import respelled
from eosctl.settings.values.sources import Source, value_of

_NAMES: Final = ("topicname", "topic", "name")
_SETTINGS: Final = (
    *("config", "configs", "configuration", "settings", "topicconfig", "topicconfigs", "options", "additionalconfig"),
    "configentries",
)
_TOPICS: Final = ("topic", "topics", "kafkatopics", "kafkatopic")
"""What tools call their lists of topics."""
_CONFLUENT_CLOUD: Final[Mapping[str, str | None]] = {"replication.factor": "3"}
_COUNTS: Final = {
    "partitions": "partitions",
    "partitioncount": "partitions",
    "partitionscount": "partitions",
    "numpartitions": "partitions",
    "replicationfactor": "replication.factor",
    "replicafactor": "replication.factor",
    "replication": "replication.factor",
    "replicas": "replication.factor",
}
_FEW: Final = 4
"""More keys than a name with settings has next to it."""
_OF_BROKERS: Final = "num.partitions"
"""The broker's default for topics, spelled as brokers have it."""


def topic_declared(document: Branch, key: str, file: str) -> Source | None:
    """Return the topic that a mapping declares; None when it declares none.

    Args:
        document: The mapping.
        key: The key that it stands under, which is the topic's name where it has no other.
        file: The file's name.
    """
    counts = {
        setting: value_of(name, node, file, setting)
        for name, node in document.entries
        if (setting := _COUNTS.get(relaxed(name))) and name != _OF_BROKERS and isinstance(node, Leaf)
    }
    by_name = {relaxed(name): (name, node) for name, node in document.entries}
    if not counts:
        return _of_defaults(document, by_name, file, is_topic=relaxed(key) in _TOPICS)
    found = {**_nested(by_name, file, is_topic="partitions" in counts), **_neighbors(document, file)}
    named = next((node.text for name in _NAMES if isinstance(node := by_name.get(name, ("", None))[1], Leaf)), None)
    if named is None and "partitions" not in counts and not exclusive(Role.BROKER).isdisjoint(found):
        return None  # a cluster with the number of its brokers
    has_both = {"partitions", "replication.factor"} == counts.keys() and len(by_name) == len(counts)
    # Kafka's own tools alone write replicas so, and take the brokers' number of partitions.
    has_count = "partitions" in counts or any(one.key == "replication-factor" for one in counts.values())
    if not found and not has_both and (named is None or not has_count or len(by_name) > len(counts) + 2):
        return None
    shown = next(iter(counts.values())).key
    place, values = Place(file, document.line), {**found, **counts}
    # Confluent's provider has no replication factor: its clusters have one.
    framework = _CONFLUENT_CLOUD if file.endswith(".tf") and shown == "partitions_count" else {}
    return Source(place, values, named or key, Role.TOPIC, Client.JAVA, framework=framework, recognized_by=shown)


def _of_defaults(
    document: Branch, by_name: Mapping[str, tuple[str, object]], file: str, *, is_topic: bool
) -> Source | None:
    """Return a topic without numbers next to its name: with those of brokers, or with numbers among its settings.

    Where nothing around it shows a topic (`is_topic`), it has settings of topics alone.
    """
    named = next((node for name in _NAMES if isinstance(node := by_name.get(name, ("", None))[1], Leaf)), None)
    found = _nested(by_name, file, is_topic=is_topic) if named is not None and len(by_name) <= _FEW else {}
    shown = next((one.key for name, one in found.items() if is_topic or name in exclusive(Role.TOPIC)), None)
    if named is None or shown is None:
        return None
    place = Place(file, document.line)
    return Source(place, found, named.text or "", Role.TOPIC, Client.JAVA, recognized_by=shown)


def _nested(by_name: Mapping[str, tuple[str, object]], file: str, *, is_topic: bool) -> dict[str, Value]:
    """Return the settings in a separate mapping, or as ``{"name": ..., "value": ...}``.

    Those of a topic (`is_topic`) may all have names that only brokers know.
    """
    tables = load_tables()
    own = {*tables["topic"].parameters, *(tables["broker"].parameters if is_topic else ())}
    found: dict[str, Value] = {}
    for name in _SETTINGS:
        node = by_name.get(name, ("", None))[1]
        if isinstance(node, Branch):
            found |= {own: value_of(key, leaf, file, own) for own, key, leaf in respelled(flatten(node), file)}
        elif isinstance(node, Row):
            found |= dict(_pairs(node, file))
    return found if any(name in own for name in found) else {}


def _pairs(row: Row, file: str) -> Iterator[tuple[str, Value]]:
    for member in row.nodes:
        if isinstance(member, Leaf):
            key, equals, text = (member.text or "").partition("=")
            yield from [(key, value_of(key, replace(member, text=text), file))] if equals else ()
        elif (
            isinstance(member, Branch)
            and (name := member.text("name") or member.text("key"))
            and isinstance(leaf := member.get("value"), Leaf)
        ):
            yield name, value_of(name, leaf, file)


def _neighbors(document: Branch, file: str) -> dict[str, Value]:
    own = load_tables()["topic"].parameters
    spelled = respelled(((key, leaf) for key, leaf in document.entries if isinstance(leaf, Leaf)), file)
    return {name: value_of(key, leaf, file, name) for name, key, leaf in spelled if name in own}
