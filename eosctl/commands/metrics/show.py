"""``eosctl metrics show``: the metrics of running programs, judged."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit_list
from eosctl.commands.gate import RequireComplete
from eosctl.commands.metrics.reading import ReadingOptions, Urls
from eosctl.commands.options import ResultOptions, duration_option
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.metrics.readings import READING_COLUMNS, value_item
from eosctl.services.read_metrics import read_metrics_once


def show_metrics(
    invocation: Invocation,
    urls: Urls,
    bad: Annotated[bool, typer.Option("--bad", help="Show only metrics beyond their limit.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Metric to show; repeatable.")
    ] = None,
    over: Annotated[
        int | None, duration_option("--over", help="Time between two readings, to compute current rates.")
    ] = None,
    require_complete: RequireComplete = False,
    *,
    reading: ReadingOptions,
    result: ResultOptions,
) -> None:
    """Show the exactly-once metrics of running programs.

    Shows the worst value of each metric and whether it is beyond its limit. Values that combine several beans (endpoint
    "all") come first: rates, ratios, backlogs, lags. Series must have the names that jmx_exporter gives without rules,
    see metrics export jmx-exporter. Exit code 3 when a value is beyond its limit.

    Examples:
        eosctl metrics show http://broker-1:9404/metrics http://broker-2:9404/metrics
        eosctl metrics show jmx://broker-1:9999 --bad
        eosctl metrics show http://prometheus:9090 --over 30s
    """
    request = reading.request(urls)._replace(only=tuple(only or ()), over_ms=over)
    found = perform(read_metrics_once, request, invocation)
    items = tuple(value_item(*one) for one in (found.bad if bad else found.values))
    is_incomplete = require_complete and bool(found.gaps or found.absent)
    emit_list(
        ("metric-readings", "metrics show"),
        items,
        READING_COLUMNS,
        result,
        invocation,
        empty="No value is beyond its limit." if bad else "Nothing.",
        code=ExitCode.INCOMPLETE if is_incomplete else ExitCode.FINDINGS if found.bad else ExitCode.DONE,
    )
