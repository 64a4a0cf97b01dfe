"""What the settings of Spring Boot and Spring Cloud Stream mean for Kafka's clients.

Sources: Spring Boot's ``KafkaProperties``, and ``KafkaBinderConfigurationProperties`` and
``KafkaStreamsBinderSupportAutoConfiguration`` of Spring Cloud Stream.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Role, Value
from eosctl.settings.names.unread import (
    CLIENT_SETTINGS,
    OF_STREAMS,
    STREAMS_BINDER,
    client_with,
    setting_at_end,
    unread,
)

_SPRING_NAMES: Final = {
    Role.PRODUCER: {
        "acks": "acks",
        "retries": "retries",
        "transactionidprefix": "transactional.id",
        "batchsize": "batch.size",
        "buffermemory": "buffer.memory",
        "clientid": "client.id",
        "compressiontype": "compression.type",
    },
    Role.CONSUMER: {
        "isolationlevel": "isolation.level",
        "enableautocommit": "enable.auto.commit",
        "autocommitinterval": "auto.commit.interval.ms",
        "autooffsetreset": "auto.offset.reset",
        "groupid": "group.id",
        "heartbeatinterval": "heartbeat.interval.ms",
        "maxpollrecords": "max.poll.records",
        "maxpollinterval": "max.poll.interval.ms",
        "clientid": "client.id",
    },
    Role.STREAMS: {
        "applicationid": "application.id",
        "statedir": "state.dir",
        "replicationfactor": "replication.factor",
        "statestorecachemaxsize": "statestore.cache.max.bytes",
    },
}
_SPRING_COMMON: Final = {"securityprotocol": "security.protocol", "clientid": "client.id"}
"""What stands under ``spring.kafka`` itself for all clients, and under each of them."""
_SPRING_KEY: Final = re.compile(
    r"^spring\.kafka\.(?:(producer|consumer|streams|listener|admin)\.)?(.+)$", re.IGNORECASE
)
# A key of a map with dots in it stands in brackets, with or without a dot before them.
_SPRING_MAP: Final = re.compile(r"^properties(?:\.|(?=\[))(.+)$", re.IGNORECASE)
_BINDER_MAP: Final = re.compile(r"(?:onfiguration|roperties)(?:\.|(?=\[))(.+)$")
_BINDER_KEY: Final = re.compile(r"^spring\.cloud\.stream\.kafka\.(streams\.)?binder\.(.+)$", re.IGNORECASE)

_TOPIC_KEY: Final = re.compile(
    r"^spring\.cloud\.stream\.kafka\.(?:streams\.)?(?:bindings\.[\w-]+|default)\.(?:producer|consumer)\.topic"
    r"\.properties(?:\.|(?=\[))(.+)$",
    re.IGNORECASE,
)
_BINDER_ENVIRONMENT: Final = re.compile(
    r"^spring\.cloud\.stream\.binders\.[\w-]+\.environment\.(spring\..+)$", re.IGNORECASE
)
"""A setting of one binder among several, over those of the application."""
_TRANSACTIONS: Final = "spring.cloud.stream.kafka.binder.transaction.producer.configuration."
"""Where a transactional binder has the settings of the producer of all bindings."""
TOPIC_PROPERTY: Final = "topic.properties."
"""Before a setting of a topic that the binder creates (``KafkaTopicProperties``): its place, a slash, and its name."""

OF_OTHERS: Final[Mapping[str, Mapping[Role, str]]] = {
    "micronaut.": {Role.PRODUCER: "kafka.producers.default", Role.CONSUMER: "kafka.consumers.default"},
    "quarkus.": {Role.PRODUCER: "mp.messaging.outgoing.CHANNEL", Role.CONSUMER: "mp.messaging.incoming.CHANNEL"},
}
"""Keys of frameworks that read nothing of Spring's, with where they have the settings of Kafka's clients."""


class SpringSettings(NamedTuple):
    """What a Spring application is given.

    Attributes:
        named: Spring's own settings, by their uniform names.
        clients: Kafka's settings of its producer, its consumer, and its Streams application.
        shared: Kafka's settings of all of them.
        channels: Kafka's settings of the producer and the consumer of the binder of message channels.
        inputs: Kafka's settings of each input binding of Spring Cloud Stream, over those of the consumer.
        defaults: What the binder gives a transactional producer where nothing else is written.
        unread: Kafka's settings that stand next to Spring's own, with the keys that would hand them to a client.
    """

    named: Mapping[str, Value]
    clients: Mapping[Role, Mapping[str, Value]]
    shared: Mapping[str, Value]
    channels: Mapping[str, Value]
    inputs: Mapping[str, Mapping[str, Value]]
    defaults: Mapping[str, str]
    unread: tuple[Value, ...]


def spring_settings(values: Mapping[str, Value]) -> SpringSettings:
    """Return what Spring Boot's and Spring Cloud Stream's names mean, in any of their relaxed spellings."""
    values = _of_binders(values)
    named = _topic_properties(values)
    given: dict[Role, dict[str, Value]] = {Role.PRODUCER: {}, Role.CONSUMER: {}, Role.STREAMS: {}}
    shared: dict[str, Value] = {}
    channels: dict[str, Value] = {}
    inputs: dict[str, dict[str, Value]] = {}
    written: list[Value] = []
    left: list[Value] = []
    for key, value in values.items():
        if match := _SPRING_KEY.match(key):
            section, rest = (match[1] or "").lower(), match[2]
            named[f"{section}.{_uniform(rest)}" if section else _uniform(rest)] = value
            target = next((given[role] for role in given if role.value == section), shared if not section else None)
            if target is None:
                continue
            if inner := _SPRING_MAP.match(rest):
                name = inner[1].replace("[", "").replace("]", "")
                target[name] = replace(value, name=name)
            elif (kafka := _spring_name(section, rest)) and (_is_spelled_by_spring(rest) or _is_variable(value)):
                target.setdefault(kafka, _bound(kafka, value))
            else:
                left += _next_to_springs(key, rest, value, is_springs=kafka is not None)
        elif match := _BINDER_KEY.match(key):
            left += _binder(match[2], bool(match[1]), value, named, given, channels)
        elif match := _BINDING_KEY.match(key):
            if _is_output(match[1]) and _uniform(match[2]) == "destination":
                written.append(value)
            _binding(match[1], match[2], value, inputs)
    plain = {key: value for key, value in values.items() if not _is_variable(value)}
    left += unread(plain, lambda name: f"spring.kafka.{client_with(name)}.properties.{name}")
    required = named.get("binder.requiredacks")
    if required is not None:
        given[Role.PRODUCER].setdefault("acks", replace(required, name="acks"))
    if default := named.get("template.defaulttopic"):
        written.append(default)
    if written and given[Role.PRODUCER]:
        topics = ",".join(value.text for value in written if value.text)
        given[Role.PRODUCER]["topic"] = replace(written[0], name="topic", text=topics)
    is_transactional = any(name.startswith("binder.transaction.transactionidprefix") for name in named)
    left += _ignored_by_transactions(values, given[Role.PRODUCER]) if is_transactional else ()
    return SpringSettings(
        named=named,
        clients=given,
        shared=shared,
        channels=channels,
        inputs=inputs,
        defaults={"acks": "1"} if is_transactional else {},
        unread=tuple(left),
    )


def _ignored_by_transactions(values: Mapping[str, Value], producer: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return what output bindings set otherwise than the one producer of a transactional binder, which ignores it."""
    found: list[Value] = []
    for key, value in values.items():
        match = _BINDING_KEY.match(key)
        is_producers = match is not None and _is_output(match[1]) and match[2].lower().startswith("producer.")
        inner = _BINDER_MAP.search(match[2]) if match is not None and is_producers else None
        name = inner[1].replace("[", "").replace("]", "") if inner else ""
        other = producer.get(name)
        is_same = value.flag is True if other is None else value.text == other.text
        if name in CLIENT_SETTINGS and not is_same:
            found.append(replace(value, name=f"{_TRANSACTIONS}{name}"))
    return tuple(found)


def _of_binders(values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return values with the environments of named binders as settings of the application; not where these differ."""
    found: dict[str, list[Value]] = {}
    for key, value in values.items():
        if match := _BINDER_ENVIRONMENT.match(key):
            found.setdefault(match[1], []).append(value)
    alike = {key: own[0] for key, own in found.items() if len({value.text for value in own}) == 1}
    return {**alike, **values} if alike else values


def _topic_properties(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings of topics that the binder creates."""
    found = ((key, value, _TOPIC_KEY.match(key)) for key, value in values.items())
    return {
        f"{TOPIC_PROPERTY}{key[: match.start(1)].lower()}/{match[1].strip('[]')}": value
        for key, value, match in found
        if match is not None
    }


def _next_to_springs(key: str, rest: str, value: Value, *, is_springs: bool) -> tuple[Value, ...]:
    """Return a setting of Kafka that stands where Spring has names of its own, with the right key."""
    end = setting_at_end(rest)
    if end is None or not end.is_generic:
        return ()
    own = rest.replace(".", "-") if is_springs else f"properties.{end.setting}"
    return (replace(value, name=f"{key[: -len(rest)]}{own}"),)


def unread_by_others(values: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return the settings of clients under Spring's names in the file of another framework, and where that has them."""
    others = next(keys for name, keys in OF_OTHERS.items() if any(key.startswith(name) for key in values))
    return tuple(
        replace(value, name=f"{others[role]}.{name}")
        for role, given in spring_settings(values).clients.items()
        for name, value in given.items()
        if name in CLIENT_SETTINGS and role in others
    )


def _spring_name(section: str, rest: str) -> str | None:
    """Return the client's setting that a name of Spring's own stands for."""
    uniform = _uniform(rest).replace(".", "")
    own = _SPRING_NAMES[Role(section)].get(uniform) if section else None
    return own or _SPRING_COMMON.get(uniform)


def _is_spelled_by_spring(name: str) -> bool:
    """Return whether a name can be one of Spring's: a dot stands only before the properties of a part."""
    return "." not in name or name.startswith("security.")


def _is_variable(value: Value) -> bool:
    """Return whether a value is one of the environment, where a dot and a dash are both an underscore."""
    return value.key.upper() == value.key


def _is_output(binding: str) -> bool:
    return "-out-" in binding or binding == "output"


def _binding(binding: str, rest: str, value: Value, inputs: dict[str, dict[str, Value]]) -> None:
    """Add a setting of an input binding: its topic and group, or one that the consumer is given."""
    uniform = _uniform(rest)
    if _is_output(binding) or uniform.startswith(("producer.", "consumer.topic.")):
        return
    own = inputs.setdefault(binding, {})
    if uniform in ("destination", "group"):
        name = "topic" if uniform == "destination" else "group.id"
        own[name] = replace(value, name=name)
    elif uniform.startswith("consumer.") and (inner := _BINDER_MAP.search(rest)):
        name = inner[1].replace("[", "").replace("]", "")
        own[name] = replace(value, name=name)


def _binder(
    rest: str,
    streams: bool,
    value: Value,
    named: dict[str, Value],
    given: dict[Role, dict[str, Value]],
    channels: dict[str, Value],
) -> tuple[Value, ...]:
    """Add a setting of a binder; return it with the key of the Streams binder if only Kafka Streams has it."""
    named[f"binder.{_uniform(rest)}"] = value
    uniform = _uniform(rest)
    inner = _BINDER_MAP.search(rest)
    name = inner[1].replace("[", "").replace("]", "") if inner else ""
    if uniform.startswith("transaction.transactionidprefix"):
        given[Role.PRODUCER]["transactional.id"] = replace(value, name="transactional.id")
    elif name:
        section = (
            Role.PRODUCER if "producer" in uniform.split(".") else Role.CONSUMER if "consumer" in uniform else None
        )
        section = section or (Role.PRODUCER if uniform.startswith("producerproperties") else None)
        target = given[Role.STREAMS] if streams else given[section] if section else channels
        target[name] = replace(value, name=name)
    is_read = streams or name not in OF_STREAMS
    return () if is_read else (replace(value, name=f"{STREAMS_BINDER}{name}"),)


# A binding by its name, of the binder or of Spring Cloud Stream itself.
_BINDING_KEY: Final = re.compile(r"^spring\.cloud\.stream\.(?:kafka\.)?bindings\.([\w-]+)\.(.+)$", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"(\d{1,30})\s*(ns|us|ms|s|m|h|d|b|kb|mb|gb)", re.IGNORECASE)
_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SIZES: Final = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_DURATIONS: Final = frozenset({"heartbeat.interval.ms", "auto.commit.interval.ms", "max.poll.interval.ms"})


def _bound(name: str, value: Value) -> Value:
    """Return a value as Spring Boot binds it to its own properties: durations and sizes with units, choices relaxed."""
    text = value.text
    amount = _AMOUNT.fullmatch(text.strip()) if text else None
    if text is not None and name == "isolation.level":
        text = text.strip().lower().replace("-", "_")
    elif amount is not None:
        units = _UNITS if name in _DURATIONS else _SIZES
        unit = amount[2].lower()
        text = str(int(amount[1]) * units[unit]) if unit in units else text
    return replace(value, name=name, text=text)


def _uniform(name: str) -> str:
    """Return Spring's uniform form: lower case without dashes and underscores."""
    return name.lower().replace("-", "").replace("_", "")
