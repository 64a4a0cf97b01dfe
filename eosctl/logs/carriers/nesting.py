"""Find the parts of records that are nested in JSON, by the shape of each level."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from eosctl.logs.levels import is_level

_DEEPEST: Final = 3
_FAILURES: Final = frozenset({"error", "err", "exception", "cause", "throwable", "thrown", "exc"})
"""Objects that describe an error: their messages are not the record's."""
_STAMP: Final = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_TIME_NAME: Final = re.compile(r"(?i:time|date|stamp|epoch|millis|ts$|when|at$)")
_EPOCHS_S: Final = range(1_000_000_000, 4_000_000_000)
_UNITS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
_SENTENCE: Final = re.compile(r"\S+ \S+")
_TRACE: Final = re.compile(r"\n[^\S\n]*+at |\n[^\S\n]++File |^Traceback \(|^(?:\w+\.)+\w+(?:Exception|Error)\b")


def flattened(
    values: Mapping[str, Any], message: Collection[str], time: Collection[str], level: Collection[str]
) -> Mapping[str, Any]:
    """Return a record's values, merged with those of nested objects that have its message, time, or level.

    A record that has all of them at the top level, or no nested objects, is returned unchanged.

    Args:
        values: The values of the top level.
        message: Programs' names for the message.
        time: Their names for the time.
        level: Their names for the level.
    """
    if not any(isinstance(value, Mapping) for value in values.values()):
        return values
    missing = [names for names in (message, time, level) if not _has_any(values, names)]
    if not missing or ("instant" in values and missing == [time]):
        return values
    below = list(_below(values))
    whole = values
    if message in missing and (core := _core(below, message, time, level)) is not None:
        whole = {**values, **core}
    for names in (time, level):
        if not _has_any(whole, names):
            whole = {**next((one for one in below if _has_any(one, names)), {}), **whole}
    return whole


def parsed(text: str) -> Mapping[str, Any] | None:
    """Return the record that a message contains as JSON; None if it is not one."""
    if not (text.startswith("{") and text.rstrip().endswith("}")):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def time_like(values: Mapping[str, Any]) -> str:
    """Return the first value that looks like a time; empty if none does. A number needs the name of a time."""
    for name, value in values.items():
        if isinstance(value, str):
            if _STAMP.match(value):
                return value
        elif isinstance(value, int | float) and _TIME_NAME.search(name) and _is_epoch(value):
            return str(value)
    return ""


def _is_epoch(value: float) -> bool:
    return any(int(value // unit) in _EPOCHS_S for unit in _UNITS)


def message_like(values: Mapping[str, Any]) -> str:
    """Return the first value that is longer than a word and not a time; empty if none is."""
    texts = (value for value in values.values() if isinstance(value, str))
    return next((text for text in texts if _SENTENCE.search(text) and not _STAMP.match(text)), "")


def level_like(values: Mapping[str, Any]) -> str:
    """Return the first value, or tag of a list, that is the name of a level; empty if none is."""
    listed = (one if isinstance(one, list) else (one,) for one in values.values())
    return next((text for texts in listed for text in texts if isinstance(text, str) and is_level(text)), "")


def trace_like(values: Mapping[str, Any]) -> str:
    """Return the first value, at any level, that looks like a stack trace; empty if none does."""
    for one in (values, *_below(values, frozenset())):
        for value in one.values():
            if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
                value = "\n".join(value)
            if isinstance(value, str) and "\n" in value and _TRACE.search(value):
                return value
    return ""


def _core(
    below: Collection[Mapping[str, Any]], message: Collection[str], time: Collection[str], level: Collection[str]
) -> Mapping[str, Any] | None:
    """Return the object that resembles a record most."""

    def likeness(one: Mapping[str, Any]) -> int:
        others = bool(_has_any(one, time)) + bool(_has_any(one, level))
        return 4 + others if _has_any(one, message) else 1 + others if message_like(one) else 0

    best = max(below, key=likeness, default=None)
    return best if best is not None and likeness(best) else None


def _has_any(values: Mapping[str, Any], names: Collection[str]) -> bool:
    """Return whether one of the names, in any case, has a text or a number here."""
    if any(_is_plain(values.get(name)) for name in names):
        return True
    return any(_is_plain(_nested(values, name)) for name in names if "." in name) or any(
        _is_plain(value) and name.lower().lstrip("_") in names for name, value in values.items()
    )


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _nested(values: Mapping[str, Any], name: str) -> Any:
    value: Any = values
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _below(values: Mapping[str, Any], skipped: Collection[str] = _FAILURES) -> Iterator[Mapping[str, Any]]:
    """Yield the objects nested in another one, the nearest first."""
    level: list[Mapping[str, Any]] = [values]
    for _ in range(_DEEPEST):
        level = [
            value
            for one in level
            for name, value in one.items()
            if isinstance(value, Mapping) and name.lower() not in skipped
        ]
        yield from level
