"""Settings of individual consumer, share, and streams groups (`GroupConfig`, KIP-848): validation and defaults.

A group's own setting overrides the broker's setting `group.*` of the same name, within the broker's bounds. Five
settings of share groups have no broker setting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from eosctl.sandbox.settings import ConfigType, InvalidSetting, Setting

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"
AUTO_OFFSET_RESET = "share.auto.offset.reset"
ISOLATION_LEVEL = "share.isolation.level"
RENEW_ENABLE = "share.renew.acknowledge.enable"
DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
DEAD_LETTER_COPY = "errors.deadletterqueue.copy.record.enable"
RACK_TAGS = "streams.rack.aware.assignment.tags"
STREAMS_ASSIGNOR = "streams.assignor.name"
#: Kafka's order; those without a broker setting are missing in the emulated release.
NAMES = (
    SESSION_TIMEOUT,
    HEARTBEAT_INTERVAL,
    ASSIGNMENT_INTERVAL,
    "share.session.timeout.ms",
    "share.heartbeat.interval.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    AUTO_OFFSET_RESET,
    ISOLATION_LEVEL,
    RENEW_ENABLE,
    "share.assignment.interval.ms",
    "share.assignor.offload.enable",
    "streams.session.timeout.ms",
    "streams.heartbeat.interval.ms",
    "streams.num.standby.replicas",
    "streams.initial.rebalance.delay.ms",
    "streams.assignment.interval.ms",
    "streams.assignor.offload.enable",
    STREAMS_ASSIGNOR,
    "streams.task.offset.interval.ms",
    "streams.num.warmup.replicas",
    RACK_TAGS,
    "streams.acceptable.recovery.lag",
    DEAD_LETTER_TOPIC,
    DEAD_LETTER_COPY,
)
#: The names of bounds that differ from `group.TYPE.min.*` and `group.TYPE.max.*`.
_MAXIMA = {"num.standby.replicas": "standby.replicas", "num.warmup.replicas": "warmup.replicas"}

_FIRST_SHARE_SETTING = "group.share.max.share.sessions"  # Releases without it have no settings of share groups.
_FIRST_DEAD_LETTER_SETTING = "errors.deadletterqueue.topic.name.prefix"
_STREAMS_ASSIGNORS = "group.streams.assignors"  # From 4.4 on.
_BY_DURATION = "by_duration:"
_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}


def _own(name: str, kind: ConfigType, default: str, valid: str = "") -> Setting:
    return Setting("group", name, type=kind, default=default, detail="", internal=False, valid=valid)


#: Settings of groups without a broker setting.
_OWN = {
    AUTO_OFFSET_RESET: _own(AUTO_OFFSET_RESET, ConfigType.STRING, "latest"),
    ISOLATION_LEVEL: _own(ISOLATION_LEVEL, ConfigType.STRING, "read_uncommitted", "[read_committed, read_uncommitted]"),
    RENEW_ENABLE: _own(RENEW_ENABLE, ConfigType.BOOLEAN, "true"),
    DEAD_LETTER_TOPIC: _own(DEAD_LETTER_TOPIC, ConfigType.STRING, ""),
    DEAD_LETTER_COPY: _own(DEAD_LETTER_COPY, ConfigType.BOOLEAN, "false"),
}

ReadInt = Callable[[str], int]


def broker_name(name: str) -> str:
    """Return the broker setting that provides the default of a group setting."""
    return _STREAMS_ASSIGNORS if name == STREAMS_ASSIGNOR else f"group.{name}"


def setting_of(name: str, table: Mapping[str, Setting]) -> Setting:
    """Return the definition of a group's setting, which is that of the broker setting.

    Raises:
        InvalidSetting: Groups do not have such a setting.
    """
    if not _is_known(name, table):
        raise InvalidSetting(f"Unknown group config name: {name}")
    if name in _OWN:
        return _OWN[name]
    if name == STREAMS_ASSIGNOR:
        return _own(name, ConfigType.STRING, table[_STREAMS_ASSIGNORS].default or "")
    setting = table[broker_name(name)]._replace(name=name)
    if name.startswith("share."):  # The broker's maximum is the only upper bound of a group.
        setting = setting._replace(valid=re.sub(r"\.\.\.,.*\]", "...]", setting.valid))
    return setting


def _is_known(name: str, table: Mapping[str, Setting]) -> bool:
    if name.startswith("share.") and _FIRST_SHARE_SETTING not in table:
        return False
    if name in (DEAD_LETTER_TOPIC, DEAD_LETTER_COPY):
        return _FIRST_DEAD_LETTER_SETTING in table
    return name in _OWN or (name in NAMES and broker_name(name) in table)


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
        if name == AUTO_OFFSET_RESET:
            _check_reset(value)
        if name == STREAMS_ASSIGNOR:
            _check_assignor(value, table)
    for name in NAMES:
        if name in changed:
            _check_bounds(name, changed[name], table, bound, is_before_4_4=is_before_4_4)
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        session_ms, heartbeat_ms = (int(changed.get(name, bound(broker_name(name)))) for name in (session, heartbeat))
        if session_ms <= heartbeat_ms:
            raise InvalidSetting(f"{session} must be greater than {heartbeat}")
    if changed.get(DEAD_LETTER_TOPIC, "").startswith("__"):
        raise InvalidSetting(f"{DEAD_LETTER_TOPIC}: DLQ topic name must not start with '__'")


def _check_reset(value: str) -> None:
    if value in ("earliest", "latest") or reset_duration_ms(value) is not None:
        return
    prefix, shape = f"Invalid value {value} for configuration {AUTO_OFFSET_RESET}", "<PnDTnHnMn.nS>"
    raise InvalidSetting(
        f"{prefix}: Invalid value `{value}` for configuration {AUTO_OFFSET_RESET}. The value must be either "
        f"'earliest', 'latest' or of the format '{_BY_DURATION}{shape}'."
    )


def _check_assignor(value: str, table: Mapping[str, Setting]) -> None:
    registered = _items(table[_STREAMS_ASSIGNORS].default or "")
    if value.strip() not in registered:
        raise InvalidSetting(
            f"{STREAMS_ASSIGNOR} '{value.strip()}' is not a registered task assignor. "
            f"Registered assignors are: [{', '.join(registered)}]."
        )


def reset_duration_ms(value: str) -> int | None:
    """Return the milliseconds of `share.auto.offset.reset` by duration (ISO 8601); None for any other value."""
    found = _DURATION.fullmatch(value.removeprefix(_BY_DURATION).upper()) if value.startswith(_BY_DURATION) else None
    parts = {} if found is None else {name: number for name, number in found.groupdict().items() if number is not None}
    if not parts:
        return None
    return int(sum(float(number) * _SECONDS[name] for name, number in parts.items()) * 1000)


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
    shown = [name for name in NAMES if _is_known(name, table) and not setting_of(name, table).internal]
    return [name for name in shown if not keys or name in keys]
