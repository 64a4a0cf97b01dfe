"""``eosctl metrics watch``: the metrics of running programs as they change."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import typer

from eosctl.commands.invocation import Invocation, invocation_of
from eosctl.commands.metrics.reading import (
    CredentialsFile,
    Limits,
    PageTimeout,
    Urls,
    error_of,
    parse_limits,
)
from eosctl.commands.options import Output
from eosctl.commands.watching import KEPT, Count, Interval, check_format, frames, row_count
from eosctl.render.formats import OutputFormat

if TYPE_CHECKING:
    from eosctl.monitoring.watching import MetricMoment

ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 6


def watch_metrics(
    context: typer.Context,
    urls: Urls,
    interval: Interval = "5s",  # type: ignore[assignment]
    count: Count = None,
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
    from eosctl.settings.endpoint_credentials import read_endpoint_credentials

    check_format("metrics watch", output)
    invocation, limits = invocation_of(context), parse_limits(limit or ())
    given = read_endpoint_credentials(credentials)
    evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
    if not evidence.pages and evidence.gaps:
        # A program that goes away later is told in the frame; one that never was there is a mistake.
        raise error_of(evidence.gaps[0])
    looks, seen = Looks(evidence.pages), 1
    moments = [observe_metrics(invocation.now_ms(), looks, evidence.gaps, limits)]
    with frames(output) as show:
        show(_frame(moments, invocation, output))
        while count is None or seen < count:
            time.sleep(interval / 1000)
            evidence = collect_metric_evidence(urls, invocation.now_ms, timeout, given)
            looks, seen = Looks(evidence.pages, looks.now), seen + 1
            moments = [*moments[-KEPT:], observe_metrics(invocation.now_ms(), looks, evidence.gaps, limits)]
            show(_frame(moments, invocation, output))


def _frame(moments: list[MetricMoment], invocation: Invocation, output: OutputFormat) -> str:
    from eosctl.render.metrics.watch import metric_moment_item, render_metric_frame

    if output is OutputFormat.JSON:
        from eosctl.render.machine import render_json_line

        return render_json_line(metric_moment_item(moments[-1]))
    return render_metric_frame(moments, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), invocation.style())
