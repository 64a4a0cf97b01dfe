"""Generated pages are what the code says now."""

from __future__ import annotations

import json

import jsonschema
import pytest

from eosctl.render.schemas import SHAPES, schema_of
from scripts.generate_reference import differing
from scripts.schema_fields import lost_fields


@pytest.mark.quick
def test_pages_schemas_and_catalog_are_up_to_date() -> None:
    assert differing() == [], "run `make docs`, look at these pages, and commit them"


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(name))
    assert schema_of(name)["title"] == f"eosctl.{name}"


def _schema(version: int, **properties: object) -> str:
    definitions = {"Item": {"properties": {"name": {"type": "string"}, "inner": {"$ref": "#/$defs/Item"}}}}
    shape = {"$id": f"urn:eosctl:schema:x:{version}", "$defs": definitions, "properties": properties}
    return json.dumps(shape)


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        ({"items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}, "more": {"type": "number"}}, ()),
        ({"items": {"$ref": "#/$defs/Item"}}, ("items: array", "items[].name: string")),
        ({"items": {"type": "array", "items": {"type": "string"}}}, ("items[].name: string",)),
        ({}, ("items: array", "items[].name: string")),
    ],
)
def test_a_schema_loses_fields_with_its_version_only(after: dict[str, object], lost: tuple[str, ...]) -> None:
    before = _schema(1, items={"type": "array", "items": {"$ref": "#/$defs/Item"}})
    assert lost_fields(before, _schema(1, **after)) == lost
    assert lost_fields(before, _schema(2, **after)) == ()
