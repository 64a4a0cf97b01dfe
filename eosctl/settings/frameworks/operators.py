"""The resources of Kafka's operators: Strimzi, and Confluent for Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.formats.tree import Branch, Leaf, flatten
from eosctl.settings.frameworks.connectors import connector_role
from eosctl.settings.names.unread import client_with, not_passed
from eosctl.settings.programs.process_counts import COUNT
from eosctl.settings.values.sources import Source, value_of, values_of

_COPIES: Final = tuple(f"{topic}.storage.replication.factor" for topic in ("config", "offset", "status"))
SET_BY_NUMBER: Final = (
    *("default.replication.factor", "min.insync.replicas", "offsets.topic.replication.factor"),
    *("transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
)
"""What operators and roles of Ansible set by the number of brokers, where nothing is written."""
_SET_BY_CONFLUENT: Final = {
    Role.BROKER: SET_BY_NUMBER,
    Role.CONNECT_WORKER: _COPIES,
}
"""What the operator sets by the number of its pods; the resource does not show the values."""
_SET_IN_MIGRATIONS: Final = ("zookeeper.metadata.migration.enable",)
"""What the operator sets while a KRaftMigrationJob runs."""
_OFFSET: Final = "platform.confluent.io/broker-id-offset"
_OF_CONFLUENT: Final[Mapping[str, Role]] = {
    "Kafka": Role.BROKER,
    "KRaftController": Role.BROKER,
    "Connect": Role.CONNECT_WORKER,
}


def strimzi(document: Branch, file: str) -> list[Source] | None:
    """Read the resources of Strimzi."""
    kind, group = document.text("kind"), document.text("apiVersion") or ""
    if not group.startswith("kafka.strimzi.io"):
        return None
    name = document.text("metadata", "name") or kind or ""
    version = document.text("spec", "kafka", "version") or document.text("spec", "version") or ""

    shown = f"kind: {kind}"

    def source(role: Role, label: str, *path: str, extra: Mapping[str, Value] | None = None) -> list[Source]:
        found = document.branch(*path)
        values = values_of(flatten(found), file) if found else {}
        if not values and not extra:
            return []
        line = found.line if found else document.line
        given = {**values, **(extra or {})}
        return [
            Source(
                place=Place(file, line),
                values=given,
                label=label,
                role=role,
                client=Client.JAVA,
                version=version,
                recognized_by=shown,
            )
        ]

    def by_default(role: Role, *path: str) -> list[Source]:
        """Return a component with Kafka's defaults, which a whole resource without settings configures."""
        is_whole = document.get("spec", *(path or ("bootstrapServers",))) is not None
        return is_whole * [
            Source(Place(file, document.line), {}, name, role, Client.JAVA, version=version, recognized_by=shown)
        ]

    match kind:
        case "Kafka":
            level = _named_leaves(document, file, ("metadata.version", ("spec", "kafka", "metadataVersion")))
            found = source(Role.BROKER, name, "spec", "kafka", "config", extra=level)
            found = found or by_default(Role.BROKER, "kafka", "listeners")
            return [replace(one, cluster=f"{one.place} {name}", part_of=f"Kafka {name}") for one in found]
        case "KafkaConnect" | "KafkaConnectS2I":
            found = source(Role.CONNECT_WORKER, name, "spec", "config")
            return found or by_default(Role.CONNECT_WORKER)
        case "KafkaTopic":
            extra = _named_leaves(
                document, file, ("replication.factor", ("spec", "replicas")), ("partitions", ("spec", "partitions"))
            )
            return source(Role.TOPIC, document.text("spec", "topicName") or name, "spec", "config", extra=extra)
        case "KafkaConnector":
            return _connector_resource(document, file, name, "config")
        case "KafkaBridge" | "KafkaMirrorMaker":
            named = _named_leaves(document, file, ("group.id", ("spec", "consumer", "groupId")))
            found = source(Role.PRODUCER, name, "spec", "producer", "config")
            found += source(Role.CONSUMER, name, "spec", "consumer", "config", extra=named)
            parts = (("producer",), ("consumer",)) if kind == "KafkaMirrorMaker" else ((), ())
            return found or by_default(Role.PRODUCER, *parts[0]) + by_default(Role.CONSUMER, *parts[1])
        case "KafkaMirrorMaker2":
            return _mirror_maker_resource(document, file, name)
        case "KafkaUser":
            return list(_access_rules(document, file, name))
        case _:
            return []


def confluent(document: Branch, file: str) -> list[Source] | None:
    """Read Confluent for Kubernetes: connectors, and the servers whose defaults the operator sets by their number.

    Settings of its other resources stand there as lists and mappings do.
    """
    if not (document.text("apiVersion") or "").startswith("platform.confluent.io"):
        return None
    kind, name = document.text("kind"), document.text("metadata", "name") or ""
    if kind == "Connector":
        return _connector_resource(document, file, name, "configs")
    if kind == "KafkaTopic":
        return _confluent_topic(document, file, name)
    if kind == "SchemaRegistry":
        return []  # some of its settings are called as those of brokers
    role = _OF_CONFLUENT.get(kind or "")
    if role is None:
        return None
    place = Place(file, document.line)
    is_controller = kind == "KRaftController"
    # Regions of one cluster number their brokers apart from each other; how many the others have is not known here.
    is_region = document.text("metadata", "annotations", _OFFSET) is not None
    counts = {} if is_region else _named_leaves(document, file, (COUNT, ("spec", "replicas")))
    made = {"process.roles": Value("process.roles", "controller", "kind", place)} if is_controller else {}
    return [
        Source(
            place=place,
            values={**made, **_overrides(document, file)},
            label=name,
            role=role,
            client=Client.JAVA,
            framework=dict.fromkeys((*_SET_BY_CONFLUENT[role], *(_SET_IN_MIGRATIONS if is_controller else ()))),
            cluster=f"{place} {name}" if role is Role.BROKER else "",
            recognized_by=f"kind: {kind}",
            part_of=f"{kind} {name}",
            instances=counts.get(COUNT),
        )
    ]


def _confluent_topic(document: Branch, file: str, name: str) -> list[Source] | None:
    configs = document.branch("spec", "configs")
    counts = (("replication.factor", ("spec", "replicas")), ("partitions", ("spec", "partitionCount")))
    values = {**(values_of(flatten(configs), file) if configs else {}), **_named_leaves(document, file, *counts)}
    place = Place(file, (configs or document).line)
    topic = document.text("spec", "name") or name
    shown = Source(place, values, topic, Role.TOPIC, Client.JAVA, recognized_by="kind: KafkaTopic")
    return [shown] if values else None


def _overrides(document: Branch, file: str) -> dict[str, Value]:
    """Return the settings of a server in ``configOverrides``, each written as ``name=value``."""
    leaves = [leaf for leaf in document.items("spec", "configOverrides", "server") if isinstance(leaf, Leaf)]
    pairs = ((leaf, (leaf.text or "").partition("=")) for leaf in leaves)
    return values_of(((name.strip(), replace(leaf, text=text.strip())) for leaf, (name, _, text) in pairs), file)


def _connector_resource(document: Branch, file: str, name: str, settings: str) -> list[Source]:
    """Return a connector whose class is next to its settings."""
    config = document.branch("spec", settings)
    values = values_of(flatten(config), file) if config else {}
    connector = document.get("spec", "class")
    if isinstance(connector, Leaf):
        values["connector.class"] = value_of("connector.class", connector, file)
    if not values:
        return []
    class_name = connector.text if isinstance(connector, Leaf) else None
    role = connector_role(class_name or "", "topics" in values or "topics.regex" in values)
    place = Place(file, config.line if config else document.line)
    shown = f"kind: {document.text('kind')}"
    return [Source(place, values, name, role, Client.JAVA, recognized_by=shown)]


def _named_leaves(document: Branch, file: str, *wanted: tuple[str, tuple[str, ...]]) -> dict[str, Value]:
    """Return what stands outside of the ``config`` of a resource, under the name that it has as a setting."""
    found = ((name, document.get(*path)) for name, path in wanted)
    return {name: value_of(name, leaf, file) for name, leaf in found if isinstance(leaf, Leaf)}


def _access_rules(document: Branch, file: str, user: str) -> Iterator[Source]:
    """Yield each ACL of a user as a source of its own."""
    for rule in document.items("spec", "authorization", "acls"):
        if not isinstance(rule, Branch):
            continue
        named = _named_leaves(
            rule,
            file,
            ("resource.type", ("resource", "type")),
            ("resource.name", ("resource", "name")),
            ("pattern.type", ("resource", "patternType")),
            ("operations", ("operation",)),
            ("permission", ("type",)),
        )
        named |= _named_leaves(document, file, ("principal", ("metadata", "name")))
        if rule.items("operations"):
            ((_, leaf),) = flatten(Branch((("operations", rule.get("operations") or rule),), rule.line))
            named["operations"] = value_of("operations", leaf, file)
        yield Source(
            Place(file, rule.line), named, user, Role.ACCESS_RULE, Client.JAVA, recognized_by="kind: KafkaUser"
        )


def _mirror_maker_resource(document: Branch, file: str, name: str) -> list[Source]:
    """Give each cluster's worker settings and each mirror's connector settings as MirrorMaker's own properties.

    The API v1 has one target for all mirrors, and each source in its mirror.
    """
    sources: list[Source] = []
    version = document.text("spec", "version") or ""
    made = Source(
        place=Place(file, document.line),
        values={},
        label=name,
        client=Client.JAVA,
        version=version,
        recognized_by="kind: KafkaMirrorMaker2",
    )
    support = "exactly.once.source.support"
    target = document.branch("spec", "target")
    named = [one for one in document.items("spec", "clusters") if isinstance(one, Branch)]
    clusters = [*named, *([target] if target is not None else [])]
    promised = {
        cluster.text("alias"): value_of(support, leaf, file)
        for cluster in clusters
        if isinstance(leaf := cluster.get("config", support), Leaf)
    }
    for mirror in document.items("spec", "mirrors"):
        if not isinstance(mirror, Branch):
            continue
        config = mirror.branch("sourceConnector", "config")
        values = values_of(flatten(config), file) if config else {}
        checkpoints = mirror.branch("checkpointConnector", "config")
        for name, leaf in flatten(checkpoints) if checkpoints else ():
            values[f"checkpointConnector.{name}"] = value_of(name, leaf, file, f"checkpointConnector.{name}")
        alias = mirror.text("targetCluster") or (target.text("alias") if target is not None else None)
        # The connector does not read it: the group of workers of the target does.
        right = f"spec.{'target' if target is not None else f'clusters[{alias}]'}.config.{support}"
        lost = (replace(own, name=right),) if (own := values.pop(support, None)) is not None else ()
        if (promise := promised.get(alias)) is not None:
            values[support] = promise
        if values or lost or mirror.get("sourceConnector") is not None:
            line = (config or checkpoints or mirror).line
            sources.append(replace(made, place=Place(file, line), values=values, role=Role.MIRROR_MAKER, unread=lost))
    connect = document.text("spec", "connectCluster")
    if sources and connect is not None and connect not in promised:
        # The one group of workers has the settings of this cluster.
        right = f"spec.clusters[{connect}].config.{support}"
        left = (cluster.get("config", support) for cluster in clusters if cluster.text("alias") != connect)
        left_over = tuple(value_of(support, leaf, file, right) for leaf in left if isinstance(leaf, Leaf))
        sources[0] = replace(sources[0], unread=(*sources[0].unread, *left_over))
    for cluster in clusters:
        config = cluster.branch("config")
        values = values_of(flatten(config), file) if config else {}
        if connect is not None and cluster.text("alias") != connect and cluster is not target:
            # MirrorConnectorConfig keeps the names of clients' connections only.
            not_kept = not_passed(values, (), _of_mirrored_clients)
            sources[:1] = [replace(one, unread=(*one.unread, *not_kept)) for one in sources[:1]]
        elif config is not None or cluster is target:
            worker = replace(made, place=Place(file, (config or cluster).line), values=values, role=Role.CONNECT_WORKER)
            sources.append(replace(worker, label=cluster.text("alias") or name))
    return sources


def _of_mirrored_clients(name: str) -> str:
    """Return the key in a mirror's ``sourceConnector.config`` that hands a setting to its client."""
    return f"source.consumer.{name}" if client_with(name) == "consumer" else f"producer.override.{name}"
