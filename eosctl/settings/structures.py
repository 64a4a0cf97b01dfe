"""Find the Kafka settings inside files that hold other things too: Kubernetes resources, Compose files, REST bodies.

Each reader takes a document and returns the sources in it, or None when the document is not its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.documents import format_of, parse_documents
from eosctl.settings.sources import INSTANCES, Source, value_of, values_of
from eosctl.settings.tree import Branch, Leaf, Node, Row, flatten

Reader = Callable[[Branch, str], list[Source] | None]
_IMAGE: Final = re.compile(r"(?P<name>[\w./-]*(?:kafka|connect)[\w.-]*):v?(?P<version>\d+\.\d+)")
_CONFLUENT: Final = {"7.0": "3.0", "7.1": "3.1", "7.2": "3.2", "7.3": "3.3", "7.4": "3.4", "7.5": "3.5", "7.6": "3.6"}
_CONFLUENT_LATER: Final = {"7.7": "3.7", "7.8": "3.8", "7.9": "3.9", "8.0": "4.0", "8.1": "4.1", "8.2": "4.2"}
# Environment variables of images: prefix, role, and what is left out because it is no setting.
_ENVIRONMENTS: Final = (
    ("KAFKA_CFG_", Role.BROKER),
    ("KAFKA_CONNECT_CFG_", Role.CONNECT_WORKER),
    ("CONNECT_", Role.CONNECT_WORKER),
    ("KSQL_KSQL_STREAMS_", Role.STREAMS),
    ("KAFKA_", Role.BROKER),
)

# What people give the script of a broker's image where a container runs tools alone.
_NO_BROKER: Final = "ignored"
_STREAMS_VARIABLE: Final = re.compile(r"^(?:[A-Z0-9]+_)*?STREAMS?_(?:PROPERTIES_|CONFIG_)?(?P<name>[A-Z0-9_]+)$")
_CLIENT_ROLES: Final = (Role.PRODUCER, Role.CONSUMER, Role.STREAMS)
_CLIENT_PREFIX: Final = re.compile(r"^(?:producer|consumer|streams)\.")


def find_sources(document: Node, file: str) -> list[Source] | None:
    """Return what the first reader that knows the document's kind finds in it; None when no reader does."""
    if not isinstance(document, Branch):
        return None
    for reader in READERS:
        found = reader(document, file)
        if found is not None:
            return found
    return None


def _strimzi(document: Branch, file: str) -> list[Source] | None:
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
        return [Source(Place(file, line), given, label, role, Client.JAVA, version, recognized_by=shown)]

    match kind:
        case "Kafka":
            level = _named_leaves(document, file, ("metadata.version", ("spec", "kafka", "metadataVersion")))
            found = source(Role.BROKER, name, "spec", "kafka", "config", extra=level)
            return [replace(one, cluster=f"{one.place} {name}") for one in found]
        case "KafkaConnect":
            return source(Role.CONNECT_WORKER, name, "spec", "config")
        case "KafkaTopic":
            extra = _named_leaves(
                document, file, ("replication.factor", ("spec", "replicas")), ("partitions", ("spec", "partitions"))
            )
            return source(Role.TOPIC, document.text("spec", "topicName") or name, "spec", "config", extra=extra)
        case "KafkaConnector":
            return _connector_resource(document, file, name, "config")
        case "KafkaBridge":
            producer = source(Role.PRODUCER, name, "spec", "producer", "config")
            return producer + source(Role.CONSUMER, name, "spec", "consumer", "config")
        case "KafkaMirrorMaker2":
            return _mirror_maker_resource(document, file, name)
        case "KafkaUser":
            return list(_access_rules(document, file, name))
        case _:
            return []


def _confluent(document: Branch, file: str) -> list[Source] | None:
    """Read the connectors of Confluent for Kubernetes; its other resources hold settings as lists and mappings do."""
    if (document.text("apiVersion") or "").startswith("platform.confluent.io") and document.text("kind") == "Connector":
        return _connector_resource(document, file, document.text("metadata", "name") or "", "configs")
    return None


def _connector_resource(document: Branch, file: str, name: str, settings: str) -> list[Source]:
    """Return a connector whose class stands beside its settings."""
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
        if rule.items("operations"):
            ((_, leaf),) = flatten(Branch((("operations", rule.get("operations") or rule),), rule.line))
            named["operations"] = value_of("operations", leaf, file)
        yield Source(
            Place(file, rule.line), named, user, Role.ACCESS_RULE, Client.JAVA, recognized_by="kind: KafkaUser"
        )


def connector_role(class_name: str, has_topics: bool) -> Role:
    """Tell a sink from a source: by the name of the class, else by ``topics``, which sinks alone must have."""
    lower = class_name.lower()
    if "sink" in lower:
        return Role.SINK_CONNECTOR
    if "source" in lower or "debezium" in lower or "mirror" in lower:
        return Role.SOURCE_CONNECTOR
    return Role.SINK_CONNECTOR if has_topics else Role.SOURCE_CONNECTOR


def _mirror_maker_resource(document: Branch, file: str, name: str) -> list[Source]:
    """Give each cluster's worker settings and each mirror's connector settings as MirrorMaker's own properties."""
    sources: list[Source] = []
    made = Source(Place(file, document.line), {}, name, None, Client.JAVA, recognized_by="kind: KafkaMirrorMaker2")
    for mirror in document.items("spec", "mirrors"):
        if isinstance(mirror, Branch) and (config := mirror.branch("sourceConnector", "config")):
            values = values_of(flatten(config), file)
            sources.append(replace(made, place=Place(file, config.line), values=values, role=Role.MIRROR_MAKER))
    for cluster in document.items("spec", "clusters"):
        if isinstance(cluster, Branch) and (config := cluster.branch("config")):
            values = values_of(flatten(config), file)
            alias = cluster.text("alias") or name
            worker = replace(made, place=Place(file, config.line), values=values, role=Role.CONNECT_WORKER)
            sources.append(replace(worker, label=alias))
    return sources


def _kubernetes(document: Branch, file: str) -> list[Source] | None:
    """Read ConfigMaps with files in them, and the environment of containers."""
    if document.text("kind") is None or document.text("apiVersion") is None:
        return None
    if document.text("kind") == "List":
        return [s for item in document.items("items") for s in (find_sources(item, file) or [])]
    name = document.text("metadata", "name") or ""
    sources: list[Source] = []
    data = document.branch("data") or document.branch("stringData")
    if data is not None and document.text("kind") in ("ConfigMap", "Secret"):
        sources += _config_map(data, file, name)
    for container in _containers(document):
        found = _environment(container.get("env"), container.text("image") or "", container.text("name") or name, file)
        sources += _with_instances(found, document.get("spec", "replicas"), file)
    return sources or None  # a resource of some operator's own may hold settings anywhere


def _with_instances(sources: list[Source], count: Node | None, file: str) -> list[Source]:
    """Add to applications how many instances of them run with the same environment."""
    if not isinstance(count, Leaf):
        return sources
    told = {INSTANCES: value_of("replicas", count, file, INSTANCES)}
    return [replace(s, values={**s.values, **told}) if s.role is Role.SPRING else s for s in sources]


def _config_map(data: Branch, file: str, name: str) -> Iterator[Source]:
    plain: list[tuple[str, Leaf]] = []
    for key, node in data.entries:
        if not isinstance(node, Leaf) or node.text is None:
            continue
        if "\n" in node.text and format_of(key) is not None:
            # The file inside begins on the line of its block's text.
            for tree in parse_documents(key, "\n" * (node.line - 1) + node.text):
                inner = find_sources(tree, file)
                if inner is not None:
                    yield from inner
                else:
                    yield Source(Place(file, node.line), values_of(flatten(tree), file), key, hints=(key, name))
        else:
            plain.append((key, node))
    if plain:
        yield from _from_environment(plain, "", name, file) or [
            Source(Place(file, plain[0][1].line), values_of(plain, file), name, hints=(name,))
        ]


def _containers(node: Node) -> Iterator[Branch]:
    if isinstance(node, Branch):
        for key, child in node.entries:
            if key in ("containers", "initContainers") and isinstance(child, Row):
                yield from (member for member in child.nodes if isinstance(member, Branch))
            else:
                yield from _containers(child)
    elif isinstance(node, Row):
        for child in node.nodes:
            yield from _containers(child)


def _compose(document: Branch, file: str) -> list[Source] | None:
    services = document.branch("services")
    if services is None:
        return None
    sources: list[Source] = []
    for name, service in services.entries:
        if isinstance(service, Branch):
            found = _environment(service.get("environment"), service.text("image") or "", name, file)
            sources += _with_instances(found, service.get("deploy", "replicas"), file)
    return sources


def _environment(node: Node | None, image: str, name: str, file: str) -> list[Source]:
    """Read ``environment`` as Compose writes it (a mapping or NAME=VALUE) and ``env`` as Kubernetes does."""
    pairs: list[tuple[str, Leaf]] = []
    if isinstance(node, Branch):
        pairs = [(key, leaf) for key, leaf in node.entries if isinstance(leaf, Leaf)]
    elif isinstance(node, Row):
        for member in node.nodes:
            if isinstance(member, Leaf) and member.text and "=" in member.text:
                key, _, text = member.text.partition("=")
                pairs.append((key, Leaf(text, member.line)))
            elif isinstance(member, Branch) and (key := member.text("name") or ""):
                value = member.get("value")
                if isinstance(value, Leaf):
                    pairs.append((key, value))
    return _from_environment(pairs, image, name, file)


def environment_of(node: Node, file: str, hints: tuple[str, ...]) -> list[Source]:
    """Return what the variables of a chart's or a tool's own ``env`` key configure."""
    found = _environment(node, "", "", file)
    return [replace(source, hints=(*source.hints, *hints)) for source in found]


def _from_environment(pairs: Iterable[tuple[str, Leaf]], image: str, name: str, file: str) -> list[Source]:
    given = list(pairs)
    version = _version_of(image)
    if any(key.upper().startswith(("SPRING_KAFKA_", "SPRING_CLOUD_STREAM_")) for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        place, shown = Place(file, given[0][1].line), next(key for key, _ in given if key.upper().startswith("SPRING_"))
        return [Source(place, values, name, Role.SPRING, hints=(name,), recognized_by=shown)]
    if any(key.upper().startswith("MP_MESSAGING_") for key, _ in given):
        values = {_spring_name(key): value_of(key, leaf, file, _spring_name(key)) for key, leaf in given}
        return [Source(Place(file, given[0][1].line), values, name, hints=(name.lower(),))]
    by_role: dict[Role, dict[str, Value]] = {}
    if any(leaf.text == _NO_BROKER for _, leaf in given):
        return []
    streams = _streams_variables(given, file)
    for key, leaf in given:
        if any(value.key == key for value in streams.values()):
            continue
        for prefix, role in _ENVIRONMENTS:
            if key.startswith(prefix) and len(key) > len(prefix):
                setting = _environment_name(key[len(prefix) :])
                by_role.setdefault(role, {})[setting] = value_of(key, leaf, file, setting)
                break
    if streams:
        # One application: its variables without the prefix are those that brokers do not have.
        if Role.BROKER in by_role and _is_application(by_role[Role.BROKER]):
            streams = {**by_role.pop(Role.BROKER), **streams}
        by_role[Role.STREAMS] = {**by_role.get(Role.STREAMS, {}), **streams}
    return [
        Source(
            min(v.place for v in values.values() if v.place),
            values,
            name,
            None if role is Role.BROKER and _is_clients(values) else role,
            None if role is Role.BROKER and _is_clients(values) else Client.JAVA,
            version,
            (name.lower(), image.lower()),
            recognized_by=next(iter(values.values())).key,
        )
        for role, values in by_role.items()
    ]


def _streams_variables(given: Iterable[tuple[str, Leaf]], file: str) -> dict[str, Value]:
    """Return the variables of a Streams application by their setting: ``APP_STREAMS_COMMIT_INTERVAL_MS``."""
    tables = load_tables()
    clients = {name for role in _CLIENT_ROLES for name in tables[role.value].parameters}
    found: dict[str, Value] = {}
    for key, leaf in given:
        match = _STREAMS_VARIABLE.match(key)
        setting = _environment_name(match["name"]) if match and not key.startswith("KSQL_") else ""
        if setting in tables[Role.STREAMS.value].parameters or _CLIENT_PREFIX.sub("", setting) in clients:
            found[setting] = value_of(key, leaf, file, setting)
    return found


def _is_application(names: Iterable[str]) -> bool:
    """Return whether no variable is one that brokers alone have."""
    tables = load_tables()
    clients = {name for role in _CLIENT_ROLES for name in tables[role.value].parameters}
    return not set(names) & (tables["broker"].parameters.keys() - clients)


def _is_clients(names: Iterable[str]) -> bool:
    """Tell whether ``KAFKA_`` variables are those of an application: clients know some of them, brokers none alone."""
    tables = load_tables()
    brokers = tables["broker"].parameters.keys()
    clients = {name for role in _CLIENT_ROLES for name in tables[role.value].parameters}
    plain = {_CLIENT_PREFIX.sub("", name) for name in names}
    return bool(plain & (clients - brokers)) and not plain & (brokers - clients)


def _environment_name(text: str) -> str:
    """Turn ``TRANSACTION_STATE_LOG_MIN_ISR`` into the setting; ``__`` stands for ``_`` and ``___`` for ``-``."""
    return re.sub(r"_+", lambda m: {1: ".", 2: "_", 3: "-"}.get(len(m[0]), "."), text.lower())


def _spring_name(text: str) -> str:
    return text.lower().replace("_", ".")


def _version_of(image: str) -> str:
    found = _IMAGE.search(image)
    if found is None:
        return ""
    version = found["version"]
    if "confluent" in found["name"] or "cp-" in found["name"]:
        return {**_CONFLUENT, **_CONFLUENT_LATER}.get(version, "")
    # Strimzi writes its own version first and Kafka's last: kafka:0.45.0-kafka-3.9.0.
    later = re.search(r"kafka-(\d+\.\d+)", image)
    return later[1] if later else version


def _connect_rest(document: Branch, file: str) -> list[Source] | None:
    """Read the body of POST /connectors, or of PUT /connectors/NAME/config."""
    config = document.branch("config")
    name = document.text("name") or ""
    if config is not None and config.text("connector.class") is None:
        config = None
    body = config or (document if document.text("connector.class") is not None else None)
    if body is None:
        return None
    values = values_of(flatten(body), file)
    has_topics = "topics" in values or "topics.regex" in values
    role = connector_role(values["connector.class"].text or "", has_topics)
    place = Place(file, body.line)
    return [Source(place, values, name, role, Client.JAVA, recognized_by="connector.class")]


def _plain_environment(document: Branch, file: str) -> list[Source] | None:
    if not file.lower().endswith(".env"):
        return None
    pairs = [(key, node) for key, node in document.entries if isinstance(node, Leaf)]
    found = _from_environment(pairs, "", "", file)
    if found:
        return found
    # An application's own variables, named as the settings are: ISOLATION_LEVEL.
    settings = {name for role in _CLIENT_ROLES for name in load_tables()[role.value].parameters}
    own = {
        setting: value_of(key, leaf, file, setting)
        for key, leaf in pairs
        if (setting := _setting_named(key)) in settings
    }
    return [Source(Place(file, 1), own, hints=(file.rpartition("/")[2].lower(),))] if own else []


def _setting_named(variable: str) -> str:
    return variable if "." in variable else _environment_name(variable)


READERS: Final[tuple[Reader, ...]] = (_strimzi, _confluent, _kubernetes, _compose, _connect_rest, _plain_environment)
