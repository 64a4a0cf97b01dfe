"""``eosctl exporter``: serve Prometheus metrics that no bean of Kafka has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.command_line.values import parse_listen
from eosctl.commands.options import DEFAULT_SECOND_LOOK, ClusterOptions, SecondLookAfter, duration_option
from eosctl.commands.session import callbacks
from eosctl.render.prometheus import render_gauges
from eosctl.services.export_cluster import ExportRequest, measure_once, serve_gauges


def exporter(
    invocation: Invocation,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Address to serve /metrics on.")
    ] = "127.0.0.1:9308",
    interval: Annotated[int, duration_option("--interval", help="Time between two readings.")] = 30_000,
    once: Annotated[bool, typer.Option("--once", help="Print the metrics once and exit, without listening.")] = False,
    transaction_log: Annotated[
        bool,
        typer.Option(
            "--transaction-log",
            help="Count commits, aborts, and timeouts in __transaction_state as well; needs Read on the topic.",
        ),
    ] = False,
    tls_cert: Annotated[
        Path | None,
        typer.Option("--tls-cert", metavar="FILE", help="Certificate chain in PEM, to serve HTTPS."),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Private key of the certificate in PEM.")
    ] = None,
    credentials: Annotated[
        Path | None,
        typer.Option("--credentials", metavar="FILE", help="Properties file with username and password for readers."),
    ] = None,
    second_look_after: SecondLookAfter = DEFAULT_SECOND_LOOK,
    *,
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
    address = parse_listen(listen)
    request = ExportRequest(
        connection=cluster.connection,
        listen=address,
        interval_ms=interval,
        follows_transaction_log=transaction_log,
        second_look_after_ms=second_look_after,
        tls_certificate=tls_cert,
        tls_key=tls_key,
        credentials=credentials,
    )
    with callbacks(invocation.now_ms) as shown:
        if once:
            write_result(render_gauges(measure_once(request, shown)))
        else:
            serve_gauges(request, render_gauges, shown)
