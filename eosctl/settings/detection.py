"""Tell what a set of keys configures: by keys that only one component has, then by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from eosctl.errors import ConfigFileError
from eosctl.knowledge.parameter_tables import java_names, only_librdkafka
from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.camel import CAMEL, PRODUCER, clients_settings
from eosctl.settings.client_family import client_of, keywords
from eosctl.settings.connectors import connector_role
from eosctl.settings.documents import parse_documents, parse_properties_tree
from eosctl.settings.environment import environment_of
from eosctl.settings.quarkus_profiles import as_built
from eosctl.settings.recognition import (
    CLIENT_KEYS,
    CLIENTS,
    PREFIXED,
    Recognition,
    client_key,
    decide,
    is_named,
    mixed_roles,
    recognize,
    streams_prefixes,
)
from eosctl.settings.sources import Source, value_of, values_of
from eosctl.settings.spellings import respelled
from eosctl.settings.structures import find_sources
from eosctl.settings.topic_declarations import topic_declared
from eosctl.settings.tree import Branch, Leaf, Node, Row, flatten

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
        values = values_of(flatten(document), file)
        place = Place(file, document.line)
        return [Source(place, values, role=role, hints=_hints(file), recognized_by="--role")]
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
    if topic is not None and decide(_own_values(node, file)) is None:
        yield topic
        return
    leaves = list(flatten(node))
    keys = [name for name, _ in leaves]
    if any(CAMEL.match(name) for name in keys):
        yield from _camel(Source(Place(file, node.line), values_of(leaves, file), hints=hints))
        if not any(_SPRING.match(name) for name in keys):
            return
    if any(_SPRING.match(name) for name in keys):
        shown = next(name for name in keys if _SPRING.match(name))
        yield Source(
            Place(file, node.line), values_of(leaves, file), role=Role.SPRING, hints=hints, recognized_by=shown
        )
        return
    if _is_flat(node) and (own := _own_prefixes(keys)):
        yield from _under_prefixes(leaves, own, file, hints)
        rest = [entry for entry in node.entries if not entry[0].startswith(own)]
        yield from _islands(Branch(tuple(rest), node.line), file, hints, key)
        return
    if (whole := _as_a_whole(node, leaves, file, hints)) is not None:
        yield whole
    else:
        yield from _children(node, file, hints)


def _children(node: Branch, file: str, hints: tuple[str, ...]) -> Iterator[Source]:
    for name, child in node.entries:
        if isinstance(child, Leaf):
            yield from _file_within(child, file, (*hints, name.lower()))
        else:
            yield from _islands(child, file, (*hints, name.lower()), name)


def _as_a_whole(node: Branch, leaves: list[tuple[str, Leaf]], file: str, hints: tuple[str, ...]) -> Source | None:
    """Return a mapping as one source where it holds mostly settings, or is flat and holds any."""
    spelled = respelled(leaves, file)
    known = [name for name, _, _ in spelled if name not in _ANYBODYS and _is_setting(name)]
    is_flat = _is_flat(node)
    if (known and (2 * len(known) >= len(leaves) or is_flat)) or (is_flat and decide(_own_values(node, file))):
        values = {name: value_of(key, leaf, file, name) for name, key, leaf in spelled}
        return Source(Place(file, node.line), values, hints=hints)
    return None


def _own_prefixes(keys: list[str]) -> tuple[str, ...]:
    return tuple(prefix for prefix in streams_prefixes(keys) if prefix not in _LIBRARY_PREFIXES)


def _under_prefixes(
    leaves: list[tuple[str, Leaf]], prefixes: tuple[str, ...], file: str, hints: tuple[str, ...]
) -> Iterator[Source]:
    """Yield the Streams applications whose settings stand under prefixes that a program made up."""
    for prefix in prefixes:
        own = [(name.removeprefix(prefix), name, leaf) for name, leaf in leaves if name.startswith(prefix)]
        values = {name: value_of(key, leaf, file, name) for name, key, leaf in own}
        label = prefix.rstrip(".") if len(prefixes) > 1 else ""
        yield Source(Place(file, own[0][2].line), values, label, hints=(*hints, "streams"))


def _own_values(node: Branch, file: str) -> dict[str, Value]:
    return values_of(((name, leaf) for name, leaf in node.entries if isinstance(leaf, Leaf)), file)


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
    match = _NAMED.match(key) or PREFIXED.match(key) or _CHANNEL.match(key)
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
        is_mixed = source.recognized_by == "connector.class"
        yield from (_mixed(source) if is_mixed else ()) or (source,)
        return
    keys = source.values.keys()
    spring = next((key for key in keys if _SPRING.match(key)), None)
    flink = next((key for key in keys if _FLINK.match(key)), None)
    decided = decide(source.values)
    mixed = () if spring is not None or flink is not None else _mixed(source)
    if spring is not None:
        yield _as(source, Recognition(Role.SPRING, spring))
    elif len(mixed) > 1:
        yield from mixed
    elif any(CAMEL.match(key) for key in keys):
        yield from _camel(source)
    elif "connector.class" in keys:
        has_topics = "topics" in keys or "topics.regex" in keys
        role = connector_role(source.values["connector.class"].text or "", has_topics)
        yield _as(source, Recognition(role, "connector.class"))
    elif decided is not None and decided.role is Role.MIRROR_MAKER:
        yield _as(source, decided)
    elif flink is not None:
        yield _as(source, Recognition(Role.FLINK, flink))
    elif any(_CHANNEL.match(key) or _NAMED.match(key) for key in keys):
        yield from _channels(source)
    else:
        yield from _by_keys(source)


def _mixed(source: Source) -> list[Source]:
    """Return a source once for every component that alone reads some of its keys, where Streams is one of them."""
    values = {_unprefixed(key): value for key, value in source.values.items()}
    parts = [_as(replace(source, values=values, client=None), found) for found in mixed_roles(values)]
    if parts and "connector.class" in values:
        role = connector_role(values["connector.class"].text or "", "topics" in values or "topics.regex" in values)
        parts.insert(0, _as(source, Recognition(role, "connector.class")))
    return parts


def _by_keys(source: Source) -> Iterator[Source]:
    values = {_unprefixed(key): value for key, value in source.values.items()}
    source = Source(source.place, values, source.label, None, source.client, source.version, source.hints)
    found = recognize(values, source.hints)
    if found is None:
        return
    if found.role in CLIENTS or (found.role is Role.TOPIC and any(PREFIXED.match(key) for key in values)):
        yield from _clients(source, values)
    else:
        yield _as(source, found)


def _unprefixed(key: str) -> str:
    for prefix in _LIBRARY_PREFIXES:
        if key.startswith(prefix) and _is_setting(key[len(prefix) :]):
            return key[len(prefix) :]
    return key


def _clients(source: Source, values: Mapping[str, Value]) -> Iterator[Source]:
    """Yield the producer and the consumer that a client's settings make, without their prefixes."""
    names = {m[2] if (m := PREFIXED.match(key)) else key: value.key for key, value in values.items()}
    client = source.client or client_of(names, source.hints)
    for role in CLIENTS:
        own = {key: v for key, v in values.items() if not PREFIXED.match(key) or key in _known()}
        prefixed = {m[2]: v for key, v in values.items() if (m := PREFIXED.match(key)) and m[1] == role.value}
        marks = CLIENT_KEYS[role] & own.keys()
        # Where no key tells the two apart, the name of the file can: producer.properties.
        named = all(CLIENT_KEYS[one].isdisjoint(names) for one in CLIENTS) and is_named(role, source.hints)
        if prefixed or marks or named:
            found = Recognition(role, client_key(role, values) or "the name of the file")
            yield _as(replace(source, values={**own, **prefixed}, client=client), found)


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
            recognized_by=next(iter(values.values())).key,
            client=Client.JAVA,
            application=source.label,
            framework=framework if role is Role.CONSUMER else {},
        )


def _camel(source: Source) -> Iterator[Source]:
    """Yield the producer and the consumer of Camel's component, which stand apart from those of Spring itself."""
    made = replace(source, client=Client.JAVA, label="camel")
    for part in _clients(made, clients_settings(source.values)):
        yield replace(part, framework=PRODUCER) if part.role is Role.PRODUCER else part


def _as(source: Source, found: Recognition) -> Source:
    return replace(source, role=found.role, recognized_by=found.key)
