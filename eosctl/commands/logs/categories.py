"""``eosctl logs patterns``: the categories of log records."""

from __future__ import annotations

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.options import ResultOptions
from eosctl.render.logs.category import render_categories
from eosctl.services.log_categories import log_categories


def list_patterns(invocation: Invocation, result: ResultOptions) -> None:
    """List the categories of log records.

    Examples:
        eosctl logs patterns
        eosctl logs patterns -o tsv
    """
    text = render_categories(log_categories(), invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)
