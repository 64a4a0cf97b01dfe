"""An entry of a small file, for display."""

from __future__ import annotations

from typing import Any, NamedTuple


class EntryRow(NamedTuple):
    """An entry: its file, its number from 0, and its fields by name."""

    file: str
    entry: int
    fields: dict[str, Any]
