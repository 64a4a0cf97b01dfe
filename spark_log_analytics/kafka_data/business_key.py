"""Extract the business key of a record: the record's key, a header, or a field of a JSON value."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from eosctl.wire.records.record import Record

KeyOf = Callable[[Record], bytes | None]
"""Returns a record's business key; None if it has none."""

FORMS: Final = "key, header:NAME or value:FIELD (dots lead into JSON objects)"


class BusinessKeyError(ValueError):
    """An expression that does not name a part of a record."""


def parse_business_key(expression: str) -> KeyOf:
    """Return the function that extracts the key from a record.

    Args:
        expression: ``key``, ``header:NAME``, or ``value:FIELD``; dots in a field refer to nested objects.

    Raises:
        BusinessKeyError: The expression has another form.
    """
    kind, _, name = expression.partition(":")
    if expression == "key":
        return _record_key
    if kind == "header" and name:
        return lambda record: _header(record, name)
    if kind == "value" and name and all(name.split(".")):
        path = tuple(name.split("."))
        return lambda record: _field(record, path)
    raise BusinessKeyError(f"{expression!r} does not name a part of a record.")


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
