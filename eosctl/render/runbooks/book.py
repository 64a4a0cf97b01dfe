"""A runbook in each of its formats."""

from __future__ import annotations

from enum import StrEnum

from eosctl.model.runbook import Runbook
from eosctl.render.machine import render_json, render_yaml
from eosctl.render.page import PLAIN, Style, render_page
from eosctl.render.runbooks.graph import render_mermaid, render_page_of
from eosctl.render.runbooks.tree import Costs, show_blocks


class ShowFormat(StrEnum):
    """How ``runbook show`` can draw."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MERMAID = "mermaid"
    HTML = "html"


def render_book(book: Runbook, costs: Costs, output: ShowFormat, style: Style = PLAIN) -> str:
    """Render a runbook in any of its formats; ``costs`` are those of changes, by name."""
    match output:
        case ShowFormat.JSON:
            return render_json(book)
        case ShowFormat.YAML:
            return render_yaml(book)
        case ShowFormat.MERMAID:
            return render_mermaid(book, costs)
        case ShowFormat.HTML:
            return render_page_of(book, costs)
        case ShowFormat.TABLE:
            return render_page(show_blocks(book, costs, style.width), style)
