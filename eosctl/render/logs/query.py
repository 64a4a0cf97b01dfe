"""The answer to a query of log tables, with the columns that the query names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

from eosctl.render.listing import Column

Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = Scalar | list[Scalar] | dict[str, Scalar | list[Scalar]]
QueryItem: TypeAlias = dict[str, Value]
"""A row, by the names of its columns."""


def query_items(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[QueryItem, ...]:
    """Return rows by the names of their columns; a name that is there twice gets a number."""
    names = _distinct(columns)
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


def query_columns(columns: Sequence[str]) -> tuple[Column[QueryItem], ...]:
    """Return the columns of a table."""
    return tuple(_column(name) for name in _distinct(columns))


def _column(name: str) -> Column[QueryItem]:
    return Column(name.upper().replace("_", "-"), lambda item: _text(item[name]))


def _distinct(columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for name in columns:
        count = sum(known == name or known.startswith(f"{name}-") for known in names)
        names.append(f"{name}-{count + 1}" if name in names else name)
    return names


def _text(value: Value) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case list() if all(isinstance(part, str) for part in value):
            return ", ".join(map(str, value))
        case _:
            return json.dumps(value, ensure_ascii=False)
