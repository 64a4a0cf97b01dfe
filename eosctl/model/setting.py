"""A configuration value with its source."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class SettingSource(StrEnum):
    """The source of a value: those of Kafka's DescribeConfigs, and those of files."""

    DYNAMIC_TOPIC = "dynamic-topic"
    DYNAMIC_BROKER = "dynamic-broker"
    DYNAMIC_DEFAULT_BROKER = "dynamic-default-broker"
    DYNAMIC_GROUP = "dynamic-group"
    DYNAMIC_CLIENT_METRICS = "dynamic-client-metrics"
    STATIC_BROKER = "static-broker"
    DEFAULT = "default"
    FILE = "file"
    PROFILE = "profile"
    UNKNOWN = "unknown"


AT_LEAST: Final = "a filter of kafka-topics.sh"
"""The origin of a value that an output implies: it is the least that the setting can have."""


class Setting(msgspec.Struct, frozen=True):
    """One resolved setting of a broker, topic, group or client.

    `value` is Kafka's text form; None when the broker hides it (sensitive) or has none. `origin` says where the value
    was read: a broker (`broker 2`) or `file:line`.
    """

    name: str
    value: str | None
    source: SettingSource = SettingSource.UNKNOWN
    origin: str = ""
    read_only: bool = False
    sensitive: bool = False

    @property
    def is_default(self) -> bool:
        """Return whether this value is not set explicitly."""
        return self.source is SettingSource.DEFAULT
