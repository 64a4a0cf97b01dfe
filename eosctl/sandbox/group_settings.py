"""Settings of individual consumer and streams groups (`GroupConfig`, KIP-848): validation and defaults.

A group's own setting overrides the broker's setting `group.*` of the same name, within the broker's bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from eosctl.sandbox.settings import InvalidSetting, Setting

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"
RACK_TAGS = "streams.rack.aware.assignment.tags"
#: Kafka's order; those without a broker setting are missing in the emulated release.
NAMES = (
    SESSION_TIMEOUT,
    HEARTBEAT_INTERVAL,
    ASSIGNMENT_INTERVAL,
    "streams.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.num.standby.replicas",
    "streams.initial.rebalance.delay.ms",
    "streams.assignment.interval.ms",
    "streams.assignor.offload.enable",
    "streams.task.offset.interval.ms",
    "streams.num.warmup.replicas",
    RACK_TAGS,
    "streams.acceptable.recovery.lag",
)
#: The names of bounds that differ from `group.TYPE.min.*` and `group.TYPE.max.*`.
_MAXIMA = {"num.standby.replicas": "standby.replicas", "num.warmup.replicas": "warmup.replicas"}

ReadInt = Callable[[str], int]


def broker_name(name: str) -> str:
    """Return the broker setting that provides the default of a group setting."""
    return f"group.{name}"


def setting_of(name: str, table: Mapping[str, Setting]) -> Setting:
    """Return the definition of a group's setting, which is that of the broker setting.

    Raises:
        InvalidSetting: Groups do not have such a setting.
    """
    if name not in NAMES or broker_name(name) not in table:
        raise InvalidSetting(f"Unknown group config name: {name}")
    return table[broker_name(name)]._replace(name=name)


def check_group_settings(
    changed: Mapping[str, str], table: Mapping[str, Setting], bound: ReadInt, *, is_before_4_4: bool
) -> None:
    """Check all settings of a group together.

    Raises:
        InvalidSetting: A setting is unknown, of the wrong type, or outside the broker's bounds; the text is Kafka's.
    """
    for name, value in changed.items():
        setting_of(name, table)
        if name == RACK_TAGS and len(set(tags := _items(value))) < len(tags):
            raise InvalidSetting(f"{name} must not contain duplicate tag keys.")
        setting_of(name, table).check(value)
    for name in NAMES:
        if name in changed:
            _check_bounds(name, changed[name], table, bound, is_before_4_4=is_before_4_4)
    for kind in ("consumer", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        session_ms, heartbeat_ms = (int(changed.get(name, bound(broker_name(name)))) for name in (session, heartbeat))
        if session_ms <= heartbeat_ms:
            raise InvalidSetting(f"{session} must be greater than {heartbeat}")


def _check_bounds(name: str, value: str, table: Mapping[str, Setting], bound: ReadInt, *, is_before_4_4: bool) -> None:
    kind, _, rest = name.partition(".")
    minimum, maximum = f"group.{kind}.min.{rest}", f"group.{kind}.max.{_MAXIMA.get(rest, rest)}"
    is_low = minimum in table and int(value) < bound(minimum)
    is_high = maximum in table and int(value) > bound(maximum)
    if not is_low and not is_high:
        return
    if not is_before_4_4 and minimum in table and maximum in table:
        raise InvalidSetting(f"{name} must be in the range {bound(minimum)} to {bound(maximum)} inclusive.")
    violated = minimum if is_low else maximum
    shown = violated if is_before_4_4 else bound(violated)
    raise InvalidSetting(f"{name} must be {'greater' if is_low else 'less'} than or equal to {shown}")


def group_list(overrides: Mapping[str, str], name: str, read_text: Callable[[str], str]) -> tuple[str, ...]:
    """Return the items of a group's setting, or of the broker's."""
    text = overrides[name] if name in overrides else read_text(broker_name(name))
    return _items(text)


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",")) if text.strip() else ()


def group_int(overrides: Mapping[str, str], name: str, read_int: ReadInt) -> int:
    """Return a group's setting, or the broker's."""
    return int(overrides[name]) if name in overrides else read_int(broker_name(name))


def known_names(requested: Iterable[str] | None, table: Mapping[str, Setting]) -> list[str]:
    """Return the settings that a DescribeConfigs response shows."""
    keys = set(requested or ())
    shown = [name for name in NAMES if broker_name(name) in table and not table[broker_name(name)].internal]
    return [name for name in shown if not keys or name in keys]
