"""``eosctl verify canary``: a tiny workload that never ends, with its numbers for Prometheus."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_listen
from eosctl.commands.options import ConnectionOptions, duration_option
from eosctl.commands.session import callbacks
from eosctl.render.page import render_page
from eosctl.render.prometheus import render_gauges
from eosctl.render.verify.canary import canary_blocks
from eosctl.services.run_canary import CanaryRequest, run_canary
from eosctl.services.verification_items import canary_item

LIMITS: Final = "Limits"
_limits = partial(typer.Option, rich_help_panel=LIMITS)


CanaryOptions = Annotated[
    CanaryRequest,
    options(
        connection=ConnectionOptions,
        duration_ms=duration_option("--duration", help="Time to run; unlimited by default."),
        topic=typer.Option("--topic", help="Topic of the canary: eosctl-canary, or a name with that prefix."),
        rate_per_s=_limits("--rate", help="Transactions per second, at most 10."),
        record_bytes=_limits("--record-bytes", help="Size of a value in bytes, at most 10,000."),
        partition_count=_limits("--partitions", help="Partitions of a new topic, at most 12."),
        round_size=_limits("--round", min=1, max=1_000, help="Transactions between two checks."),
    ),
]


def verify_canary(
    invocation: Invocation,
    request: CanaryOptions,
    listen: Annotated[
        str | None, typer.Option("--listen", metavar="HOST:PORT", help="Address to serve /metrics on.")
    ] = None,
) -> None:
    """Check a cluster continuously with small transactions.

    Writes, reads, and checks a few transactions until Ctrl-C, and stops with exit code 3 at the first anomaly. The
    canary has its own topic, created with a retention of one hour and kept afterwards.

    Examples:
        eosctl verify canary -b kafka-1:9092
        eosctl verify canary -b kafka-1:9092 --listen 127.0.0.1:9309 --duration 1h
    """
    request = request._replace(listen=parse_listen(listen) if listen is not None else None)
    with callbacks(invocation.now_ms) as shown:
        ended = run_canary(request, render_gauges, shown)
    blocks = canary_blocks(canary_item(ended.verdict.value, ended.numbers, ended.anomalies))
    write_result(render_page(blocks, invocation.style()))
    raise typer.Exit(ended.exit_code)
