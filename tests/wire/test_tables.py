"""The message tables against independent descriptions of the same messages, and the language they are written in."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import served_versions, versions
from eosctl.wire.schema.layout import Slot, layout_of, layouts
from eosctl.wire.schema.table import FOLDER, Table, TableError, VersionRange, load_table, parse_table

ROOT = Path(__file__).parents[2]
MESSAGES = json.loads((ROOT / "tests/fixtures/protocol/messages.json").read_text())
APIS = {table.name: table for table in (load_table(path) for path in sorted((FOLDER / "api").glob("*.msg")))}
BY_KEY = {table.number: table for table in APIS.values()}


class Shape(NamedTuple):
    """A field of a version, as all descriptions of the protocol contain it."""

    name: str
    type: str
    is_array: bool
    nullable: bool
    tag: int | None
    inner: tuple["Shape", ...]


def to_snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def ours(slots: tuple[Slot, ...]) -> tuple[Shape, ...]:
    shapes = (
        Shape(
            slot.field.name,
            "struct" if slot.field.is_struct else slot.field.type,
            slot.field.is_array,
            slot.nullable or slot.field.type == "records",
            slot.field.tag,
            ours(slot.slots),
        )
        for slot in slots
    )
    return tuple(sorted(shapes, key=lambda shape: -1 if shape.tag is None else shape.tag))


def in_range(text: str, version: int) -> bool:
    if text == "none":
        return False
    first, _, last = text.removesuffix("+").partition("-")
    return int(first) <= version and (text.endswith("+") or version <= int(last or first))


def recorded(rows: list[Any], version: int) -> tuple[Shape, ...]:
    shapes = []
    for name, kind, present, *rest in rows:
        extra = rest[0] if rest else {}
        if not in_range(present, version):
            continue
        shapes.append(
            Shape(
                to_snake(name),
                kind.removeprefix("[]"),
                kind.startswith("[]"),
                in_range(extra.get("nullable", "none"), version) or kind == "records",
                extra.get("tag"),
                recorded(extra.get("fields", []), version),
            )
        )
    return tuple(sorted(shapes, key=lambda shape: -1 if shape.tag is None else shape.tag))


@pytest.mark.parametrize("api", sorted(MESSAGES))
def test_tables_agree_with_the_recorded_schemas(api: str) -> None:
    described = MESSAGES[api]
    table = APIS[api]
    assert table.number == described["key"]
    first, _, last = described["versions"].partition("-")
    for direction in ("request", "response"):
        section = table.section(direction)
        for version in range(int(first), int(last or first) + 1):
            layout = layout_of(section, version)
            assert layout.flexible == in_range(described["flexible"], version)
            assert ours(layout.slots) == recorded(described[direction], version), (direction, version)


def defaults(rows: list[Any]) -> dict[str, Any]:
    return {to_snake(name): (rest[0] if rest else {}).get("default", ...) for name, _, _, *rest in rows}


@pytest.mark.parametrize("api", sorted(MESSAGES))
def test_defaults_agree_with_the_recorded_schemas(api: str) -> None:
    def check(fields: Any, rows: list[Any]) -> None:
        inner = {to_snake(name): rest[0].get("fields", []) for name, _, _, *rest in rows if rest}
        for field in fields:
            expected = defaults(rows).get(field.name, ...)
            if expected is not ... and field.has_default:
                assert field.default == expected, field.name
            elif expected is not ...:
                assert not expected, field.name
            check(field.fields, inner.get(field.name, []))

    for section in APIS[api].sections:
        check(section.fields, MESSAGES[api][section.name])


#: kio names what numbers mean; on the wire they are these.
KIO_TYPES = {
    "error_code": "int16", "timedelta_i32": "int32", "timedelta_i64": "int64", "datetime_i64": "int64",
}  # fmt: skip


def kios(schema: type) -> tuple[Shape, ...]:
    hints = get_type_hints(schema)
    shapes = []
    for field in fields(schema):  # type: ignore[arg-type]
        hint = hints[field.name]
        nullable = type(None) in get_args(hint)
        alternatives = [one for one in get_args(hint) if one is not type(None)] if nullable else [hint]
        is_array = bool(get_args(alternatives[0])) and get_args(alternatives[0])[-1] is ...
        element = get_args(alternatives[0])[0] if is_array else alternatives[0]
        struct = is_dataclass(element)
        kind = "struct" if struct else str(field.metadata["kafka_type"])
        kind = KIO_TYPES.get(kind, kind)
        # kio reads a zero uuid and a time of -1 as None; on the wire numbers cannot be null
        has_length = is_array or struct or kind in ("string", "bytes")
        can_be_null = (nullable and has_length) or kind == "records"
        inner = kios(element) if struct else ()
        shapes.append(Shape(field.name, kind, is_array, can_be_null, field.metadata.get("tag"), inner))
    return tuple(sorted(shapes, key=lambda shape: -1 if shape.tag is None else shape.tag))


KIO = [
    (api_key, version)
    for api_key, name in sorted(api_key_map.items())
    for version in sorted(schema_name_map[name])
    if api_key in BY_KEY
]


def plain(shapes: tuple[Shape, ...]) -> list[tuple[Any, ...]]:
    """Drop names, since kio renames some fields."""
    return [(s.type, s.is_array, s.nullable, s.tag, plain(s.inner)) for s in shapes]


@pytest.mark.parametrize("api_key", sorted({key for key, _ in KIO}))
def test_tables_agree_with_kio(api_key: int) -> None:
    table = BY_KEY[api_key]
    compared = 0
    for version in sorted(version for key, version in KIO if key == api_key):
        if version not in table.section("request").versions:
            continue
        for direction, load in (("request", load_request_schema), ("response", load_response_schema)):
            layout = layout_of(table.section(direction), version)
            schema = load(api_key, version)
            assert schema.__flexible__ == layout.flexible
            assert plain(ours(layout.slots)) == plain(kios(schema)), (direction, version)
            compared += 1
    assert compared


def test_every_api_of_kio_that_we_have_was_compared() -> None:
    assert {key for key, _ in KIO} == set(BY_KEY) & set(api_key_map)
    assert EntityType.request in schema_name_map["end_txn"][5]


def test_versions_of_the_releases() -> None:
    assert served_versions(ApiKey.PRODUCE, "3.9") == range(12)
    assert served_versions(ApiKey.PRODUCE, "4.3") == range(3, 14)
    assert served_versions(ApiKey.INIT_PRODUCER_ID, "4.3") == range(6)  # version 6 is unstable
    assert versions(ApiKey.INIT_PRODUCER_ID) == range(7)
    assert not served_versions(ApiKey.SHARE_GROUP_DESCRIBE, "3.8")
    for table in APIS.values():
        for served in table.served.values():
            assert served.first in table.section("request").versions
            assert served.last in table.section("request").versions


def test_requests_and_responses_have_equal_versions() -> None:
    for table in APIS.values():
        request, response = table.sections
        assert request.versions == response.versions
        assert request.flexible_from == response.flexible_from


def parse(text: str) -> Table:
    return parse_table(text)


def test_language_of_the_tables() -> None:
    table = parse(
        """
api Example 7
kafka 3.9  0-1

request 0-3 flexible 2+
  names     [string]?1+
  state     State        1-2  tag 4
    code    int8              = -1
    reason  string?           = null

response 0-3
"""
    )
    assert (table.kind, table.name, table.number, table.served) == ("api", "Example", 7, {"3.9": VersionRange(0, 1)})
    names, state = table.section("request").fields
    assert (names.is_array, names.nullable, names.versions) == (True, VersionRange(1, 3), VersionRange(0, 3))
    assert (state.is_struct, state.tag, state.versions) == (True, 4, VersionRange(1, 2))
    assert [(field.versions, field.default) for field in state.fields] == [
        (VersionRange(1, 2), -1),
        (VersionRange(1, 2), None),
    ]
    assert [tuple(span) for span, _ in layouts(table.section("request"))] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert [tuple(span) for span, _ in layouts(table.section("response"))] == [(0, 3)]


@pytest.mark.parametrize(
    "field",
    [
        "name",  # no type
        "name string 1+ 2+",  # two ranges
        "name string tag x",
        "name string = what",
        "count int32\n    inner int8",  # a number has no fields
    ],
)
def test_a_wrong_line_is_named(field: str) -> None:
    with pytest.raises(TableError, match="line 3"):
        parse(f"api Example 7\nrequest 0-1\n  {field}\n")
