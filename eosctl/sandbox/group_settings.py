"""Settings of individual consumer groups (`GroupConfig`, KIP-848): validation and defaults.

A group's own setting overrides the broker's `group.consumer.*` of the same name, within the broker's bounds. Settings
of share and streams groups are unknown here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from eosctl.sandbox.settings import ConfigType, InvalidSetting, Setting

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"
NAMES = (SESSION_TIMEOUT, HEARTBEAT_INTERVAL, ASSIGNMENT_INTERVAL)

ReadInt = Callable[[str], int]


def broker_name(name: str) -> str:
    """Return the broker setting that provides the default of a group setting."""
    return f"group.{name}"


def setting_of(name: str, table: Mapping[str, Setting]) -> Setting:
    """Return the definition of a group's setting, which is that of the broker setting.

    Raises:
        InvalidSetting: Groups do not have such a setting.
    """
    if name not in NAMES:
        raise InvalidSetting(f"Unknown group config name: {name}")
    return table[broker_name(name)]._replace(name=name, type=ConfigType.INT)


def check_group_settings(changed: Mapping[str, str], table: Mapping[str, Setting], bound: ReadInt) -> None:
    """Check all settings of a group together.

    Raises:
        InvalidSetting: A setting is unknown, not a number, or outside the broker's bounds; the text is Kafka's.
    """
    for name, value in changed.items():
        setting_of(name, table).check(value)
    for name, value in changed.items():
        minimum, maximum = (f"group.consumer.{word}.{name.removeprefix('consumer.')}" for word in ("min", "max"))
        if int(value) < bound(minimum):
            raise InvalidSetting(f"{name} must be greater than or equal to {minimum}")
        if int(value) > bound(maximum):
            raise InvalidSetting(f"{name} must be less than or equal to {maximum}")
    session_ms = int(changed.get(SESSION_TIMEOUT, bound(broker_name(SESSION_TIMEOUT))))
    if session_ms <= int(changed.get(HEARTBEAT_INTERVAL, bound(broker_name(HEARTBEAT_INTERVAL)))):
        raise InvalidSetting(f"{SESSION_TIMEOUT} must be greater than {HEARTBEAT_INTERVAL}")


def group_int(overrides: Mapping[str, str], name: str, read_int: ReadInt) -> int:
    """Return a group's setting, or the broker's."""
    return int(overrides[name]) if name in overrides else read_int(broker_name(name))


def known_names(requested: Iterable[str] | None) -> list[str]:
    """Return the settings that a DescribeConfigs response shows."""
    keys = set(requested or ())
    return [name for name in NAMES if not keys or name in keys]
