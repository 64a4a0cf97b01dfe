"""Coordinator records as JSON, in the form of Kafka's generated JSON converters.

A field is included when the record's version has it. A tagged field is included only when it differs from its default.
Names are Kafka's (`transactionLastUpdateTimestampMs`), bytes are base64, UUIDs are 22 URL-safe characters.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from eosctl.wire.generated.index import RECORDS
from eosctl.wire.schema.layout import Slot, layout_of
from eosctl.wire.schema.table import FOLDER, Field, load_table
from eosctl.wire.uuid import render_uuid

Convert: TypeAlias = "Callable[[Any], Any]"


@cache
def json_converter(topic: str, name: str, version: int) -> Convert:
    """Return a function that converts a decoded key or value to a value for `json.dumps`.

    Args:
        topic: The topic, as the modules of the record classes name it, such as `consumer_offsets`.
        name: The class, such as `OffsetCommitValue`.
        version: The version that determines the fields.

    Raises:
        KeyError: The record or the version is unknown.
    """
    message = RECORDS[f"{topic}.{name}"][1]
    table = load_table(FOLDER / "record" / topic / f"{message.module.rpartition('.')[2]}.msg")
    section = table.section(message.section)
    return _struct(layout_of(section, version).slots, section.fields)


def camel_case(name: str) -> str:
    """Convert a field's name to Kafka's spelling.

    >>> camel_case("transaction_timeout_ms")
    'transactionTimeoutMs'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


#: Tagged fields that Kafka's schema lists after the field they qualify. The wire, and our tables, list them last.
_STANDS_BEHIND: Final = {
    "next_producer_id": "producer_id",
    "previous_producer_id": "producer_id",
    "next_producer_epoch": "producer_epoch",
    "delivery_complete_count": "start_offset",
}


def _in_schema_order(slots: tuple[Slot, ...], fields: tuple[Field, ...]) -> list[Slot]:
    names = [field.name for field in fields]
    for name, before in _STANDS_BEHIND.items():
        if name in names and before in names:
            names.remove(name)
            names.insert(names.index(before) + 1, name)
    return sorted(slots, key=lambda slot: names.index(slot.field.name))


def _struct(slots: tuple[Slot, ...], fields: tuple[Field, ...]) -> Convert:
    parts = [
        (camel_case(slot.field.name), slot.field.name, _value(slot), _omitted_when(slot))
        for slot in _in_schema_order(slots, fields)
    ]

    def convert(value: Any) -> dict[str, Any]:
        found = {}
        for key, name, form, omitted_when in parts:
            content = getattr(value, name)
            if content != omitted_when and not (omitted_when == () and not content):
                found[key] = form(content) if form else content
        return found

    return convert


def _value(slot: Slot) -> Convert | None:
    single = _single(slot)
    if not slot.field.is_array:
        if single is None:
            return None
        return lambda value: None if value is None else single(value)
    if single is None:
        return lambda values: None if values is None else list(values)
    return lambda values: None if values is None else [single(value) for value in values]


def _single(slot: Slot) -> Convert | None:
    if slot.field.is_struct:
        return _struct(slot.slots, slot.field.fields)
    if slot.field.type == "uuid":
        return render_uuid
    if slot.field.type in ("bytes", "records"):
        return lambda value: b64encode(value).decode()
    return None


_ZEROS: Final[dict[str, Any]] = {"bool": False, "string": "", "bytes": b"", "float64": 0.0, "uuid": bytes(16)}
#: Equal to no value: the field is always included.
_NEVER: Final = object()


def _omitted_when(slot: Slot) -> Any:
    field = slot.field
    if field.tag is None or (field.is_struct and not field.is_array):
        return _NEVER
    if field.has_default:
        return field.default
    return () if field.is_array else _ZEROS.get(field.type, 0)
