"""``eosctl metrics watch``: the metrics of running programs as they change."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.invocation import Invocation, invocation_of, write_result
from eosctl.commands.metrics.reading import (
    CredentialsFile,
    Limits,
    PageTimeout,
    Urls,
    error_of,
    parse_limits,
    read_credentials,
)
from eosctl.commands.options import Output, parse_duration_ms
from eosctl.errors import UsageError
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.monitoring.watching import MetricMoment

KEPT: Final = 120
ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 6


def watch_metrics(
    context: typer.Context,
    urls: Urls,
    interval: Annotated[
        int,
        typer.Option("--interval", metavar="DURATION", parser=parse_duration_ms, help="Time between two looks."),
    ] = "5s",  # type: ignore[assignment]
    count: Annotated[
        int | None, typer.Option("--count", min=1, help="End after this many looks; default: until interrupted.")
    ] = None,
    limit: Limits = None,
    credentials: CredentialsFile = None,
    timeout: PageTimeout = "10s",  # type: ignore[assignment]
    output: Output = OutputFormat.TABLE,
) -> None:
    """Watch the metrics of exactly-once: the worst value over all programs, its course, and whether it is bad.

    Rates, ratios and lags are those between the last two looks. On a terminal the table is drawn in place; elsewhere
    each look is printed below the one before. -o json prints one line a look. Ctrl-C ends it.
    """
    from eosctl.monitoring.derived import Looks
    from eosctl.monitoring.evidence import collect_metric_evidence
    from eosctl.monitoring.watching import observe_metrics
    from eosctl.render.transactions.watch import live_screen

    if output not in (OutputFormat.TABLE, OutputFormat.WIDE, OutputFormat.JSON):
        raise UsageError(f"metrics watch has no {output.value} output.", "", "Use -o table or -o json.")
    invocation, limits, given = invocation_of(context), parse_limits(limit or ()), read_credentials(credentials)
    evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
    if not evidence.pages and evidence.gaps:
        # A program that goes away later is told in the frame; one that never was there is a mistake.
        raise error_of(evidence.gaps[0])
    in_place = output is not OutputFormat.JSON and sys.stdout.isatty()
    looks, seen = Looks(evidence.pages), 1
    moments = [observe_metrics(invocation.now_ms(), looks, evidence.gaps, limits)]
    with live_screen() if in_place else nullcontext(write_result) as show:
        show(_frame(moments, invocation, output))
        while count is None or seen < count:
            time.sleep(interval / 1000)
            evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
            looks, seen = Looks(evidence.pages, looks.now), seen + 1
            moments = [*moments[-KEPT:], observe_metrics(invocation.now_ms(), looks, evidence.gaps, limits)]
            show(_frame(moments, invocation, output))
    if in_place:
        write_result(_frame(moments, invocation, output))


def _frame(moments: list[MetricMoment], invocation: Invocation, output: OutputFormat) -> str:
    from eosctl.render.metrics.watch import metric_moment_item, render_metric_frame

    if output is OutputFormat.JSON:
        import msgspec

        return msgspec.json.encode(metric_moment_item(moments[-1])).decode() + "\n"
    rows = max(3, shutil.get_terminal_size().lines - HEAD_LINES) if sys.stdout.isatty() else ROWS_WITHOUT_TERMINAL
    return render_metric_frame(moments, rows, invocation.style())
