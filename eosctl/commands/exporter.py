"""``eosctl exporter``: serve Prometheus metrics that no bean of Kafka has."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.incomplete import end_reading
from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.option_groups import options
from eosctl.command_line.values import parse_listen
from eosctl.commands.options import DEFAULT_SECOND_LOOK, ClusterOptions, SecondLookAfter, duration_option
from eosctl.commands.session import callbacks
from eosctl.render.prometheus import render_gauges
from eosctl.services.export_cluster import ExportRequest, measure_once, serve_gauges

ExportOptions = Annotated[
    ExportRequest,
    options(
        interval_ms=duration_option("--interval", help="Time between two readings."),
        follows_transaction_log=typer.Option(
            "--transaction-log",
            help="Count commits, aborts, and timeouts in __transaction_state as well; needs Read on the topic.",
        ),
        tls_certificate=typer.Option("--tls-cert", metavar="FILE", help="Certificate chain in PEM, to serve HTTPS."),
        tls_key=typer.Option("--tls-key", metavar="FILE", help="Private key of the certificate in PEM."),
        credentials=typer.Option(
            "--credentials", metavar="FILE", help="Properties file with username and password for readers."
        ),
    ),
]


def exporter(
    invocation: Invocation,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Address to serve /metrics on.")
    ] = "127.0.0.1:9308",
    once: Annotated[bool, typer.Option("--once", help="Print the metrics once and exit; 4 if one is missing.")] = False,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    *,
    request: ExportOptions,
    cluster: ClusterOptions,
) -> None:
    """Serve exactly-once metrics to Prometheus.

    Serves values that Kafka's beans do not have: open and hanging transactions, the offsets that they block, and
    unstable offset commits. Only read requests are sent. While the cluster cannot be read, eosctl_up is 0. Press Ctrl-C
    to stop.

    With --credentials, or EOSCTL_EXPORTER_USERNAME and EOSCTL_EXPORTER_PASSWORD, readers need a password. /healthz
    needs none. With eosctl[exporter], clients that ask for OpenMetrics receive it, and pages are compressed.

    Examples:
        eosctl exporter -b kafka-1:9092 --listen 0.0.0.0:9308 --transaction-log
        eosctl exporter -b kafka-1:9092 --once
        eosctl exporter -b kafka-1:9092 --tls-cert exporter.crt --tls-key exporter.key --credentials readers.properties
    """
    connection, address = cluster.connection, parse_listen(listen)
    request = request._replace(connection=connection, listen=address, second_look_after_ms=second_look_after)
    with callbacks(invocation.now_ms) as shown:
        if once:
            measured = measure_once(request, shown._replace(spent_ms=invocation.spent_ms))
            write_result(render_gauges(measured.gauges))
            end_reading(measured.gaps)
        serve_gauges(request, render_gauges, shown)
