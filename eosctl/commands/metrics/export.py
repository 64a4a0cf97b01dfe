"""``eosctl metrics export``: configurations of monitoring programs, ready to be used."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import write_result
from eosctl.commands.options import OutputFile
from eosctl.render.machine import render_json, render_yaml
from eosctl.services.export_monitoring import Target, export_monitoring


def export_metrics(
    target: Annotated[
        Target,
        typer.Argument(
            help="rules: alerts and recording rules of Prometheus; jmx-exporter: what the exporter beside brokers and "
            "clients keeps; grafana: a dashboard; strimzi: ConfigMap, PodMonitor and PrometheusRule; otel: an "
            "OpenTelemetry collector that scrapes the exporters."
        ),
    ],
    targets: Annotated[
        list[str] | None, typer.Option("--target", metavar="HOST:PORT", help="otel: an exporter to scrape; repeatable.")
    ] = None,
    faster: Annotated[
        int,
        typer.Option(
            "--faster",
            min=1,
            max=60,
            help="rules: divide holds and windows by this, to try alerts out in a lab with scrapes every second.",
        ),
    ] = 1,
    output_file: OutputFile = None,
) -> None:
    """Write the configuration of a monitoring program: rules, exporter, dashboard, collector."""
    documents = export_monitoring(target, render_yaml, targets or (), faster)
    render = render_json if target is Target.GRAFANA else render_yaml
    write_result("---\n".join(map(render, documents)), output_file)
