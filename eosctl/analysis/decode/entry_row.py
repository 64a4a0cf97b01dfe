"""An entry of a small file, ready to be shown."""

from __future__ import annotations

from typing import Any, NamedTuple


class EntryRow(NamedTuple):
    """An entry: which file, its number from 0, and its fields by name."""

    file: str
    entry: int
    fields: dict[str, Any]
