"""A single result as a page for people or in the machine formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from eosctl.render.formats import OutputFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml


def render_one(
    view: Any, output: OutputFormat, rows: Callable[[], Iterable[Sequence[str]]], page: Callable[[], str]
) -> str:
    """Render a result.

    Args:
        view: What JSON and YAML show.
        output: The format.
        rows: Returns the rows of tab-separated text.
        page: Returns the text for people.
    """
    match output:
        case OutputFormat.JSON:
            return render_json(view)
        case OutputFormat.YAML:
            return render_yaml(view)
        case OutputFormat.TSV:
            return render_tsv(rows())
        case OutputFormat.TABLE | OutputFormat.WIDE:
            return page()
