"""A node's effective settings: dynamic before static before Kafka's defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import dropwhile
from typing import Final, NamedTuple

from eosctl.sandbox.settings import ConfigSource, InvalidSetting, Setting, setting_table

#: Broker settings with a fallback to an older name in the same table, most specific first (getters of `KafkaConfig`).
_TIME_SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "log.retention.ms": (("log.retention.minutes", 60_000), ("log.retention.hours", 3_600_000)),
    "log.roll.ms": (("log.roll.hours", 3_600_000),),
    "log.roll.jitter.ms": (("log.roll.jitter.hours", 3_600_000),),
}


REMOTE_STORAGE: Final = "remote.storage.enable"
_THROTTLED: Final = re.compile(r"\*|([0-9]+:[0-9]+)?(,[0-9]+:[0-9]+)*")


class ConfigEntry(NamedTuple):
    """A value and its source."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigSources(NamedTuple):
    """The dynamic settings in the metadata log for a broker."""

    broker: Mapping[str, str]
    cluster: Mapping[str, str]


class NodeConfig:
    """Typed access to a node's settings by Kafka's names.

    `static` are the settings of the sandbox or its user (Kafka's `server.properties`). Values are cached until
    `replace_dynamic` is called.
    """

    def __init__(self, release: str, static: Mapping[str, str]) -> None:
        self.table = setting_table(release)
        self.static = dict(static)
        for name, value in self.static.items():
            setting = self.table.broker.get(name)
            if setting is not None:
                setting.check(value)

        self._dynamic = ConfigSources({}, {})
        self._ints: dict[str, int] = {}
        self._bools: dict[str, bool] = {}

    def replace_dynamic(self, sources: ConfigSources) -> None:
        """Replace the dynamic settings with those of the metadata log."""
        self._dynamic = sources
        self._ints.clear()
        self._bools.clear()

    def get_int(self, name: str) -> int:
        """Return an integer setting.

        Raises:
            KeyError: This Kafka release does not have the setting.
        """
        value = self._ints.get(name)
        if value is None:
            value = self._ints[name] = int(self._required(name))
        return value

    def get_bool(self, name: str) -> bool:
        """Return a boolean setting."""
        value = self._bools.get(name)
        if value is None:
            value = self._bools[name] = self._required(name).strip().lower() == "true"
        return value

    def get_str(self, name: str) -> str:
        """Return a text setting; empty when Kafka's default is null."""
        return self.entry(name).value or ""

    def entries(self, name: str) -> list[ConfigEntry]:
        """Return the effective value and all overridden ones, most specific first (synonyms of DescribeConfigs)."""
        found = []
        if name in self._dynamic.broker:
            found.append(ConfigEntry(name, self._dynamic.broker[name], ConfigSource.DYNAMIC_BROKER))
        if name in self._dynamic.cluster:
            found.append(ConfigEntry(name, self._dynamic.cluster[name], ConfigSource.DYNAMIC_DEFAULT_BROKER))
        if name in self.static:
            found.append(ConfigEntry(name, self.static[name], ConfigSource.STATIC_BROKER))
        setting = self.table.broker.get(name)
        if setting is not None and setting.default is not None:
            found.append(ConfigEntry(name, setting.default, ConfigSource.DEFAULT))
        return found

    def entry(self, name: str) -> ConfigEntry:
        """Return the effective value of a broker setting with its source."""
        found = self.entries(name)
        if not found:
            if name not in self.table.broker and name not in self.static:
                raise KeyError(name)
            return ConfigEntry(name, None, ConfigSource.DEFAULT)
        return found[0]

    def topic_entries(self, overrides: Mapping[str, str], name: str) -> list[ConfigEntry]:
        """Return a topic setting's effective value and the overridden ones, most specific first.

        As in Kafka (`ConfigHelper`), older names of the broker setting are listed only below a value of its first name.
        """
        setting = self.table.topic[name]
        of_broker = [entry for synonym in setting.synonyms for entry in self.entries(synonym)]
        of_broker.sort(key=lambda entry: entry.source)
        shown = list(dropwhile(lambda entry: entry.name != setting.synonyms[0], of_broker))
        if name in overrides:
            return [ConfigEntry(name, overrides[name], ConfigSource.DYNAMIC_TOPIC), *shown]
        return shown

    def topic_value(self, overrides: Mapping[str, str], name: str) -> str:
        """Return the effective value of a topic setting."""
        if name in overrides:
            return overrides[name]
        setting = self.table.topic.get(name)
        if setting is None:
            raise KeyError(name)
        for synonym in setting.synonyms:
            entry = self.entry(synonym)
            if entry.source is not ConfigSource.DEFAULT and entry.value is not None:
                return entry.value
            for other, factor in _TIME_SYNONYMS.get(synonym, ()):
                other_entry = self.entry(other)
                if other_entry.source is not ConfigSource.DEFAULT and other_entry.value is not None:
                    return str(int(other_entry.value) * factor)
        return setting.default or ""

    def _required(self, name: str) -> str:
        value = self.entry(name).value
        if value is None:
            for other, factor in _TIME_SYNONYMS.get(name, ()):
                entry = self.entry(other)
                if entry.value is not None:
                    return str(int(entry.value) * factor)
            raise KeyError(name)
        return value


def check_topic_setting(table: Mapping[str, Setting], name: str, value: str | None) -> None:
    """Reject an unknown topic setting or an invalid value.

    Raises:
        InvalidSetting: With Kafka's text.
    """
    setting = table.get(name)
    if setting is None or setting.internal:
        raise InvalidSetting(f"Unknown topic config name: {name}")
    if value is None:
        raise InvalidSetting(f"Null value not supported for topic configs: {name}")
    setting.check(value)
    if name == REMOTE_STORAGE and value.strip().lower() == "true":
        raise InvalidSetting(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    if name.endswith(".replication.throttled.replicas") and not _THROTTLED.fullmatch(value):
        shown = ", ".join(item.strip() for item in value.split(","))
        raise InvalidSetting(
            f"Invalid value [{shown}] for configuration {name}: {name} must be the literal '*' or a list of replicas "
            "in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
