"""Kafka's broker and topic settings: types, defaults, bounds, and update modes, and their effective values."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from importlib import resources
from typing import NamedTuple

BROKER_SCOPE = "broker"
INT32_MAX = 0x7FFF_FFFF
INT64_MAX = 0x7FFF_FFFF_FFFF_FFFF


class ConfigSource(IntEnum):
    """The source of a value, as numbered in DescribeConfigs."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8


class ConfigType(IntEnum):
    """A setting's type, as numbered in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class InvalidSetting(ValueError):  # noqa: N818 - an answer, not a failure
    """An unknown setting or an invalid value; the text is Kafka's."""


class Setting(NamedTuple):
    """A setting of Kafka's `ConfigDef`.

    `detail` is the update mode of a broker setting (`read-only`, `per-broker`, `cluster-wide`), or the broker settings
    that a topic setting falls back to, most specific first. `valid` is the validator's text.
    """

    scope: str
    name: str
    type: ConfigType
    default: str | None
    detail: str
    internal: bool
    valid: str

    @property
    def is_dynamic(self) -> bool:
        """Return whether a broker setting may change while the broker runs."""
        return self.detail in ("per-broker", "cluster-wide")

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Return the broker settings that provide a topic setting's default."""
        return tuple(name for name in self.detail.split(",") if name)

    @property
    def documentation(self) -> str:
        """Return the facts of the setting as its description for clients. Kafka's own text is not in the table."""
        facts = [f"Type: {self.type.name.lower()}"]
        if self.default is not None and self.type is not ConfigType.PASSWORD:
            facts.append(f"Default: {self.default or 'an empty text'}")
        if self.valid:
            facts.append(f"Valid values: {self.valid}")
        if self.scope == BROKER_SCOPE:
            facts.append(f"Update mode: {self.detail}")
        elif self.synonyms:
            facts.append(f"Without a value of its own: {', '.join(self.synonyms)} of the broker")
        return "; ".join(facts)

    def check(self, value: str) -> None:
        """Reject a value of the wrong type or outside the bounds, with the message of Kafka's `ConfigDef`."""
        match self.type:
            case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
                self._check_number(value)
            case ConfigType.DOUBLE:
                try:
                    number = float(value)
                except ValueError:
                    raise InvalidSetting(self._not("Not a number of type DOUBLE", value)) from None
                self._check_bounds(number, str(number))
            case ConfigType.BOOLEAN:
                if value.strip().lower() not in ("true", "false"):
                    raise InvalidSetting(self._not("Expected value to be either true or false", value))
            case ConfigType.STRING | ConfigType.LIST:
                self._check_choice(value)
            case _:
                pass

    def _check_number(self, value: str) -> None:
        limit = {ConfigType.SHORT: 0x7FFF, ConfigType.INT: INT32_MAX}.get(self.type, INT64_MAX)
        if not re.fullmatch(r"[+-]?\d+", value.strip()) or not -limit - 1 <= int(value) <= limit:
            raise InvalidSetting(self._not(f"Not a number of type {self.type.name}", value))
        self._check_bounds(int(value), value)

    def _check_bounds(self, number: float, value: str) -> None:
        bounds = re.match(r"\[(-?[\d.]+?),\.\.\.(?:,(-?[\d.]+))?\](?: or (-?[\d.]+))?", self.valid)
        if bounds and bounds[3]:
            if not float(bounds[1]) <= number <= float(bounds[2]) and number != float(bounds[3]):
                text = f"Value must be between {bounds[1]} and {bounds[2]} or equal to {bounds[3]}"
                raise InvalidSetting(self._not(text, value))
            return
        if bounds and number < float(bounds[1]):
            raise InvalidSetting(self._not(f"Value must be at least {bounds[1]}", value))
        if bounds and bounds[2] and number > float(bounds[2]):
            raise InvalidSetting(self._not(f"Value must be no more than {bounds[2]}", value))

    def _check_choice(self, value: str) -> None:
        if not self.valid.startswith("[") or "..." in self.valid or ":" in self.valid:
            return
        allowed = [item.strip() for item in self.valid[1:-1].split(",")]
        given = [item.strip() for item in value.split(",")] if self.type is ConfigType.LIST else [value]
        for item in given:
            if item not in allowed and item:
                raise InvalidSetting(self._not(f"String must be one of: {', '.join(allowed)}", item))

    def _not(self, reason: str, value: str) -> str:
        return f"Invalid value {value} for configuration {self.name}: {reason}"


def is_integer(text: str) -> bool:
    """Return whether Java parses a text as an integer, as it does with the names of broker resources."""
    return re.fullmatch(r"[+-]?[0-9]+", text) is not None


class SettingTable(NamedTuple):
    """All settings of one Kafka release."""

    broker: dict[str, Setting]
    topic: dict[str, Setting]


@cache
def setting_table(release: str) -> SettingTable:
    """Load the settings of Kafka 3.9 or 4.3."""
    text = (resources.files("eosctl.sandbox") / "data" / f"settings-{release}.tsv").read_text()
    tables: dict[str, dict[str, Setting]] = {"broker": {}, "topic": {}}
    for line in text.splitlines()[1:]:
        scope, name, kind, default, detail, internal, valid = line.split("\t")
        tables[scope][name] = Setting(
            scope=scope,
            name=name,
            type=ConfigType[kind],
            default=None if default in ("<null>", "<required>") else default,
            detail=detail,
            internal=internal == "true",
            valid=valid,
        )
    return SettingTable(tables["broker"], tables["topic"])
