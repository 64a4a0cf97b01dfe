"""A subscription to client metrics, the resource `CLIENT_METRICS` (`ClientMetricsConfigs`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.sandbox.replies import ClientInformation
from eosctl.sandbox.settings import ConfigType, InvalidSetting, Setting
from eosctl.wire.uuid import render_uuid

CLIENT_METRICS_RESOURCE: Final = 16
METRICS, INTERVAL_MS, MATCH = "metrics", "interval.ms", "match"
ALL_METRICS: Final = "*"
DEFAULT_INTERVAL_MS: Final = 300_000
MIN_INTERVAL_MS, MAX_INTERVAL_MS = 100, 3_600_000
ATTRIBUTES: Final = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)


def _setting(name: str, kind: ConfigType, default: str) -> Setting:
    return Setting("client-metrics", name, type=kind, default=default, detail="", internal=False, valid="")


SETTINGS: Final[Mapping[str, Setting]] = {
    INTERVAL_MS: _setting(INTERVAL_MS, ConfigType.INT, str(DEFAULT_INTERVAL_MS)),
    MATCH: _setting(MATCH, ConfigType.LIST, ""),
    METRICS: _setting(METRICS, ConfigType.LIST, ""),
}


class InvalidSubscription(Exception):  # noqa: N818 - an answer, not a failure
    """A subscription is refused as a request, not as a configuration."""


class Subscription(NamedTuple):
    """The metrics that matching clients push, by prefixes of their names; every client matches no patterns."""

    metrics: tuple[str, ...]
    interval_ms: int
    patterns: Mapping[str, re.Pattern[str]]

    def matches(self, instance_id: bytes, client_id: str, client: ClientInformation) -> bool:
        """Return whether a client has an attribute that matches each pattern."""
        values = (render_uuid(instance_id), client_id, *client.software, client.host, str(client.port))
        attributes = dict(zip(ATTRIBUTES, values, strict=True))
        return all(pattern.fullmatch(attributes[name]) for name, pattern in self.patterns.items())


def subscription_of(values: Mapping[str, str]) -> Subscription:
    """Return the subscription with these settings."""
    return Subscription(
        _items(values.get(METRICS, "")),
        int(values.get(INTERVAL_MS, DEFAULT_INTERVAL_MS)),
        _patterns(values.get(MATCH, ""), is_3_9=False),
    )


def check_subscription(name: str, values: Mapping[str, str], *, is_3_9: bool) -> None:
    """Check the settings of a subscription together.

    Raises:
        InvalidSubscription: The name is empty, a setting is unknown, or the interval is out of range.
        InvalidSetting: A value is malformed.
        ValueError: The interval is not a number on 3.9, which Kafka reports as an unknown error.
    """
    if not name:
        raise InvalidSubscription("Subscription name can't be empty")
    for key in values:
        if key not in SETTINGS:
            raise InvalidSubscription(f"Unknown client metrics configuration: {key}")
    if INTERVAL_MS in values:
        if not is_3_9:
            SETTINGS[INTERVAL_MS].check(values[INTERVAL_MS])
        interval_ms = int(values[INTERVAL_MS])
        if not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
            raise InvalidSubscription(
                f"Invalid value {interval_ms} for {INTERVAL_MS}, interval must be between {MIN_INTERVAL_MS} and "
                f"{MAX_INTERVAL_MS} (1 hour)"
            )
    if MATCH in values:
        _patterns(values[MATCH], is_3_9=is_3_9)


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",")) if text.strip() else ()


def _patterns(text: str, *, is_3_9: bool) -> dict[str, re.Pattern[str]]:
    found = {}
    for item in text.split(",") if is_3_9 else _items(text):
        name, _, expression = item.partition("=")
        name, expression = name.strip(), expression.strip()
        if name not in ATTRIBUTES or not expression or "=" in expression:
            raise InvalidSetting(f"Illegal client matching pattern: {item}")
        try:
            found[name] = re.compile(expression)
        except re.error:
            raise InvalidSetting(f"Illegal client matching pattern: {item}") from None
    return found
