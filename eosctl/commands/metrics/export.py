"""``eosctl metrics export``: configurations of monitoring programs, ready to be used."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, write_result
from eosctl.commands.options import OutputFile
from eosctl.commands.session import callbacks
from eosctl.model.metric import SeriesNames
from eosctl.render.machine import render_json, render_yaml
from eosctl.services.export_monitoring import Target, export_monitoring


def export_metrics(
    invocation: Invocation,
    target: Annotated[Target, typer.Argument(metavar="TARGET", help="Program to configure.")],
    targets: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="HOST:PORT", help="Exporter to scrape, for otel; repeatable."),
    ] = None,
    faster: Annotated[
        int,
        typer.Option(
            "--faster", min=1, max=60, help="Divisor of the rules' periods, to test alerts with scrapes every second."
        ),
    ] = 1,
    runbook_url: Annotated[
        str | None,
        typer.Option(
            "--runbook-url",
            metavar="URL",
            help="Published page of the alerts, for rules and strimzi; ends in / for a page per alert.",
        ),
    ] = None,
    names: Annotated[
        SeriesNames, typer.Option("--names", help="Exporter configuration whose series rules and grafana read.")
    ] = SeriesNames.EOSCTL,
    output_file: OutputFile = None,
) -> None:
    """Print the configuration of a monitoring program.

    TARGET is rules (Prometheus alerts and recording rules), jmx-exporter (the exporter's configuration for brokers and
    clients), grafana (a dashboard), strimzi (ConfigMap, PodMonitor, and PrometheusRule), or otel (an OpenTelemetry
    collector that scrapes the exporters).

    Rules and grafana read the series of jmx-exporter, or with --names those of Strimzi's example, Confluent's
    jmx-monitoring-stacks, Bitnami's chart, or kminion. What these lack is left out, and named on standard error.

    Examples:
        eosctl metrics export rules --runbook-url https://wiki.example.com/alerts.html --output-file eos-rules.yaml
        eosctl metrics export grafana --names strimzi > dashboard.json
        eosctl metrics export otel --target broker-1:9404 --target broker-2:9404
    """
    with callbacks(invocation.now_ms) as shown:
        documents = export_monitoring(target, render_yaml, targets or (), faster, runbook_url, names, shown)
    if target is Target.GRAFANA:
        write_result("".join(map(render_json, documents)), output_file)
        return
    write_result(f"# eosctl metrics export {target.value}\n" + "---\n".join(map(render_yaml, documents)), output_file)
