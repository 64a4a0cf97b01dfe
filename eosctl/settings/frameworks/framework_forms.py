"""Settings in the forms of frameworks: channels of MicroProfile, a cluster's own file of Flink, a chart of brokers."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role
from eosctl.settings.formats.tree import Branch, Leaf, Node, flatten
from eosctl.settings.frameworks.flink_jobs import FLINK_SOURCE
from eosctl.settings.frameworks.operators import SET_BY_NUMBER
from eosctl.settings.names.recognition import exclusive
from eosctl.settings.names.setting_names import CHANNEL, KAFKA_CONNECTORS
from eosctl.settings.names.spellings import respelled
from eosctl.settings.values.sources import Source, value_of, values_of

_CHANNELS: Final = "mp.messaging."
_OF_CHANNELS: Final = (_CHANNELS, "kafka.", "kafka-streams.", "quarkus.kafka-streams.")
"""What MicroProfile's channels and Quarkus read."""
_TABLES: Final = frozenset({"kafka", "upsert-kafka"})
_OF_CLIENT: Final = "properties."
_CLUSTER: Final = frozenset({"jobmanager.rpc.address", "taskmanager.numberOfTaskSlots"})
"""What the file of every Flink cluster has."""
_CHECKPOINTING: Final = "execution.checkpointing."
_KIND: Final = "kind"
_DEPLOYMENT: Final = "FlinkDeployment"
_JOBS: Final = (_DEPLOYMENT, "FlinkSessionJob")
_FEW_OF_A_BROKER: Final = 3
"""Settings of brokers alone that show a chart of brokers: one may be called like a value of another chart."""
_OF_CHART: Final = {"maxMessageBytes": "message.max.bytes", "logsDirs": "log.dirs"}
"""What such a chart calls settings in words of its own."""
_NUMBER: Final = re.compile(r"^_(\d+)$")
_UPGRADES: Final = ("spec", "job", "upgradeMode")


def channels_of(node: Branch, leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...]) -> Source | None:
    """Return the channels of a mapping that name a connector of Kafka; None where it has none of them."""
    named = ((CHANNEL.match(name), leaf) for name, leaf in leaves if name.startswith(_CHANNELS))
    if not any(found is not None and _is_of_kafka(found[3], leaf) for found, leaf in named):
        return None
    own = ((name, leaf) for name, leaf in leaves if name.startswith(_OF_CHANNELS))
    return Source(Place(file, node.line), values_of(own, file), hints=hints)


def _is_of_kafka(name: str, leaf: Leaf) -> bool:
    return name == "connector" and leaf.text in KAFKA_CONNECTORS


def without_channels(node: Branch) -> Branch:
    """Return a mapping without what channels read."""
    return _without(node, _OF_CHANNELS)


def _without(node: Branch, heads: tuple[str, ...]) -> Branch:
    """Return a mapping without the keys that begin in one of some ways."""
    kept: list[tuple[str, Node]] = []
    for name, child in node.entries:
        above = f"{name}."
        if above.startswith(heads):
            continue
        inner = tuple(head.removeprefix(above) for head in heads if head.startswith(above))
        kept.append((name, _without(child, inner) if inner and isinstance(child, Branch) else child))
    return Branch(tuple(kept), node.line)


def flink_cluster(leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...]) -> Source | None:
    """Return the checkpoint settings of a cluster's own file: flink-conf.yaml, config.yaml, ``flinkConfiguration``.

    A file without any, but with the slots and the address that only a cluster's file has, sets no interval.
    """
    own = [(name, leaf) for name, leaf in leaves if name.startswith(_CHECKPOINTING)]
    if not own and {name for name, _ in leaves} >= _CLUSTER:
        own = [(name, leaf) for name, leaf in leaves if name in _CLUSTER]
    is_table = any(name.startswith(("sink.", "scan.", "properties.")) for name, _ in leaves)
    if not own or is_table or len(own) == len(leaves):
        return None
    place = Place(file, own[0][1].line)
    return Source(place, values_of(own, file), role=Role.FLINK, hints=hints, recognized_by=own[0][0])


def with_flink_deployment(found: list[Source], document: Node, file: str) -> list[Source]:
    """Return what a document configures, with how Flink's operator upgrades the job.

    A FlinkDeployment that sets nothing about checkpoints is a cluster as well.
    """
    kind = document.get(_KIND) if isinstance(document, Branch) else None
    if not isinstance(kind, Leaf) or not isinstance(document, Branch) or kind.text not in _JOBS:
        return found
    mode, first = document.get(*_UPGRADES), next((one for one in found if _is_of_flink(one)), None)
    upgrades = values_of([("job.upgradeMode", mode)], file) if isinstance(mode, Leaf) else {}
    if first is not None:
        own = replace(first, values={**first.values, **upgrades})
        return [own if one is first else one for one in found]
    if kind.text != _DEPLOYMENT or any(_CHECKPOINTING in f"{name} {leaf.text}" for name, leaf in flatten(document)):
        return found  # read where it stands, or in a form that is not known
    values = {**values_of([(_KIND, kind)], file), **upgrades}
    shown = f"{_KIND}: {_DEPLOYMENT}"
    return [*found, Source(Place(file, kind.line), values, role=Role.FLINK, recognized_by=shown)]


def broker_of_chart(node: Branch, file: str, hints: tuple[str, ...]) -> Source | None:
    """Return the broker whose settings stand in camel case among other values of a chart; None for other mappings.

    Bitnami's charts had them so until 2023. An underscore before a number keeps Helm from writing it as a power.
    """
    given = [(key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf) and leaf.text]
    if len(given) in (0, len(node.entries)) or not file.lower().endswith((".yml", ".yaml")):
        return None
    spelled = [one for one in respelled(given, file) if one[0] != one[1] or one[1] in _OF_CHART]
    own = [key for name, key, _ in spelled if name in exclusive(Role.BROKER)]
    if len(own) < _FEW_OF_A_BROKER:
        return None
    known = load_tables()[Role.BROKER.value].parameters
    named = [(_OF_CHART.get(key, name), key, leaf) for name, key, leaf in spelled]
    values = {
        name: value_of(key, replace(leaf, text=_NUMBER.sub(r"\1", leaf.text or "")), file, name)
        for name, key, leaf in named
        if name in known
    }
    place, unknown = Place(file, spelled[0][2].line), dict.fromkeys(SET_BY_NUMBER)
    return Source(place, values, "", Role.BROKER, Client.JAVA, hints=hints, framework=unknown, recognized_by=own[0])


def _is_of_flink(source: Source) -> bool:
    return source.role is Role.FLINK or any(name.startswith(_CHECKPOINTING) for name in source.values)


def is_flink_cluster(names: Collection[str]) -> bool:
    """Return whether settings are those of a cluster's own file, or of one about checkpoints."""
    return _CLUSTER.issubset(names) or any(name == _KIND or name.startswith(_CHECKPOINTING) for name in names)


def flink_table(node: Branch, file: str, hints: tuple[str, ...], name: str) -> Source | None:
    """Return a table of Flink SQL over Kafka, also one without an option of a sink or a scan.

    A table whose client has a group, and no option of a sink, is a source.
    """
    keys = [key for key, _ in node.entries]
    if node.text("connector") not in _TABLES or not any(key.startswith(_OF_CLIENT) for key in keys):
        return None
    is_sink = any(key.startswith("sink.") for key in keys)
    is_source = not is_sink and f"{_OF_CLIENT}group.id" in keys
    values = values_of(((key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf)), file)
    more = (FLINK_SOURCE,) if is_source else ()
    return Source(Place(file, node.line), values, name, Role.FLINK, hints=(*hints, *more), recognized_by="connector")
