"""JSON, YAML, tab-separated and comma-separated text: the same keys in the same order, no color, no wrapping."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from eosctl.render.escaping import (
    is_formula,
    json_text,
    needs_no_escape,
    tsv_row,
    visible,
    without_commands,
    without_commands_within,
    without_surrogates,
)


def render_json(value: Any) -> str:
    """Render a struct, dataclass or tree of them as indented JSON with a final newline."""
    return json_text(msgspec.json.format(_encode(value), indent=2).decode()) + "\n"


def render_json_line(value: Any) -> str:
    """Render the same as JSON on one line with its line feed."""
    return json_text(_encode(value).decode()) + "\n"


def _encode(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # Names of files are bytes, and need not be UTF-8.
        return msgspec.json.encode(without_surrogates(msgspec.to_builtins(value, str_keys=True)))


def render_yaml(value: Any) -> str:
    """Render the same as YAML, with the keys of the JSON form."""
    import yaml

    from eosctl.render.yaml_dumper import VisibleDumper

    text: str = yaml.dump(
        without_surrogates(msgspec.to_builtins(value)),
        Dumper=VisibleDumper,
        sort_keys=False,
        allow_unicode=True,
        width=120,
        default_flow_style=False,
    )
    # Every scalar with such a command is in double quotes.
    return without_commands_within(text)


def render_tsv(rows: Iterable[Sequence[str]]) -> str:
    """Render rows as tab-separated text without a header.

    Tabs, line breaks and backslashes inside a cell are written as ``\\t``, ``\\n``, ``\\r`` and ``\\\\``, other
    characters that cannot be seen as ``\\x1b`` and ``\\u202e``, and the first sign of a formula as ``\\x3d``.
    """
    held = list(rows)
    text = "".join(["\t".join(row) + "\n" for row in held])
    # Hardly any text has something to escape: all of it is searched in one call.
    tabs = sum(map(len, held)) - len(held)
    if text.count("\n") == len(held) and text.count("\t") == tabs and needs_no_escape(text):
        return without_commands(text)
    return without_commands("".join([tsv_row(row) for row in held]))


def render_csv(rows: Iterable[Sequence[str]]) -> str:
    r"""Render rows as comma-separated text (RFC 4180) without a header, with line feeds between rows.

    Hidden characters, line feeds among them, are written out, as ``\x1b``: a row is one line, and no cell begins one.
    A cell that a spreadsheet would run as a formula begins with an apostrophe.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_csv_cell(cell) for cell in row] for row in rows)
    return without_commands(text.getvalue())


def _csv_cell(cell: str) -> str:
    shown = visible(cell)
    return f"'{shown}" if is_formula(shown) else shown
