"""Records that lie one or more levels below the top of their JSON: which level holds what, told by its shape."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

_DEEPEST: Final = 3
_FAILURES: Final = frozenset({"error", "err", "exception", "cause", "throwable", "thrown", "exc"})
"""Objects that tell what went wrong: their messages are not the record's."""
_STAMP: Final = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_TIME_NAME: Final = re.compile(r"(?i:time|date|stamp|epoch|millis|ts$|when|at$)")
_EPOCHS_S: Final = range(1_000_000_000, 4_000_000_000)
_UNITS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
_LEVELS: Final = frozenset(
    [
        *("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL", "SEVERE"),
        "INFORMATION",
    ]
)
_SENTENCE: Final = re.compile(r"\S+ \S+")
_TRACE: Final = re.compile(r"\n\s*at |\n\s+File |^Traceback \(|^(?:\w+\.)+\w+(?:Exception|Error)\b")


def flattened(
    values: Mapping[str, Any], message: Collection[str], time: Collection[str], level: Collection[str]
) -> Mapping[str, Any]:
    """Return a record's values with those of the levels below it that hold its message, time or level beside them.

    A record that has all of them on top, or nothing below, is returned as it is.

    Args:
        values: The values of the top.
        message: What programs call the message.
        time: What they call the time.
        level: What they call the level.
    """
    if not any(isinstance(value, Mapping) for value in values.values()):
        return values
    missing = [names for names in (message, time, level) if not _tells(values, names)]
    if not missing or ("instant" in values and missing == [time]):
        return values
    below = list(_below(values))
    whole = values
    if message in missing and (core := _core(below, message, time, level)) is not None:
        whole = {**values, **core}
    for names in (time, level):
        if not _tells(whole, names):
            whole = {**next((one for one in below if _tells(one, names)), {}), **whole}
    return whole


def parsed(text: str) -> Mapping[str, Any] | None:
    """Return the record that a message holds as JSON; None where it is none."""
    if not (text.startswith("{") and text.rstrip().endswith("}")):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def time_like(values: Mapping[str, Any]) -> str:
    """Return the first of some values that looks like a time; empty where none does. A number must be called so."""
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
    """Return the first of some values that is more than a word and no time; empty where none is."""
    texts = (value for value in values.values() if isinstance(value, str))
    return next((text for text in texts if _SENTENCE.search(text) and not _STAMP.match(text)), "")


def level_like(values: Mapping[str, Any]) -> str:
    """Return the first of some values that is a level's name; empty where none is."""
    texts = (value for value in values.values() if isinstance(value, str))
    return next((text for text in texts if text.strip().upper() in _LEVELS), "")


def trace_like(values: Mapping[str, Any]) -> str:
    """Return the first of some values, or of those below them, that looks like a stack trace; empty where none does."""
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
    """Return the object that is most like a record."""

    def likeness(one: Mapping[str, Any]) -> int:
        beside = bool(_tells(one, time)) + bool(_tells(one, level))
        return 4 + beside if _tells(one, message) else 1 + beside if message_like(one) else 0

    best = max(below, key=likeness, default=None)
    return best if best is not None and likeness(best) else None


def _tells(values: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether one of some names has a text or a number here, whatever its case."""
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
    """Yield the objects below one, the nearest first."""
    level: list[Mapping[str, Any]] = [values]
    for _ in range(_DEEPEST):
        level = [
            value
            for one in level
            for name, value in one.items()
            if isinstance(value, Mapping) and name.lower() not in skipped
        ]
        yield from level
