"""``eosctl metrics watch``: the metrics of running programs as they change."""

from __future__ import annotations

from typing import Final

from eosctl.commands.invocation import Invocation, write_result
from eosctl.commands.metrics.reading import ReadingOptions, Urls
from eosctl.commands.options import Output
from eosctl.commands.watching import KEPT, Count, Interval, check_format
from eosctl.render.formats import OutputFormat
from eosctl.render.live import frames, row_count
from eosctl.render.metrics.watch import render_metric_look
from eosctl.services import read_metrics
from eosctl.services.callbacks import Callbacks

ROWS_WITHOUT_TERMINAL: Final = 40
HEAD_LINES: Final = 6


def watch_metrics(
    invocation: Invocation,
    urls: Urls,
    interval: Interval = "5s",  # type: ignore[assignment]
    count: Count = None,
    *,
    reading: ReadingOptions,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Watch the metrics of exactly-once: the worst value over all programs, its course, and whether it is bad.

    Rates, ratios and lags are those between the last two looks. On a terminal the table is drawn in place; elsewhere
    each look is printed below the one before. -o json prints one line a look. Ctrl-C ends it.
    """
    check_format("metrics watch", output)
    request = reading.request(urls)
    with frames(output, write_result) as show:
        read_metrics.watch_metrics(
            request,
            interval,
            count,
            KEPT,
            lambda moments: show(
                render_metric_look(moments, row_count(HEAD_LINES, ROWS_WITHOUT_TERMINAL), output, invocation.style())
            ),
            Callbacks(invocation.now_ms),
        )
