"""Compare two forms of a JSON Schema: which fields readers of the first no longer find in the second."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def lost_fields(before: str, after: str) -> tuple[str, ...]:
    """Return the fields of one schema that another with the same identity lacks or gives another type.

    Args:
        before: The committed schema, as JSON.
        after: The schema that replaces it, as JSON.

    Returns:
        Paths such as ``items[].name``; none if the identities differ, because the version was raised then.
    """
    old, new = json.loads(before), json.loads(after)
    if old["$id"] != new["$id"]:
        return ()
    return tuple(sorted(set(_fields(old, old, "", ())) - set(_fields(new, new, "", ()))))


def _fields(schema: dict[str, Any], node: dict[str, Any], path: str, seen: tuple[str, ...]) -> Iterator[str]:
    """Walk through a schema and yield each field with its type; definitions that contain themselves once."""
    if reference := node.get("$ref"):
        if reference in seen:
            return
        definition = schema["$defs"][reference.rpartition("/")[2]]
        yield from _fields(schema, definition, path, (*seen, reference))
        return
    if isinstance(kind := node.get("type"), str):
        yield f"{path}: {kind}"
    for variant in node.get("anyOf", ()):
        yield from _fields(schema, variant, path, seen)
    for name, field in node.get("properties", {}).items():
        yield from _fields(schema, field, f"{path}.{name}" if path else name, seen)
    for part, suffix in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(inner := node.get(part), dict):
            yield from _fields(schema, inner, f"{path}{suffix}", seen)
    for number, inner in enumerate(node.get("prefixItems", ())):
        yield from _fields(schema, inner, f"{path}[{number}]", seen)
