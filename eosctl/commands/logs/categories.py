"""``eosctl logs patterns`` and ``logs explain``: the categories of log records."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.options import ResultOptions
from eosctl.render.logs.category import render_categories, render_category
from eosctl.services.log_categories import find_category, log_categories


def list_patterns(invocation: Invocation, result: ResultOptions) -> None:
    """List the categories of log records.

    Examples:
        eosctl logs patterns
        eosctl logs patterns -o tsv
    """
    text = render_categories(log_categories(), invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)


def explain_category(
    invocation: Invocation,
    category: Annotated[str, typer.Argument(metavar="CATEGORY", help="Category, e.g. PRODUCER_FENCED.")],
    result: ResultOptions,
) -> None:
    """Explain a category of log records.

    Shows what the category means, how it is recognized, and what to do next.

    Examples:
        eosctl logs explain PRODUCER_FENCED
    """
    write_result(render_category(find_category(category), result.output, invocation.style()), result.output_file)
