"""Convert messages between scenario files (Kafka's JSON names) and the wire's classes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.uuid import ZERO_UUID
from scripts.transcript_runner.batches import describe_batches, encode_batches


@cache
def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() if word else "" for word in rest)


@cache
def _fields(message_class: Any) -> dict[str, tuple[str, type | None, Any]]:
    """Return Kafka's name of each field with ours, the class of a nested message, and the default."""
    hints = get_type_hints(message_class)
    return {
        _camel(one.name): (one.name, _nested(hints[one.name]), one.default)
        for one in msgspec.structs.fields(message_class)
    }


def _nested(hint: Any) -> type | None:
    """Return the message class in `X`, `X | None`, `Sequence[X]`, and `Sequence[X] | None`."""
    if hasattr(hint, "__struct_fields__"):
        return hint  # type: ignore[no-any-return]
    for argument in get_args(hint):
        found = _nested(argument)
        if found is not None:
            return found
    return None


def build(message_class: Any, plain: dict[str, Any], now_ms: int) -> Any:
    """Build a message; missing fields keep Kafka's defaults.

    Raises:
        KeyError: The message does not have a field.
    """
    fields = _fields(message_class)
    return message_class(**{fields[key][0]: _value(fields[key], value, now_ms) for key, value in plain.items()})


def _value(field: tuple[str, type | None, Any], value: Any, now_ms: int) -> Any:
    name, nested, default = field
    if value is None:
        return None
    if nested is not None:
        if isinstance(value, list):
            return [build(nested, item, now_ms) for item in value]
        return build(nested, value, now_ms)
    if name == "records":
        return encode_batches(value, now_ms)
    if default == ZERO_UUID:
        return uuid.UUID(value).bytes
    if isinstance(default, bytes):
        return bytes.fromhex(value)
    if isinstance(default, str) or (default is None and not isinstance(value, list | int)):
        return str(value)
    return value


def describe(message: Any) -> Any:
    """Describe a message in Kafka's names; errors by name, batches readable, ids as text."""
    shown: dict[str, Any] = {}
    message_class: Any = type(message)
    for key, (name, _, default) in _fields(message_class).items():
        shown[key] = _shown(name, getattr(message, name), default)
    return shown


def _shown(name: str, value: Any, default: Any) -> Any:
    if name == "records" and isinstance(value, bytes):
        return describe_batches(value)
    if isinstance(value, bytes):
        return str(uuid.UUID(bytes=value)) if default == ZERO_UUID else value.hex()
    if hasattr(value, "__struct_fields__"):
        return describe(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_shown(name, item, default) for item in value]
    if name.endswith("error_code"):
        return ErrorCode(value).name
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
