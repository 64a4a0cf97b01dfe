"""Which part of a record names the business fact in it: the record's key, a header, or a field of a JSON value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from eosctl.wire.records.record import Record

KeyOf = Callable[[Record], bytes | None]
"""Return a record's business key; None when it has none."""

FORMS: Final = "key, header:NAME or value:FIELD (dots lead into JSON objects)"


class BusinessKeyError(ValueError):
    """An expression that names no part of a record."""


def parse_business_key(expression: str) -> KeyOf:
    """Return what takes the key out of a record.

    Args:
        expression: ``key``, ``header:NAME`` or ``value:FIELD``; dots of a field lead into objects.

    Raises:
        BusinessKeyError: It is none of these.
    """
    kind, _, name = expression.partition(":")
    if expression == "key":
        return _record_key
    if kind == "header" and name:
        return lambda record: _header(record, name)
    if kind == "value" and name and all(name.split(".")):
        path = tuple(name.split("."))
        return lambda record: _field(record, path)
    raise BusinessKeyError(f"{expression!r} names no part of a record.")


def _record_key(record: Record) -> bytes | None:
    return record.key


def _header(record: Record, name: str) -> bytes | None:
    return next((value for header, value in reversed(record.headers) if header == name), None)


def _field(record: Record, path: tuple[str, ...]) -> bytes | None:
    if record.value is None:
        return None
    try:
        value: Any = json.loads(record.value)
    except (ValueError, RecursionError):
        return None
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return None if value is None else json.dumps(value, sort_keys=True).encode()
