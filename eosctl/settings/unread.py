"""Settings of Kafka's clients at places from which no client receives them.

Sources: Connect's ``ConnectorConfig`` (``producer.override.``, ``consumer.override.``) and ``Worker``, Spring Boot's
``KafkaProperties``, Flink's ``KafkaDynamicTableFactory`` (``properties.``), Alpakka's ``ProducerSettings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.deployment import Value

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
    return (
        *unread(values, _overridden),
        *unread(_after("consumer.", values), _overridden),
        *unread(_after("producer.", values), _overridden),
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
