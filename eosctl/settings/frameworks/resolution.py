"""From keys in a file to components with resolved settings, the clients inside frameworks included.

The order in which values override each other is that of the frameworks' own code: ``StreamsConfig.getProducerConfigs``,
Connect's ``Worker.baseProducerConfigs``, Flink's ``KafkaSinkBuilder``, Spring Boot's ``KafkaProperties``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec.structs import replace

from eosctl.knowledge.parameter_tables import FRAMEWORKS, load_tables, parse_release
from eosctl.model.deployment import PYTHON_CLIENTS, TABULATED, Client, Component, Role, Value, table_name
from eosctl.model.parameter import ParameterTable, Release
from eosctl.settings.frameworks.flink_jobs import FLINK_PROGRAM, FLINK_SOURCE
from eosctl.settings.frameworks.spring_names import SpringSettings, spring_settings
from eosctl.settings.names.client_libraries import library_defaults
from eosctl.settings.names.unread import client_with, not_passed, unread_of_connector, unread_of_worker
from eosctl.settings.values.sources import Releases, Source

UNKNOWN: Final = Releases()
_OF_BROKERS: Final = (Role.BROKER, Role.TOPIC)
_INT_MAX: Final = "2147483647"
_LONG_MAX: Final = "9223372036854775807"
# StreamsConfig: PRODUCER_DEFAULT_OVERRIDES, PRODUCER_EOS_OVERRIDES, CONSUMER_DEFAULT_OVERRIDES, CONSUMER_EOS_OVERRIDES.
_STREAMS_PRODUCER: Final = {"linger.ms": "100"}
_STREAMS_EOS_PRODUCER: Final = {
    **_STREAMS_PRODUCER,
    "enable.idempotence": "true",
    "delivery.timeout.ms": _INT_MAX,
    "transaction.timeout.ms": "10000",
}
_STREAMS_CONSUMER: Final = {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "max.poll.records": "1000"}
_STREAMS_EOS_CONSUMER: Final = {**_STREAMS_CONSUMER, "isolation.level": "read_committed"}
PROTOCOL: Final = "group.protocol"
FORCED_CONSUMER: Final = frozenset({"enable.auto.commit", PROTOCOL})
EOS_FORCED_PRODUCER: Final = frozenset({"enable.idempotence", "transactional.id"})
EOS_FORCED_CONSUMER: Final = frozenset({"isolation.level", "enable.auto.commit", "group.protocol"})
# Worker.baseProducerConfigs; with exactly-once sources idempotence is put back.
_CONNECT_PRODUCER: Final = {
    "max.block.ms": _LONG_MAX,
    "acks": "all",
    "enable.idempotence": "false",
    "max.in.flight.requests.per.connection": "1",
    "delivery.timeout.ms": _INT_MAX,
}
_CONNECT_EOS_PRODUCER: Final = {**_CONNECT_PRODUCER, "enable.idempotence": "true", "transactional.id": "(generated)"}
# Worker.exactlyOnceSourceTaskProducerConfigs puts its own values in the place of others.
CONNECT_FORCED_PRODUCER: Final = frozenset({"enable.idempotence", "transactional.id"})
_CONNECT_CONSUMER: Final = {"enable.auto.commit": "false", "auto.offset.reset": "earliest"}
FLINK_TRANSACTION_TIMEOUT_MS: Final = "3600000"
_LAST_WITH_ZOOKEEPER: Final = (3, 9)
"""4.0 removed ZooKeeper (KIP-500)."""


def resolve(source: Source, releases: Releases = UNKNOWN) -> tuple[Component, ...]:
    """Resolve a source.

    Args:
        source: Keys and values with a role.
        releases: The user's choice; without one, the release that the file names, or the newest.

    Returns:
        The component, and the clients inside it.
    """
    if source.role is None:
        return ()
    named, newest = _release_of(source, releases)
    parts = _PARTS.get(source.role, _alone)(source, named or newest)
    return tuple(replace(part, release_named=named is not None) for part in parts)


def _release_of(source: Source, releases: Releases) -> tuple[Release | None, Release]:
    """Return the release that is said to hold, and the newest of the same software; a file may name one of Kafka."""
    if source.client is Client.LIBRDKAFKA and source.role in (Role.PRODUCER, Role.CONSUMER):
        return releases.librdkafka or source.library_release, load_tables()["librdkafka"].last
    if source.client in PYTHON_CLIENTS:
        return source.library_release, load_tables()[source.client.value].last
    if source.client not in (None, *TABULATED):
        return None, load_tables()["broker"].last
    own = releases.kafka if source.role in _OF_BROKERS else releases.clients or releases.kafka
    newest = _LAST_WITH_ZOOKEEPER if _needs_zookeeper(source) else load_tables()["broker"].last
    return own or _named_release(source.version), newest


def _needs_zookeeper(source: Source) -> bool:
    """Return whether a broker keeps its metadata in ZooKeeper, or migrates from it."""
    roles, migrates = source.values.get("process.roles"), source.values.get("zookeeper.metadata.migration.enable")
    is_migrating = migrates is not None and migrates.flag is True
    return source.role is Role.BROKER and "zookeeper.connect" in source.values and (roles is None or is_migrating)


def _named_release(text: str) -> Release | None:
    try:
        return parse_release(text) if text else None
    except ValueError:
        return None


@cache
def _defaults(component: str, release: Release) -> Mapping[str, str | None]:
    table = None if component in FRAMEWORKS else load_tables().get(component)
    return {} if table is None else table.defaults(release)


def _component(
    source: Source,
    role: Role,
    given: Mapping[str, Value],
    release: Release,
    *,
    framework: Mapping[str, str | None] | None = None,
    inside: Role | None = None,
    forced: frozenset[str] = frozenset(),
    unreceived: tuple[Value, ...] = (),
) -> Component:
    client = source.client or Client.JAVA
    table = table_name(role, client)
    if table == "librdkafka":
        given = _canonical(given, load_tables()["librdkafka"])
    given = {name: value if value.name == name else replace(value, name=name) for name, value in given.items()}
    label = f"{source.place.file} ({source.label})" if source.label else source.place.file
    return Component(
        role=role,
        name=label,
        place=source.place,
        application=application_of(source),
        given=given,
        framework=framework or source.framework,
        defaults=_defaults(table, release) if client in TABULATED else library_defaults(role, client),
        release=release,
        client=client,
        inside=inside,
        forced=forced,
        cluster=source.cluster,
        recognized_by=source.recognized_by,
        instances=source.instances,
        described_by=source.described_by,
        others=source.others,
        environment=source.environment,
        secrets=source.secrets,
        unread=(*unreceived, *source.unread),
        topics=source.topics,
    )


def application_of(source: Source) -> str:
    """Return which application a source is a part of: workloads may call their containers alike.

    A source that belongs to another one's application has the whole name of it.
    """
    if source.application is not None and "\0" in source.application:
        return source.application
    label = source.label if source.application is None else source.application
    return f"{source.place.file}\0{source.part_of or source.held_by}\0{label}"


def _canonical(given: Mapping[str, Value], table: ParameterTable) -> dict[str, Value]:
    """Give librdkafka's settings the names that Java clients use for the same things."""
    renamed: dict[str, Value] = {}
    for name, value in given.items():
        canonical = table.aliases.get(name, name)
        renamed[canonical] = value if canonical == name == value.name else replace(value, name=canonical)
    return renamed


def _alone(source: Source, release: Release) -> Iterator[Component]:
    yield _component(source, source.role or Role.PRODUCER, source.values, release)


def _cut(values: Mapping[str, Value], *prefixes: str) -> dict[str, Value]:
    """Return the values whose keys begin with a prefix, without it; a later prefix goes before an earlier one."""
    cut: dict[str, Value] = {}
    for prefix in prefixes:
        for key, value in values.items():
            if key.startswith(prefix) and len(key) > len(prefix):
                cut[key[len(prefix) :]] = replace(value, name=key[len(prefix) :])
    return cut


def _streams(source: Source, release: Release) -> Iterator[Component]:
    values = source.values
    guarantee = values.get("processing.guarantee")
    eos = guarantee is not None and promises_exactly_once(guarantee.word)
    # Streams has another default of commit.interval.ms under exactly-once.
    framework = {"commit.interval.ms": "100"} if eos else {}
    yield _component(source, Role.STREAMS, values, release, framework=framework)
    tables = load_tables()
    forced_producer: frozenset[str] = EOS_FORCED_PRODUCER if eos else frozenset()
    forced_consumer = EOS_FORCED_CONSUMER if eos else FORCED_CONSUMER
    protocol = tables[Role.STREAMS].parameters[PROTOCOL].at(release) is not None
    for role, prefixes, plain, exactly_once, forced in (
        (Role.PRODUCER, ("producer.",), _STREAMS_PRODUCER, _STREAMS_EOS_PRODUCER, forced_producer),
        (Role.CONSUMER, ("consumer.", "main.consumer."), _STREAMS_CONSUMER, _STREAMS_EOS_CONSUMER, forced_consumer),
    ):
        known = tables[role.value].parameters
        # Keys without a prefix reach every client that knows them; group.protocol became Streams' own.
        own = {key: value for key, value in values.items() if key in known and not (key == PROTOCOL and protocol)}
        yield _component(
            source,
            role,
            {**own, **_cut(values, *prefixes)},
            release,
            framework={**exactly_once, "transactional.id": "(generated)"}
            if eos and role is Role.PRODUCER
            else exactly_once
            if eos
            else plain,
            inside=Role.STREAMS,
            forced=forced,
        )


def promises_exactly_once(word: str | None) -> bool:
    """Return whether a processing guarantee of Streams is meant to be exactly once, also one that is misspelled.

    >>> promises_exactly_once("exactly-once"), promises_exactly_once("at_least_once")
    (True, False)
    """
    return (word or "").lower().replace("-", "_").startswith("exactly_once")


def _connect_worker(source: Source, release: Release) -> Iterator[Component]:
    values = source.values
    yield _component(source, Role.CONNECT_WORKER, values, release, unreceived=unread_of_worker(values))
    support = values.get("exactly.once.source.support")
    eos = support is not None and (support.word or "").lower() == "enabled"
    yield _component(
        source,
        Role.PRODUCER,
        _cut(values, "producer."),
        release,
        framework=_CONNECT_EOS_PRODUCER if eos else _CONNECT_PRODUCER,
        inside=Role.CONNECT_WORKER,
        forced=CONNECT_FORCED_PRODUCER if eos else frozenset(),
    )
    yield _component(
        source,
        Role.CONSUMER,
        _cut(values, "consumer."),
        release,
        framework=_CONNECT_CONSUMER,
        inside=Role.CONNECT_WORKER,
    )


def _source_connector(source: Source, release: Release) -> Iterator[Component]:
    values = source.values
    yield _component(source, Role.SOURCE_CONNECTOR, values, release, unreceived=unread_of_connector(values))
    overrides = _cut(values, "producer.override.")
    support = values.get("exactly.once.support")
    required = support is not None and (support.word or "").lower() == "required"
    if overrides:
        yield _component(
            source,
            Role.PRODUCER,
            overrides,
            release,
            framework=_CONNECT_EOS_PRODUCER if required else _CONNECT_PRODUCER,
            inside=Role.SOURCE_CONNECTOR,
            forced=CONNECT_FORCED_PRODUCER if required else frozenset(),
        )


def _sink_connector(source: Source, release: Release) -> Iterator[Component]:
    values = source.values
    yield _component(source, Role.SINK_CONNECTOR, values, release, unreceived=unread_of_connector(values))
    overrides = _cut(values, "consumer.override.")
    if overrides:
        yield _component(
            source, Role.CONSUMER, overrides, release, framework=_CONNECT_CONSUMER, inside=Role.SINK_CONNECTOR
        )


def _flink(source: Source, release: Release) -> Iterator[Component]:
    values = source.values
    left = not_passed(values, ("properties.",), lambda name: f"properties.{name}") if "connector" in values else ()
    yield _component(source, Role.FLINK, values, release, unreceived=left)
    client = _cut(values, "properties.")
    guarantee = values.get("sink.delivery-guarantee") or values.get("sink.semantic")
    if _is_exactly_once(guarantee):
        prefix = values.get("sink.transactional-id-prefix")
        framework = {
            "transaction.timeout.ms": FLINK_TRANSACTION_TIMEOUT_MS,
            "transactional.id": "(generated)" if prefix is None else prefix.text,
        }
        yield _component(source, Role.PRODUCER, client, release, framework=framework, inside=Role.FLINK)
    is_source = FLINK_SOURCE in source.hints or any(key.startswith("scan.") for key in values)
    if client and not is_source and not _is_exactly_once(guarantee):
        made = {"transactional.id": "(generated)"} if FLINK_PROGRAM in source.hints else {}
        yield _component(source, Role.PRODUCER, client, release, framework=made, inside=Role.FLINK)
    if is_source:
        yield _component(source, Role.CONSUMER, client, release, inside=Role.FLINK)


def _is_exactly_once(guarantee: Value | None) -> bool:
    return guarantee is not None and (guarantee.word or "").lower().replace("_", "-") == "exactly-once"


def _spring(source: Source, release: Release) -> Iterator[Component]:
    """Yield the application, and Kafka's clients inside it."""
    spring = spring_settings(source.values)
    yield _component(source, Role.SPRING, spring.named, release, unreceived=spring.unread)
    shared = {**spring.shared, **spring.channels}
    producer = {**shared, **spring.clients[Role.PRODUCER]}
    if producer:
        yield _component(source, Role.PRODUCER, producer, release, framework=spring.defaults, inside=Role.SPRING)
    consumer = {**shared, **spring.clients[Role.CONSUMER]} if _reads(spring) else {}
    for own in tuple(spring.inputs.values()) or ({},):
        if consumer or own:
            # spring-kafka's listener container commits by itself by default (since 2.3).
            framework = {"enable.auto.commit": "false"}
            given = {**(consumer or shared), **own}
            yield _component(source, Role.CONSUMER, given, release, framework=framework, inside=Role.SPRING)
    if spring.clients[Role.STREAMS]:
        values = {**spring.shared, **spring.clients[Role.STREAMS]}
        yield from _streams(replace(source, values=values, role=Role.STREAMS, recognized_by=""), release)


def _reads(spring: SpringSettings) -> bool:
    """Return whether an application has a consumer: what all clients share shows none next to a producer's own."""
    if spring.clients[Role.CONSUMER] or not spring.clients[Role.PRODUCER]:
        return True
    has_listener = any(name.startswith("listener.") for name in spring.named)
    return has_listener or any(client_with(name) == Role.CONSUMER.value for name in (*spring.shared, *spring.channels))


_PARTS: Final[Mapping[Role, Callable[[Source, Release], Iterator[Component]]]] = {
    Role.STREAMS: _streams,
    Role.CONNECT_WORKER: _connect_worker,
    Role.SOURCE_CONNECTOR: _source_connector,
    Role.SINK_CONNECTOR: _sink_connector,
    Role.FLINK: _flink,
    Role.SPRING: _spring,
}
