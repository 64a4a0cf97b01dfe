"""``eosctl exporter``: serve Prometheus what no bean of Kafka tells."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.commands.invocation import Invocation, write_result
from eosctl.commands.options import (
    DEFAULT_SECOND_LOOK,
    ClusterOptions,
    SecondLookAfter,
    parse_duration_ms,
    parse_listen,
)
from eosctl.commands.session import callbacks
from eosctl.render.prometheus import render_gauges
from eosctl.services.export_cluster import ExportRequest, measure_once, serve_gauges

_duration = partial(typer.Option, metavar="DURATION", parser=parse_duration_ms)


def exporter(
    invocation: Invocation,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where Prometheus scrapes /metrics.")
    ] = "127.0.0.1:9308",
    interval: Annotated[int, _duration("--interval", help="Pause between two looks.")] = "30s",  # type: ignore[assignment]
    once: Annotated[bool, typer.Option("--once", help="Look once, print the page and end, without listening.")] = False,
    transaction_log: Annotated[
        bool,
        typer.Option(
            "--transaction-log",
            help="Follow __transaction_state as well, and count commits, aborts and timeouts; needs Read on the topic.",
        ),
    ] = False,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    *,
    cluster: ClusterOptions,
) -> None:
    """Serve Prometheus what no bean of Kafka tells: open and hanging transactions, what they pin, unstable offsets.

    It reads the cluster and changes nothing. While the cluster cannot be asked, eosctl_up is 0. Ctrl-C ends it.
    """
    address = parse_listen(listen)
    request = ExportRequest(cluster.connection, address, interval, transaction_log, second_look_after)
    with callbacks(invocation.now_ms) as shown:
        if once:
            write_result(render_gauges(measure_once(request, shown)))
        else:
            serve_gauges(request, render_gauges, shown)
