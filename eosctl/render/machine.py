"""JSON, YAML and tab-separated text: the same keys in the same order, no colour, no wrapping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec


def render_json(value: Any) -> str:
    """Render a struct, dataclass or tree of them as indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def render_yaml(value: Any) -> str:
    """Render the same as YAML, with the keys of the JSON form."""
    import yaml

    text: str = yaml.safe_dump(
        msgspec.to_builtins(value), sort_keys=False, allow_unicode=True, width=120, default_flow_style=False
    )
    return text


def render_tsv(rows: Iterable[Sequence[str]]) -> str:
    """Render rows as tab-separated text without a header.

    Tabs, line breaks and backslashes inside a cell are written as ``\\t``, ``\\n``, ``\\r`` and ``\\\\``.
    """
    return "".join(map(_line, rows))


def _line(row: Sequence[str]) -> str:
    line = "\t".join(row)
    if "\\" in line or "\n" in line or "\r" in line or line.count("\t") >= len(row):
        line = "\t".join(map(_escape, row))
    return line + "\n"


def _escape(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\")
    return escaped.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
