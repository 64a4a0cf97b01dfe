"""Decide which component of Kafka a set of keys configures.

Keys that one component alone reads decide, in the order of ``_DECISIVE``. Without such a key the component that knows
most of the keys is taken. Sources: the ConfigDefs of the components (``eosctl/knowledge/settings``), KafkaConfig,
StreamsConfig, DistributedConfig, StandaloneConfig, MirrorMakerConfig.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, NamedTuple

from eosctl.knowledge.parameter_tables import kafka_tables, load_tables, only_librdkafka
from eosctl.model.deployment import Role, Value
from eosctl.model.recovery import LINK_SETTINGS

NEAR: Final = 0.75
"""The part of the best score from which on another component is plausible too."""
CLIENTS: Final = (Role.PRODUCER, Role.CONSUMER)
_SCORED: Final = (Role.BROKER, Role.TOPIC, Role.PRODUCER, Role.CONSUMER, Role.STREAMS, Role.CONNECT_WORKER)
_WORDS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.CONNECT_WORKER: ("connect-", "connect_", "worker", "kafkaconnect"),
    Role.PRODUCER: ("producer",),
    Role.CONSUMER: ("consumer",),
    Role.TOPIC: ("topic",),
    Role.BROKER: ("server", "broker", "controller", "kraft"),
}
_STREAMS_NAME: Final = re.compile(r"(?<!up)(?<!down)streams?(?![a-z])")
"""What shows Kafka Streams in a name: a streamer, or what is streaming, is often Spark's."""
SECURITY: Final = "security.protocol"
"""The setting that every client has, and no broker."""
PREFIXED: Final = re.compile(
    r"^(?!confluent\.consumer\.)(?:[\w-]+\.)*?(producer|consumer)s?\.(?:properties\.|config\.)?(.+)$"
)
"""A key of a client inside something else: which client, and the setting.

Confluent's servers have settings about the lag of consumers: ``confluent.consumer.lag.emitter.enabled``.
"""
CLIENT_KEYS: Final[Mapping[Role, frozenset[str]]] = {
    Role.PRODUCER: frozenset(
        {
            *("transactional.id", "acks", "enable.idempotence", "linger.ms", "batch.size", "transaction.timeout.ms"),
            *("delivery.timeout.ms", "max.in.flight.requests.per.connection", "key.serializer", "value.serializer"),
            *("max.block.ms", "message.timeout.ms", "max.in.flight", "request.required.acks"),
            "message.send.max.retries",
        }
    ),
    Role.CONSUMER: frozenset(
        {
            *("group.id", "isolation.level", "enable.auto.commit", "auto.offset.reset", "max.poll.interval.ms"),
            *("max.poll.records", "key.deserializer", "value.deserializer", "group.instance.id", "group.protocol"),
            *("partition.assignment.strategy", "auto.commit.interval.ms", "session.timeout.ms"),
            *("heartbeat.interval.ms", "enable.auto.offset.store"),
        }
    ),
}
"""Keys that show that one of the two clients is configured at all."""
_FLOW: Final = re.compile(r"^[^.\s]+->[^.\s]+\.")
_STORAGE: Final = frozenset(
    f"{of}.storage.{what}"
    for of in ("config", "status", "offset")
    for what in ("topic", "replication.factor", "partitions", "file.filename")
)
_SIZES: Final = frozenset({"message.max.bytes"})
"""What brokers and the producers of librdkafka both have."""
_WORKERS: Final = frozenset(
    {
        *("exactly.once.source.support", "connector.client.config.override.policy", "plugin.path"),
        *("plugin.discovery", "offset.flush.interval.ms"),
    }
)
# Flink and other servers of REST have these, too; a worker also names its brokers.
_REST_SERVERS: Final = frozenset({"rest.port", "rest.host.name", "rest.advertised.host.name", "rest.advertised.port"})
# Confluent's REST Proxy and Schema Registry have settings of a worker's REST server; these show them.
_PROXIES: Final = ("schema.registry.url", "kafkastore.", "client.security.", "client.sasl.", "kafka.rest.")
_OF_PROXIES: Final = _REST_SERVERS | {"access.control.allow.origin", "access.control.allow.methods"}
KSQL_REPLICAS: Final = "ksql.internal.topic.replicas"
"""How often ksqlDB, an application of Streams, keeps its command topic."""
_STREAMS: Final = frozenset(
    {"application.id", "processing.guarantee", "num.stream.threads", "num.standby.replicas", KSQL_REPLICAS}
)
_STREAMS_PREFIX: Final = re.compile(
    r"^((?:[\w-]+\.)+?)(application\.id|processing\.guarantee|num\.stream\.threads|num\.standby\.replicas|commit\.interval\.ms)$"
)
_BROKERS: Final = (
    *("process.roles", "broker.id", "node.id", "controller.quorum.voters", "controller.quorum.bootstrap.servers"),
    *("controller.listener.names", "inter.broker.listener.name", "listener.security.protocol.map"),
    *("advertised.listeners", "log.dirs", "log.dir", "listeners"),
)


_CLASSES: Final = frozenset({"default.key.serde", "default.value.serde"})


class Recognition(NamedTuple):
    """The component that keys configure.

    Attributes:
        role: The component.
        key: The key that shows it; empty where the number of keys does.
        others: What else it may be: components that know nearly as many of the keys.
    """

    role: Role
    key: str = ""
    others: tuple[Role, ...] = ()


_ADDRESS: Final = frozenset({"bootstrap.servers"})
"""What a mapping of an application's own may hold next to one with the settings."""


def recognize(values: Mapping[str, Value], hints: Iterable[str] = ()) -> Recognition | None:
    """Return what a set of settings configures; None when Kafka has none of the keys.

    Args:
        values: By the name of the setting, without the prefix of a library.
        hints: Words of the surroundings. They count only where no key decides.
    """
    found = decide(values)
    if found is not None:
        return found
    words = tuple(hints)
    has_brokers = "bootstrap.servers" in values
    of_others = _OF_PROXIES if any(key.startswith(_PROXIES) for key in values) else _REST_SERVERS
    if has_brokers and of_others is _REST_SERVERS:
        of_others = frozenset()
    values = {key: value for key, value in values.items() if not _is_of_others(key, value) and key not in of_others}
    scores = {role: 0 if _cannot_be(role, values, words) else _score(role, values, words) for role in _SCORED}
    is_streams = is_named(Role.STREAMS, words) and not values.keys() <= _ADDRESS
    if exclusive(Role.STREAMS).isdisjoint(values) and not is_streams:
        scores[Role.STREAMS] = 0  # a client next to the factor of topics that it makes, or of another program's
    best = max(scores, key=lambda role: scores[role])
    if scores[best] == 0:
        return None
    shown = next((value.key for key, value in values.items() if key in exclusive(best)), "")
    return Recognition(best, shown, _others(best, scores, values))


def _cannot_be(role: Role, values: Mapping[str, Value], words: tuple[str, ...]) -> bool:
    """Return whether keys rule a component out: brokers are not clients, and servers have their own settings.

    The largest message alone, in the file of an application or of a chart, is that of librdkafka's producer.

    Settings that a server shares with clients, such as those of TLS, do not indicate a server.
    """
    if role in (Role.BROKER, Role.TOPIC) and ("bootstrap.servers" in values or SECURITY in values):
        return True
    if role is Role.BROKER and _is_within(words) and _unlike_clients(role) & values.keys() <= _SIZES:
        return True
    return role in (Role.BROKER, Role.CONNECT_WORKER) and _unlike_clients(role).isdisjoint(values)


def _is_within(words: tuple[str, ...]) -> bool:
    """Return whether settings stand in a mapping of YAML or JSON that no word calls a broker's."""
    is_nested = len(words) > 1 and words[0].endswith((".yml", ".yaml", ".json", ".toml"))
    return is_nested and not is_named(Role.BROKER, words)


def _others(best: Role, scores: Mapping[Role, int], values: Mapping[str, Value]) -> tuple[Role, ...]:
    """Return what else a set of settings may configure, where no key decides."""
    near = {role for role, score in scores.items() if score >= NEAR * scores[best]} - {best}
    if best in (Role.BROKER, Role.TOPIC):
        return tuple(near & {Role.BROKER, Role.TOPIC})
    has_streams = not exclusive(Role.STREAMS).isdisjoint(values)
    return tuple(near & {Role.STREAMS}) if best in CLIENTS and has_streams else ()


def decide(values: Mapping[str, Value]) -> Recognition | None:
    """Return the component that alone reads one of the keys; None when no key decides."""
    for role, reads in _DECISIVE:
        key = reads(values)
        if key is not None:
            return Recognition(role, key)
    return None


def mixed_roles(values: Mapping[str, Value]) -> tuple[Recognition, ...]:
    """Return every component of whose own keys a set of settings has some, where Streams is one of several.

    Kafka has no program that reads such a set as a whole, so none of them may be left out. A single key that others
    use, too, does not count: connectors have an ``application.id``, applications a ``log.dir``.
    """
    streams = _any_of(_STREAMS - {"application.id"})(values) or _any_of(_STREAMS)(values)
    own = (_STREAMS | exclusive(Role.STREAMS)) & values.keys()
    if streams is None or own == {"application.id"}:
        return ()
    mirror, worker = _mirror_key(values), _worker_key(values)
    found = [Recognition(Role.MIRROR_MAKER, mirror)] if mirror else []
    found += [Recognition(Role.CONNECT_WORKER, worker)] if worker and not mirror else []
    found += [Recognition(Role.STREAMS, streams)]
    broker = _broker_key(values)
    if broker and sum(name in values and not _is_of_others(name, values[name]) for name in _BROKERS) > 1:
        found.append(Recognition(Role.BROKER, broker))
    return tuple(found)


def streams_prefixes(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the prefixes of an application's own under which keys hold settings of Kafka Streams.

    A name that others use, too (``application.id``, ``commit.interval.ms``), needs a prefix that names Streams.

    >>> streams_prefixes(["my.app.kafka.streams.application.id", "shop.application.id", "shop.processing.guarantee"])
    ('my.app.kafka.streams.', 'shop.')
    """
    found = (match for key in keys if (match := _STREAMS_PREFIX.match(key)) is not None)
    owned = (m[1] for m in found if "stream" in m[1] or m[2] not in ("application.id", "commit.interval.ms"))
    return tuple(dict.fromkeys(owned))


def is_named(role: Role, hints: Iterable[str]) -> bool:
    """Return whether the surroundings name a component, e.g. in the file's name."""
    text = " ".join(hints)
    if role is Role.STREAMS:
        return _STREAMS_NAME.search(text) is not None
    return any(word in text for word in _WORDS[role])


def client_key(role: Role, values: Mapping[str, Value]) -> str:
    """Return the key that identifies a producer or a consumer, the most specific one first."""
    first = "transactional.id" if role is Role.PRODUCER else "group.id"
    if first in values:
        return values[first].key
    prefixed = (value.key for key, value in values.items() if (m := PREFIXED.match(key)) and m[1] == role.value)
    return next((v.key for key, v in values.items() if key in CLIENT_KEYS[role]), next(prefixed, ""))


@cache
def _unlike_clients(server: Role) -> frozenset[str]:
    """Return the settings of brokers or of Connect's workers that neither clients nor the other server has."""
    tables = kafka_tables()
    others = {Role.BROKER, Role.CONNECT_WORKER, Role.PRODUCER, Role.CONSUMER, Role.STREAMS} - {server}
    return frozenset(tables[server.value].parameters).difference(*(tables[role.value].parameters for role in others))


@cache
def exclusive(role: Role) -> frozenset[str]:
    """Return the settings that one component alone declares."""
    tables = kafka_tables()
    others = {n for name, t in tables.items() if name not in (role.value, "librdkafka") for n in t.parameters}
    return frozenset(tables[role.value].parameters) - others


def _any_of(names: frozenset[str]) -> Callable[[Mapping[str, Value]], str | None]:
    def first(values: Mapping[str, Value]) -> str | None:
        if names.isdisjoint(values):
            return None
        return next(value.key for key, value in values.items() if key in names)

    return first


def _mirror_key(values: Mapping[str, Value]) -> str | None:
    if (link := _any_of(LINK_SETTINGS)(values)) is not None:
        return link
    flow = next((value.key for key, value in values.items() if "->" in key and _FLOW.match(key)), None)
    if flow is not None:
        return flow
    clusters, mirrors = values.get("clusters"), values.get("mirrors")
    if mirrors is not None and "->" in (mirrors.text or ""):
        return mirrors.key
    aliases = (clusters.text or "").split(",") if clusters is not None else ()
    named = any(f"{alias.strip()}.bootstrap.servers" in values for alias in aliases)
    return clusters.key if clusters is not None and named else None


def _worker_key(values: Mapping[str, Value]) -> str | None:
    # A broker's file with a single key of workers is a broker's, with a mistake.
    is_broker = "process.roles" in values or "zookeeper.connect" in values
    return _any_of(_STORAGE)(values) or (None if is_broker else _any_of(_WORKERS)(values))


def _ksql_key(values: Mapping[str, Value]) -> str | None:
    """Return a setting of a server of ksqlDB, which also names its brokers."""
    if "bootstrap.servers" not in values:
        return None
    return next((value.key for value in values.values() if value.key.startswith("ksql.")), None)


def _broker_key(values: Mapping[str, Value]) -> str | None:
    found = (values[name] for name in _BROKERS if name in values and not _is_of_others(name, values[name]))
    return next((value.key for value in found), None)


def _is_of_others(name: str, value: Value) -> bool:
    """Return whether a value shows that a key is not Kafka's, although a broker has one of this name.

    Trino's node.id is a name; the listeners of Connect, ksqlDB, and Schema Registry are URLs of HTTP. Every server has
    a host.name and a port, as brokers had before 3.0.
    """
    if name in ("host.name", "port"):
        return True
    if not value.resolved:
        return False
    if name in _CLASSES:  # Kafka UI names a serde by a word
        return "." not in (value.text or "")
    if name in ("node.id", "broker.id"):
        return value.number is None
    return name == "listeners" and (value.text or "http").strip().lower().startswith("http")


# MirrorMaker reads the keys of workers too, and ksqlDB those of its REST server: the order decides.
_DECISIVE: Final[tuple[tuple[Role, Callable[[Mapping[str, Value]], str | None]], ...]] = (
    (Role.MIRROR_MAKER, _mirror_key),
    (Role.CONNECT_WORKER, _worker_key),
    (Role.STREAMS, _any_of(_STREAMS)),
    (Role.STREAMS, _ksql_key),
    (Role.BROKER, _broker_key),
    (Role.PRODUCER, _any_of(frozenset({"transactional.id"}))),
    (Role.CONSUMER, _any_of(frozenset({"group.id"}))),
)


def _score(role: Role, values: Mapping[str, Value], hints: Iterable[str]) -> int:
    own = load_tables()[role.value].parameters
    alone = exclusive(role)
    count = sum(4 if key in alone else 1 for key in values if key in own or key in alone)
    if role in CLIENTS:
        count += sum(3 for key in values if (m := PREFIXED.match(key)) and m[1] == role.value and m[2] in own)
        count += sum(1 for key in values if key in CLIENT_KEYS[role])
        librdkafka = load_tables()["librdkafka"].parameters
        count += sum(3 for key in values if key in only_librdkafka() and librdkafka[key].only in ("", role.value))
    if role is Role.STREAMS and any(key.startswith(("main.consumer.", "restore.consumer.")) for key in values):
        count += 4
    if role in (Role.STREAMS, Role.CONNECT_WORKER) and not alone.isdisjoint(values):
        # Both hand such keys on to clients of their own.
        count += sum(3 for key in values if PREFIXED.match(key))
    return count + (3 if count and is_named(role, hints) else 0)
