"""Generated pages are what the code says now."""

from __future__ import annotations

import jsonschema
import pytest

from eosctl.render.schemas import SHAPES, schema_of
from scripts.generate_reference import differing


def test_pages_schemas_and_catalog_are_up_to_date() -> None:
    assert differing() == [], "run `make docs`, look at these pages, and commit them"


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of(name))
    assert schema_of(name)["title"] == f"eosctl.{name}"
