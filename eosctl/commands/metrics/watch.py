"""``eosctl metrics watch``: the metrics of running programs as they change."""

from __future__ import annotations

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.metrics.reading import ReadingOptions, Urls
from eosctl.commands.options import KEPT, Count, Interval, Output, check_format
from eosctl.render.formats import OutputFormat
from eosctl.render.live import frames
from eosctl.render.metrics.watch import render_metric_look
from eosctl.services import read_metrics
from eosctl.services.callbacks import Callbacks


def watch_metrics(
    invocation: Invocation,
    urls: Urls,
    interval: Interval = 5_000,
    count: Count = None,
    *,
    reading: ReadingOptions,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Watch the exactly-once metrics of running programs.

    Shows the worst value over all programs, its trend, and whether it is beyond its limit. Rates, ratios, and lags are
    measured between the last two readings. On a terminal, the table is redrawn in place; elsewhere, each reading is
    printed below the previous one. With -o json, each reading is one line. Press Ctrl-C to stop.

    Examples:
        eosctl metrics watch http://broker-1:9404/metrics
        eosctl metrics watch jmx://broker-1:9999 --interval 10s --count 6
    """
    check_format("metrics watch", output)
    request = reading.request(urls)
    with frames(output, write_result) as show:
        read_metrics.watch_metrics(
            request,
            interval,
            count,
            KEPT,
            lambda moments: show(render_metric_look(moments, output, invocation.style())),
            Callbacks(invocation.now_ms),
        )
