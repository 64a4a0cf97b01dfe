"""Detect the component of a set of keys: by keys that only one component has, then by the words around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Client, Place, Role, Value
from eosctl.settings.deployment.islands import sources_within
from eosctl.settings.deployment.named_topics import with_named_topics
from eosctl.settings.formats.python_file import OPEN
from eosctl.settings.formats.tree import Branch, Node, flatten
from eosctl.settings.frameworks.actor_streams import with_ids_of_streams
from eosctl.settings.frameworks.camel import CAMEL, PRODUCER, clients_settings
from eosctl.settings.frameworks.connectors import connector_role
from eosctl.settings.frameworks.operators import SET_BY_NUMBER
from eosctl.settings.frameworks.quarkus_profiles import as_built
from eosctl.settings.names.client_family import client_of
from eosctl.settings.names.client_libraries import LIBRARIES
from eosctl.settings.names.misplaced import misplaced
from eosctl.settings.names.recognition import (
    CLIENT_KEYS,
    CLIENTS,
    PREFIXED,
    SECURITY,
    Recognition,
    client_key,
    decide,
    is_named,
    mixed_roles,
    recognize,
)
from eosctl.settings.names.setting_names import (
    CHANNEL,
    COMMIT_STRATEGY,
    FLINK,
    KAFKA_CONNECTORS,
    LIBRARY_PREFIXES,
    NAMED,
    QUARKUS_STREAMS,
    SMALLRYE_KAFKA,
    SPRING,
    is_setting,
    known_names,
    setting_after,
)
from eosctl.settings.names.unread import CLIENT_SETTINGS
from eosctl.settings.platforms.ansible_inventory import Inventory, inventory_of
from eosctl.settings.programs.kafka_commands import others_unknown
from eosctl.settings.programs.process_counts import COUNT, counted_around
from eosctl.settings.releases.managed_clusters import managed_clusters
from eosctl.settings.releases.named_releases import with_named_release
from eosctl.settings.values.sources import Source, values_of

_OTHER_CONSUMER: Final[Mapping[str, str | None]] = {"enable.auto.commit": None}
# KafkaSource: the connector commits what is acknowledged, unless the client commits by itself.
_SMALLRYE_CONSUMER: Final[Mapping[str, str | None]] = {"enable.auto.commit": "false", COMMIT_STRATEGY: "throttled"}
# KafkaConnector: it always passes acks on, from the channel, the connector, or a bean that kafka-configuration names.
_SMALLRYE_PRODUCER: Final[Mapping[str, str | None]] = {"acks": "1"}
_OTHER_PRODUCER: Final[Mapping[str, str | None]] = {"acks": None}
# Who commits is said in the code: offsetStrategy of @KafkaListener.
_MICRONAUT_CONSUMER: Final[Mapping[str, str | None]] = {"enable.auto.commit": None}
_OF_SERVERS: Final = re.compile(r"(?:broker|controller)_custom_properties$")
"""What the playbooks for Confluent Platform write into a server's own file, where no setting is a client's."""
_STREAMS: Final = ("kafka.streams.", "kafka-streams.")
"""What stands before the settings of Kafka Streams in an application's own file."""
_LANGUAGES: Final = {"py": "python", **dict.fromkeys(("js", "cjs", "mjs", "ts", "mts"), "node")}
"""The language of a module, by its ending: which clients its settings are for."""
_DOTNET: Final = ("app.config", "web.config", ".exe.config", ".dll.config")
_REST_PROXY: Final = "kafka.rest."
"""Settings of Confluent's REST Proxy: it hands no ``rest.`` setting on to a client."""


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
    kind = (document.text("kind") or "").lower() if isinstance(document, Branch) else ""
    within = [*sources_within(document, file, (*_hints(file), kind)), *managed_clusters(document, file)]
    is_module = file.rpartition(".")[2].lower() in _LANGUAGES
    found = [_as_open(one) if is_module else one for one in _with_misplaced(within, document, file)]
    parts = counted_around((part for source in found for part in _with_roles(source, file)), document, file)
    parts = with_ids_of_streams(list(parts), document, file)
    parts = with_named_topics(_with_one_library(with_named_release(parts, document)), document, file)
    if not _is_of_one_cluster(document, file):
        return parts
    if (inventory := inventory_of(document)) is not None:
        parts = [_on_its_hosts(part, inventory, file) for part in parts]
    return _one_broker_per_chart(list(map(_as_cluster, parts)))


def _with_misplaced(found: list[Source], document: Node, file: str) -> list[Source]:
    """Return the sources, the first one with the settings that the document's framework hands to no client."""
    left = misplaced(document, file)
    if not left:
        return found
    own = found or [Source(Place(file, document.line), {}, role=Role.CONSUMER)]
    return [replace(own[0], unread=(*own[0].unread, *left)), *own[1:]]


def _as_open(source: Source) -> Source:
    """Return a source without the defaults that a mapping which is not read may replace."""
    values = {name: value for name, value in source.values.items() if name.rpartition(".")[2] != OPEN}
    if len(values) == len(source.values):
        return source
    return replace(source, values=values, framework={**dict.fromkeys(CLIENT_SETTINGS), **source.framework})


def _with_one_library(parts: list[Source]) -> list[Source]:
    """Return the parts of a document with the library that one of them shows, where the others are spelled like it."""
    shown = {part.client for part in parts if part.client in LIBRARIES}
    if len(shown) != 1:
        return parts
    (library,) = shown
    return [replace(part, client=library) if _may_be_a_librarys(part) else part for part in parts]


def _may_be_a_librarys(part: Source) -> bool:
    """Return whether a client is Java's only because nothing in it says otherwise: no name has dots."""
    is_default = part.role in CLIENTS and part.client is Client.JAVA and not part.framework
    return is_default and all(name != value.key for name, value in part.values.items() if "." in name)


def _is_of_one_cluster(document: Node, file: str) -> bool:
    """Return whether brokers in a file stand for clusters as a whole: a provider's resources, and values of charts.

    Services of Compose and containers of Kubernetes are brokers one by one.
    """
    if file.lower().endswith((".tf", ".tfvars", ".hcl")):
        return True
    if not file.lower().endswith((".yml", ".yaml", ".json")) or not isinstance(document, Branch):
        return False
    return document.get("services") is None and document.get("apiVersion") is None


def _one_broker_per_chart(parts: list[Source]) -> list[Source]:
    """Join the blocks of a chart that end in one server.properties: neighbors that have no setting in common."""
    joined: list[Source] = []
    near: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for part in parts:
        if part.role is not Role.BROKER:
            joined.append(part)
            continue
        places = near[part.hints[:-1]]
        before = next((place for place in places if _are_blocks_of_one(joined[place], part)), None)
        if before is None:
            places.append(len(joined))
            joined.append(part)
        else:
            joined[before] = replace(joined[before], values={**joined[before].values, **part.values})
    return joined


def _are_blocks_of_one(one: Source, other: Source) -> bool:
    return one.hints != other.hints and one.values.keys().isdisjoint(other.values)


def _as_cluster(source: Source) -> Source:
    is_whole = source.role is Role.BROKER and not source.described_by
    return replace(source, cluster=str(source.place)) if is_whole else source


def _on_its_hosts(source: Source, inventory: Inventory, file: str) -> Source:
    """Return what an inventory gives a group, or one host of it, with the group's hosts; others as they are.

    The brokers of a group of several hosts are one cluster, and the only host of a group is a cluster of its own.
    Variables themselves are for a role, whose template has the other settings; a mapping among them is written whole.
    """
    where = next((at for at, word in enumerate(source.hints) if word in ("hosts", "vars")), 0)
    if source.role is not Role.BROKER or where < 1:
        return source
    if len(source.hints) == where + (2 if source.hints[where] == "hosts" else 1):
        source = replace(source, framework=others_unknown(source.values, Role.BROKER))
    if where + 1 >= len(source.hints):
        return source
    group, kind, host = source.hints[where - 1 : where + 2]
    names = {name.lower(): name for name in (*inventory.groups, *inventory.children)}
    count = len(inventory.hosts_of(names.get(group, group)))
    if count == 1:
        one = Value(COUNT, "1", f"hosts: {group}", source.place)
        source = replace(source, instances=one, framework={**dict.fromkeys(SET_BY_NUMBER), **source.framework})
    elif kind == "hosts":
        source = replace(source, described_by=f"{file} ({group})")
    return replace(source, label=host) if kind == "hosts" else source


def _hints(file: str) -> tuple[str, ...]:
    name = file.rpartition("/")[2].lower()
    language = "dotnet" if name.endswith(_DOTNET) else _LANGUAGES.get(name.rpartition(".")[2], "")
    return (f"{name} of {language}",) if language else (name,)


def _with_roles(source: Source, file: str) -> Iterator[Source]:
    if source.role is not None:
        is_mixed = source.recognized_by == "connector.class"
        yield from (_mixed(source) if is_mixed else ()) or (source,)
        return
    keys = source.values.keys()
    spring = next((key for key in keys if SPRING.match(key)), None)
    flink = next((key for key in keys if FLINK.match(key)), None)
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
    elif any(CHANNEL.match(key) or NAMED.match(key) for key in keys):
        yield from _channels(source)
    else:
        yield from _by_keys(source)


def _mixed(source: Source) -> list[Source]:
    """Return a source once for every component that alone reads some of its keys, where Streams is one of them."""
    values = _without_prefixes(source.values)
    parts = [_as(replace(source, values=values, client=None), found) for found in mixed_roles(values)]
    if parts and "connector.class" in values:
        role = connector_role(values["connector.class"].text or "", "topics" in values or "topics.regex" in values)
        parts.insert(0, _as(source, Recognition(role, "connector.class")))
    return parts


def _by_keys(source: Source) -> Iterator[Source]:
    values = _without_prefixes(source.values)
    shown = next((value.key for key, value in source.values.items() if key.startswith(QUARKUS_STREAMS)), "")
    source = replace(source, values=values)
    if shown and decide(values) is None:
        yield _as(source, Recognition(Role.STREAMS, shown))
        return
    found = recognize(values, source.hints)
    if found is None or (found.role in CLIENTS and _OF_SERVERS.search(" ".join(source.hints[-1:])) is not None):
        return
    for other in found.others:
        own = tuple(role for role in (found.role, *found.others) if role is not other)
        yield replace(_as(source, Recognition(other)), others=own)
    source = replace(source, others=found.others)
    if found.role in CLIENTS or (found.role is Role.TOPIC and any(PREFIXED.match(key) for key in values)):
        parts = list(_clients(source, values))
        yield from parts or _any_client(source, values)
    else:
        yield _as(source, found)


def _any_client(source: Source, values: Mapping[str, Value]) -> Iterator[Source]:
    """Yield the client of Kafka's own whose connection a file configures, which a producer or a consumer may read."""
    if (
        SECURITY in values
        and client_of({name: value.key for name, value in values.items()}, source.hints) is Client.JAVA
    ):
        yield replace(_as(source, Recognition(Role.PRODUCER, values[SECURITY].key)), others=(Role.CONSUMER,))


def _without_prefixes(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values by their names without the prefix of a library, a name that Kafka Streams does not know included.

    Micronaut has applications by name in its place, so that the next word may be one.
    """
    found = {_unprefixed(key): value for key, value in values.items()}
    for prefix in _STREAMS:
        unknown = [key for key in found if key.startswith(prefix) and "." in key.removeprefix(prefix)]
        is_known = any(key.startswith(prefix) and key not in found for key in values)
        if unknown and is_known and not any(_is_application_of_micronaut(key) for key in values):
            found = {key.removeprefix(prefix) if key in unknown else key: value for key, value in found.items()}
    return found


def _is_application_of_micronaut(key: str) -> bool:
    name = _unprefixed(key)
    return key.startswith(_STREAMS) and key not in {name, *(prefix + name for prefix in _STREAMS)}


def _unprefixed(key: str) -> str:
    if not key.startswith(LIBRARY_PREFIXES) or key.startswith(_REST_PROXY):
        return key
    for prefix in LIBRARY_PREFIXES:
        name = setting_after(prefix, key)
        if name is not None and is_setting(name):
            return name
    return key


def _clients(source: Source, values: Mapping[str, Value]) -> Iterator[Source]:
    """Yield the producer and the consumer that a client's settings make, without their prefixes."""
    names = {m[2] if (m := PREFIXED.match(key)) else key: value.key for key, value in values.items()}
    client = source.client or client_of(names, source.hints)
    for role in CLIENTS:
        own = {key: v for key, v in values.items() if not PREFIXED.match(key) or key in known_names()}
        prefixed = {m[2]: v for key, v in values.items() if (m := PREFIXED.match(key)) and m[1] == role.value}
        marks = CLIENT_KEYS[role] & own.keys()
        # If no key distinguishes the two, the name of the file can: producer.properties.
        named = all(CLIENT_KEYS[one].isdisjoint(names) for one in CLIENTS) and is_named(role, source.hints)
        if prefixed or marks or named:
            found = Recognition(role, client_key(role, values) or "the name of the file")
            yield _as(replace(source, values={**own, **prefixed}, client=client), found)


def _channels(source: Source) -> Iterator[Source]:
    """Yield MicroProfile's channels (outgoing ones are producers), and Micronaut's clients by name."""
    has_channels = any(CHANNEL.match(key) for key in source.values)
    framework = _SMALLRYE_CONSUMER if has_channels else _MICRONAUT_CONSUMER
    groups: dict[tuple[Role, str], dict[str, Value]] = {}
    shared: dict[str, Value] = {}
    streams = {k: v for k, v in source.values.items() if "kafka-streams." in k or k.startswith("kafka.streams.")}
    if streams:
        yield from _by_keys(replace(source, values=streams, hints=(*source.hints, "streams")))
    for key, value in source.values.items():
        match = CHANNEL.match(key) or NAMED.match(key)
        if key in streams:
            continue
        if match is None:
            shared[_unprefixed(key)] = value
        elif match[1] == "connector":
            shared |= {match[3]: value} if match[2] in KAFKA_CONNECTORS else {}
        else:
            role = Role.PRODUCER if match[1] in ("outgoing", "producers") else Role.CONSUMER
            # A variable has a dot in place of the hyphen.
            name = COMMIT_STRATEGY if match[3] == "commit.strategy" else match[3]
            groups.setdefault((role, match[2]), {})[name] = value
    for (role, channel), values in groups.items():
        connector = values.get("connector")
        named = connector.text if connector is not None and connector.resolved else SMALLRYE_KAFKA
        if named not in KAFKA_CONNECTORS:
            continue  # a channel of another broker, such as smallrye-mqtt
        made = framework if named == SMALLRYE_KAFKA else _OTHER_CONSUMER
        yield replace(
            source,
            place=next((value.place for value in values.values() if value.place), source.place),
            values={**shared, **values},
            label=channel,
            role=role,
            recognized_by=next(iter(values.values())).key,
            client=Client.JAVA,
            application=source.label,
            framework=made if role is Role.CONSUMER else _of_outgoing(values) if has_channels else {},
        )


def _of_outgoing(values: Mapping[str, Value]) -> Mapping[str, str | None]:
    """Return what the connector of an outgoing channel gives its producer; unknown where another one or a bean may."""
    connector = values.get("connector")
    is_smallrye = connector is None or (connector.resolved and connector.text == SMALLRYE_KAFKA)
    is_known = is_smallrye and "kafka-configuration" not in values and "kafka.configuration" not in values
    return _SMALLRYE_PRODUCER if is_known else _OTHER_PRODUCER


def _camel(source: Source) -> Iterator[Source]:
    """Yield the producer and the consumer of Camel's component, which stand apart from those of Spring itself."""
    made = replace(source, client=Client.JAVA, label="camel")
    for part in _clients(made, clients_settings(source.values)):
        yield replace(part, framework=PRODUCER) if part.role is Role.PRODUCER else part


def _as(source: Source, found: Recognition) -> Source:
    return replace(source, role=found.role, recognized_by=found.key)
