"""Tell what a set of keys configures: by keys that only one component has, then by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.camel import CAMEL, PRODUCER, clients_settings
from eosctl.settings.client_family import client_of, keywords
from eosctl.settings.documents import parse_documents, parse_properties_tree
from eosctl.settings.parameter_tables import java_names, kafka_tables, load_tables, only_librdkafka
from eosctl.settings.quarkus_profiles import as_built
from eosctl.settings.sources import Source, value_of, values_of
from eosctl.settings.spellings import respelled
from eosctl.settings.structures import connector_role, environment_of, find_sources
from eosctl.settings.topic_declarations import topic_declared
from eosctl.settings.tree import Branch, Leaf, Node, Row, flatten

_ROLES: Final = (Role.BROKER, Role.TOPIC, Role.PRODUCER, Role.CONSUMER, Role.STREAMS, Role.CONNECT_WORKER)
_WORDS: Final[tuple[tuple[Role, tuple[str, ...]], ...]] = (
    (Role.CONNECT_WORKER, ("connect-", "connect_", "worker", "kafkaconnect")),
    (Role.STREAMS, ("stream",)),
    (Role.PRODUCER, ("producer",)),
    (Role.CONSUMER, ("consumer",)),
    (Role.TOPIC, ("topic",)),
    (Role.BROKER, ("server", "broker", "controller", "kraft")),
)
_SPRING: Final = re.compile(r"^spring\.(kafka|cloud\.stream)\.", re.IGNORECASE)
# Settings of Kafka that are words of everybody.
_ANYBODYS: Final = frozenset(
    {
        *("clusters", "debug", "enabled", "groups", "interceptors", "listeners", "log_level", "name", "opaque"),
        *("partitioner", "port", "preallocate", "predicates", "retries", "topics", "transforms"),
    }
)
_FLINK: Final = re.compile(
    r"^(execution\.checkpointing\.|sink\.delivery-guarantee|sink\.transactional-id-prefix|sink\.semantic|scan\.startup\.)"
)
_PREFIXED: Final = re.compile(r"^(?:[\w-]+\.)*?(producer|consumer)s?\.(?:properties\.|config\.)?(.+)$")
# Micronaut's clients by name, default among them.
_NAMED: Final = re.compile(r"^kafka\.(producers|consumers)\.([\w-]+)\.(.+)$")
_CHANNEL: Final = re.compile(r"^mp\.messaging\.(outgoing|incoming|connector)\.([\w-]+)\.(.+)$")
# KafkaSource of SmallRye Reactive Messaging, unless somebody sets it.
_SMALLRYE_CONSUMER: Final[Mapping[str, str | None]] = {"enable.auto.commit": "false"}
# Who commits is said in the code: offsetStrategy of @KafkaListener.
_MICRONAUT_CONSUMER: Final[Mapping[str, str | None]] = {"enable.auto.commit": None}
_LIBRARY_PREFIXES: Final = (
    "quarkus.kafka-streams.",
    "kafka-streams.",
    "kafka.streams.",
    "ksql.streams.",
    "streams.",
    "kafka.",
)


@cache
def _exclusive(role: Role) -> frozenset[str]:
    tables = kafka_tables()
    others = {n for name, t in tables.items() if name not in (role.value, "librdkafka") for n in t.parameters}
    return frozenset(tables[role.value].parameters) - others


@cache
def _known() -> frozenset[str]:
    return java_names() | only_librdkafka() | keywords()


def sources_of(document: Node, file: str, role: Role | None = None) -> list[Source]:
    """Return every source in a document, each with the role that it has.

    Args:
        document: One document of a file.
        file: The file's name.
        role: What the user says it is; nothing is guessed then.
    """
    document = as_built(document)
    if isinstance(document, Branch) and role is not None:
        return [Source(Place(file, document.line), values_of(flatten(document), file), role=role, hints=_hints(file))]
    found = find_sources(document, file)
    if found is None:
        kind = (document.text("kind") or "").lower() if isinstance(document, Branch) else ""
        found = list(_islands(document, file, (*_hints(file), kind)))
    parts = (part for source in found for part in _with_roles(source, file))
    return [_as_cluster(part) if part.role is Role.BROKER and _is_managed(file) else part for part in parts]


def _is_managed(file: str) -> bool:
    """Tell whether a file speaks to a provider, for which one resource is a whole cluster."""
    return file.lower().endswith((".tf", ".tfvars", ".hcl"))


def _as_cluster(source: Source) -> Source:
    return replace(source, cluster=str(source.place))


def _all_within(document: Branch, file: str, hints: tuple[str, ...]) -> list[Source]:
    found = find_sources(document, file)
    return list(_islands(document, file, hints)) if found is None else found


def _hints(file: str) -> tuple[str, ...]:
    return (file.rpartition("/")[2].lower(),)


def _islands(node: Node, file: str, hints: tuple[str, ...], key: str = "") -> Iterator[Source]:
    """Yield the mappings that hold mostly Kafka settings, wherever they are; ``key`` is what they stand under."""
    if isinstance(node, Row):
        yield from _members(node, file, hints, key)
    if not isinstance(node, Branch):
        return
    nested = find_sources(node, file) if node.text("connector.class") is not None else None
    if nested is not None:
        yield from nested
        return
    if "env" in key.lower() and (variables := environment_of(node, file, hints)):
        yield from variables
        return
    topic = topic_declared(node, key, file)
    if topic is not None:
        yield topic
        return
    leaves = list(flatten(node))
    keys = [name for name, _ in leaves]
    if any(CAMEL.match(name) for name in keys):
        yield from _camel(Source(Place(file, node.line), values_of(leaves, file), hints=hints))
        if not any(_SPRING.match(name) for name in keys):
            return
    if any(_SPRING.match(name) for name in keys):
        yield Source(Place(file, node.line), values_of(leaves, file), role=Role.SPRING, hints=hints)
        return
    spelled = respelled(leaves, file)
    known = [name for name, _, _ in spelled if name not in _ANYBODYS and _is_setting(name)]
    if known and (2 * len(known) >= len(keys) or _is_flat(node)):
        values = {name: value_of(key, leaf, file, name) for name, key, leaf in spelled}
        yield Source(Place(file, node.line), values, hints=hints)
        return
    for name, child in node.entries:
        if isinstance(child, Leaf):
            yield from _file_within(child, file, (*hints, name.lower()))
        else:
            yield from _islands(child, file, (*hints, name.lower()), name)


def _members(row: Row, file: str, hints: tuple[str, ...], key: str) -> Iterator[Source]:
    if "env" in key.lower():
        yield from environment_of(row, file, hints)
    elif pairs := _written_as_pairs(row):
        yield Source(Place(file, row.line), values_of(pairs, file), hints=hints)
    elif key == "literals" and (variables := environment_of(row, file, hints)):  # of kustomize
        yield from variables
    else:
        for child in row.nodes:
            found = find_sources(child, file)
            if found is not None:
                yield from found
            elif isinstance(child, Leaf):
                yield from _file_within(child, file, hints)
            else:
                yield from _islands(child, file, hints, key)


def _written_as_pairs(row: Row) -> list[tuple[str, Leaf]]:
    """Return the settings of a sequence that holds them as ``name=value``, or each as a mapping of name and value.

    Nothing is returned when it holds other things.
    """
    parts = [(*leaf.text.partition("="), leaf.line) for leaf in row.nodes if isinstance(leaf, Leaf) and leaf.text]
    parts += [part for node in row.nodes if isinstance(node, Branch) and (part := _named_value(node)) is not None]
    pairs = [(name.strip(), Leaf(text.strip(), line)) for name, equals, text, line in parts if equals]
    return pairs if len(pairs) == len(row.nodes) and any(_is_setting(name) for name, _ in pairs) else []


def _named_value(node: Branch) -> tuple[str, str, str, int] | None:
    name, value = node.text("key") or node.text("name"), node.text("value")
    return (name, "=", value, node.line) if name and value is not None and len(node.entries) == 2 else None


def _file_within(leaf: Leaf, file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    """Yield what the file says that stands as a block of text inside another file, as charts have it."""
    if leaf.text is None or "\n" not in leaf.text:
        return
    try:
        documents = parse_documents("block.yaml", "\n" * (leaf.line - 1) + leaf.text)
    except ConfigFileError:
        documents = ()  # a block of some other text
    mappings = [document for document in documents if isinstance(document, Branch)]
    if found := [source for one in mappings for source in _all_within(one, file, hints)]:
        yield from found
        return
    try:
        tree = parse_properties_tree(file, leaf.text, leaf.line)
    except ConfigFileError:
        return  # a block of some other text
    if any(_is_setting(key) for key, _ in tree.entries):
        yield Source(Place(file, leaf.line), values_of(flatten(tree), file), hints=hints)


def _is_flat(node: Branch) -> bool:
    return all(isinstance(child, Leaf) for _, child in node.entries)


def _is_setting(key: str) -> bool:
    if key in _known() or _FLINK.match(key) or "->" in key or key.startswith("properties."):
        return True
    match = _NAMED.match(key) or _PREFIXED.match(key) or _CHANNEL.match(key)
    if match is not None and match.groups()[-1] in _known():
        return True
    return any(
        key.startswith(prefix) and (rest := key[len(prefix) :]) in _known() and rest not in _ANYBODYS
        for prefix in (
            "main.consumer.",
            "restore.consumer.",
            "global.consumer.",
            "topic.",
            "admin.",
            *_LIBRARY_PREFIXES,
        )
    )


def _with_roles(source: Source, file: str) -> Iterator[Source]:
    if source.role is not None:
        yield source
        return
    keys = source.values.keys()
    if any(_SPRING.match(key) for key in keys):
        yield _as(source, Role.SPRING)
    elif any(CAMEL.match(key) for key in keys):
        yield from _camel(source)
    elif "connector.class" in keys:
        has_topics = "topics" in keys or "topics.regex" in keys
        yield _as(source, connector_role(source.values["connector.class"].text or "", has_topics))
    elif "clusters" in keys and any("->" in key for key in keys):
        yield _as(source, Role.MIRROR_MAKER)
    elif any(_FLINK.match(key) for key in keys):
        yield _as(source, Role.FLINK)
    elif any(_CHANNEL.match(key) or _NAMED.match(key) for key in keys):
        yield from _channels(source)
    else:
        yield from _by_keys(source)


def _by_keys(source: Source) -> Iterator[Source]:
    values = {_unprefixed(key): value for key, value in source.values.items()}
    source = Source(source.place, values, source.label, None, source.client, source.version, source.hints)
    scores = {role: _score(role, values, source.hints) for role in _ROLES}
    clients = (Role.PRODUCER, Role.CONSUMER)
    best = max(scores, key=lambda role: scores[role])
    if scores[best] == 0:
        return
    if best in clients or (best is Role.TOPIC and any(_PREFIXED.match(key) for key in values)):
        yield from _clients(source, values)
    else:
        yield _as(source, best)


def _unprefixed(key: str) -> str:
    for prefix in _LIBRARY_PREFIXES:
        if key.startswith(prefix) and _is_setting(key[len(prefix) :]):
            return key[len(prefix) :]
    return key


def _score(role: Role, values: Mapping[str, Value], hints: Iterable[str]) -> int:
    own = load_tables()[role.value].parameters
    exclusive = _exclusive(role)
    count = sum(4 if key in exclusive else 1 for key in values if key in own or key in exclusive)
    if role in (Role.PRODUCER, Role.CONSUMER):
        count += sum(3 for key in values if (m := _PREFIXED.match(key)) and m[1] == role.value and m[2] in own)
        count += sum(1 for key in values if key in _CLIENT_KEYS[role])
        librdkafka = load_tables()["librdkafka"].parameters
        count += sum(3 for key in values if key in only_librdkafka() and librdkafka[key].only in ("", role.value))
    if role is Role.STREAMS and any(key.startswith(("main.consumer.", "restore.consumer.")) for key in values):
        count += 4
    if role in (Role.STREAMS, Role.CONNECT_WORKER) and not exclusive.isdisjoint(values):
        # Both hand such keys on to clients of their own.
        count += sum(3 for key in values if _PREFIXED.match(key))
    words = next(words for named, words in _WORDS if named is role)
    text = " ".join(hints)
    return count + (3 if count and any(word in text for word in words) else 0)


_CLIENT_KEYS: Final = {
    Role.PRODUCER: frozenset(
        {
            "acks",
            "enable.idempotence",
            "linger.ms",
            "batch.size",
            "transactional.id",
            "transaction.timeout.ms",
            "delivery.timeout.ms",
            "max.in.flight.requests.per.connection",
            "key.serializer",
            "value.serializer",
            "max.block.ms",
            "message.timeout.ms",
            "max.in.flight",
            "request.required.acks",
            "message.send.max.retries",
        }
    ),
    Role.CONSUMER: frozenset(
        {
            "isolation.level",
            "enable.auto.commit",
            "auto.offset.reset",
            "max.poll.interval.ms",
            "max.poll.records",
            "key.deserializer",
            "value.deserializer",
            "group.instance.id",
            "partition.assignment.strategy",
            "group.protocol",
            "auto.commit.interval.ms",
            "session.timeout.ms",
            "heartbeat.interval.ms",
            "enable.auto.offset.store",
            "group.id",
        }
    ),
}


def _clients(source: Source, values: Mapping[str, Value]) -> Iterator[Source]:
    """Yield the producer and the consumer that a client's settings make, without their prefixes."""
    names = {m[2] if (m := _PREFIXED.match(key)) else key: value.key for key, value in values.items()}
    client = source.client or client_of(names, source.hints)
    for role in (Role.PRODUCER, Role.CONSUMER):
        own = {key: v for key, v in values.items() if not _PREFIXED.match(key) or key in _known()}
        prefixed = {m[2]: v for key, v in values.items() if (m := _PREFIXED.match(key)) and m[1] == role.value}
        marks = _CLIENT_KEYS[role] & own.keys()
        if prefixed or marks:
            yield Source(source.place, {**own, **prefixed}, source.label, role, client, source.version, source.hints)


def _channels(source: Source) -> Iterator[Source]:
    """Yield MicroProfile's channels, of which outgoing ones are producers, and Micronaut's clients by name."""
    framework = _SMALLRYE_CONSUMER if any(_CHANNEL.match(key) for key in source.values) else _MICRONAUT_CONSUMER
    groups: dict[tuple[Role, str], dict[str, Value]] = {}
    shared: dict[str, Value] = {}
    streams = {k: v for k, v in source.values.items() if "kafka-streams." in k or k.startswith("kafka.streams.")}
    if streams:
        yield from _by_keys(replace(source, values=streams, hints=(*source.hints, "streams")))
    for key, value in source.values.items():
        match = _CHANNEL.match(key) or _NAMED.match(key)
        if key in streams:
            continue
        if match is None:
            shared[_unprefixed(key)] = value
        elif match[1] == "connector":
            shared[match[3]] = value
        else:
            role = Role.PRODUCER if match[1] in ("outgoing", "producers") else Role.CONSUMER
            groups.setdefault((role, match[2]), {})[match[3]] = value
    for (role, channel), values in groups.items():
        yield replace(
            source,
            values={**shared, **values},
            label=channel,
            role=role,
            client=Client.JAVA,
            application=source.label,
            framework=framework if role is Role.CONSUMER else {},
        )


def _camel(source: Source) -> Iterator[Source]:
    """Yield the producer and the consumer of Camel's component, which stand apart from those of Spring itself."""
    made = replace(source, client=Client.JAVA, label="camel")
    for part in _clients(made, clients_settings(source.values)):
        yield replace(part, framework=PRODUCER) if part.role is Role.PRODUCER else part


def _as(source: Source, role: Role) -> Source:
    return replace(source, role=role)
