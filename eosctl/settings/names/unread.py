"""Settings of Kafka's clients at places from which no client receives them.

Sources: Connect's ``ConnectorConfig`` (``producer.override.``, ``consumer.override.``) and ``Worker``, Spring Boot's
``KafkaProperties``, Flink's ``KafkaDynamicTableFactory`` (``properties.``), Alpakka's ``ProducerSettings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.model.deployment import Value
from eosctl.model.parameter import relaxed

_OF_CONSUMERS: Final = frozenset(
    {
        *("isolation.level", "enable.auto.commit", "auto.offset.reset", "max.poll.interval.ms"),
        *("partition.assignment.strategy", "group.instance.id"),
    }
)
_OF_PRODUCERS: Final = frozenset(
    {
        *("acks", "enable.idempotence", "transactional.id", "transaction.timeout.ms", "delivery.timeout.ms"),
        "max.in.flight.requests.per.connection",
    }
)
CLIENT_SETTINGS: Final = _OF_CONSUMERS | _OF_PRODUCERS
"""Settings on which exactly-once depends and whose names nothing but a client of Kafka has."""


OF_STREAMS: Final = frozenset({"processing.guarantee", "commit.interval.ms", "num.standby.replicas"})
"""Settings that Kafka Streams alone has."""
STREAMS_BINDER: Final = "spring.cloud.stream.kafka.streams.binder.configuration."
"""Where Spring Cloud Stream has them: this binder takes nothing but the brokers from that of message channels."""
_RELEVANT: Final = CLIENT_SETTINGS | OF_STREAMS
_BY_LETTERS: Final = {relaxed(name): name for name in _RELEVANT if "." in name} | {"acks": "acks"}
_MOST_PARTS: Final = 6
_GENERIC: Final = frozenset(
    {
        *("kafka", "client", "clients", "config", "configs", "configuration", "properties", "property", "props"),
        *("producer", "producers", "consumer", "consumers", "streams", "stream", "default", "override", "overrides"),
        *("consumer-properties", "producer-properties", "options", "settings", "extra", "additional"),
    }
)
"""Words that people write between a framework's beginning and the setting of a client."""


class SettingAtEnd(NamedTuple):
    """A setting at the end of a key: what stands before it, and the setting as Kafka spells it."""

    head: str
    setting: str
    is_spelled: bool

    @property
    def is_generic(self) -> bool:
        """Whether only words stand before it that name no thing of an application's own."""
        return all(word in _GENERIC for word in self.head.split(".") if word)

    @property
    def client(self) -> str:
        """Which client of Streams it is for, with a dot; empty for Streams itself."""
        named = next((word for word in self.head.split(".") if word in ("consumer", "producer")), "")
        return f"{named}." if named else ""


@lru_cache(maxsize=65_536)
def setting_at_end(key: str) -> SettingAtEnd | None:
    """Return the setting of exactly-once that a key ends in, in any spelling; None for other keys.

    >>> setting_at_end("mp.messaging.incoming.a.kafka.isolationLevel").setting
    'isolation.level'
    """
    parts = key.split(".")
    for start in range(max(0, len(parts) - _MOST_PARTS), len(parts)):
        rest = ".".join(parts[start:])
        name = _BY_LETTERS.get(relaxed(rest))
        if name is not None:
            return SettingAtEnd(".".join(parts[:start]), name, rest == name)
    return None


_OVERRIDES: Final = ("producer.override.", "consumer.override.", "admin.override.")


def unread(values: Mapping[str, Value], where: Callable[[str], str]) -> tuple[Value, ...]:
    """Return those of the values that are settings of a client, with the names under which it would receive them.

    Args:
        values: What stands outside of the client's settings, by its name there.
        where: Returns the key that hands a setting to the client.
    """
    return tuple(replace(value, name=where(name)) for name, value in values.items() if name in CLIENT_SETTINGS)


def unread_of_connector(values: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return what a connector's clients do not receive: only keys with ``override.`` reach them."""
    if "mirror" in (values["connector.class"].text or "").lower():
        return ()  # MirrorMaker's connectors make clients of their own, with prefixes of their own
    return not_passed(values, _OVERRIDES, _overridden)


def not_passed(values: Mapping[str, Value], passed: tuple[str, ...], where: Callable[[str], str]) -> tuple[Value, ...]:
    """Return the settings of clients that stand under words which hand nothing over, with the right names.

    Args:
        values: What a framework is given, by the name there.
        passed: The beginnings that it hands over.
        where: Returns the key that hands a setting to the client.
    """
    ends = ((value, name, setting_at_end(name)) for name, value in values.items())
    return tuple(
        replace(value, name=where(end.setting))
        for value, name, end in ends
        if end is not None
        and end.setting in CLIENT_SETTINGS
        and end.is_generic
        and not (end.is_spelled and f"{end.head}." in passed)
    )


def unread_of_worker(values: Mapping[str, Value]) -> tuple[Value, ...]:
    """Return what the tasks of a worker do not receive: keys of connectors, and what only its own clients read."""
    is_given = "consumer.isolation.level" in values
    own = {key: value for key, value in values.items() if key == "isolation.level" and not is_given}
    return (
        *unread(own, lambda name: f"consumer.{name}"),
        *unread(_after("consumer.override.", values), lambda name: f"consumer.{name}"),
        *unread(_after("producer.override.", values), lambda name: f"producer.{name}"),
    )


def client_with(name: str) -> str:
    """Return which client has a setting: ``producer`` or ``consumer``."""
    return "consumer" if name in _OF_CONSUMERS else "producer"


def _overridden(name: str) -> str:
    return f"{client_with(name)}.override.{name}"


def _after(prefix: str, values: Mapping[str, Value]) -> dict[str, Value]:
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}
