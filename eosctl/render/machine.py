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
    held = list(rows)
    text = "".join(["\t".join(row) + "\n" for row in held])
    # Hardly any text has something to escape: all of it is looked at once.
    tabs = sum(map(len, held)) - len(held)
    if "\\" not in text and "\r" not in text and text.count("\n") == len(held) and text.count("\t") == tabs:
        return text
    return "".join(["\t".join(map(_escape, row)) + "\n" for row in held])


def _escape(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\")
    return escaped.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
