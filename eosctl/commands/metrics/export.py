"""``eosctl metrics export``: configurations of monitoring programs, ready to be used."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from eosctl.commands.invocation import write_result
from eosctl.commands.options import OutputFile
from eosctl.errors import UsageError


class Target(StrEnum):
    """Whose configuration is written."""

    RULES = "rules"
    JMX_EXPORTER = "jmx-exporter"
    GRAFANA = "grafana"
    STRIMZI = "strimzi"
    OTEL = "otel"


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
        list[str] | None,
        typer.Option("--target", metavar="HOST:PORT", help="otel: an exporter to scrape; repeatable."),
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
    if targets and target is not Target.OTEL:
        raise UsageError(
            f"--target does not go with {target.value}.", "Only the collector is told what to scrape.", "Leave it out."
        )
    if faster != 1 and target is not Target.RULES:
        raise UsageError(
            f"--faster does not go with {target.value}.", "Only rules have holds and windows.", "Leave it out."
        )
    if target is Target.OTEL:
        _check(targets or [])
    write_result(_render(target, targets or [], faster), output_file)


def _render(target: Target, targets: list[str], faster: int) -> str:
    from eosctl.monitoring.alerts import rules_document
    from eosctl.monitoring.dashboard import dashboard_document
    from eosctl.monitoring.exports import jmx_exporter_document, otel_document, strimzi_documents
    from eosctl.render.machine import render_json, render_yaml

    match target:
        case Target.RULES:
            return render_yaml(rules_document(faster))
        case Target.JMX_EXPORTER:
            return render_yaml(jmx_exporter_document())
        case Target.GRAFANA:
            return render_json(dashboard_document())
        case Target.STRIMZI:
            documents = strimzi_documents(render_yaml(jmx_exporter_document()))
            return "---\n".join(map(render_yaml, documents))
        case Target.OTEL:
            return render_yaml(otel_document(targets))


def _check(targets: list[str]) -> None:
    if not targets:
        raise UsageError(
            "The collector needs something to scrape.", "", "Add --target HOST:PORT for the exporter of each broker."
        )
    for one in targets:
        if "@" in one:
            raise UsageError(
                "A target has a user name or password in it.",
                "Other users of this machine can read the arguments of a program.",
                "Leave it out, and give the collector basic_auth with a password_file.",
            )
        host, _, port = one.rpartition(":")
        if not host or "/" in host or not port.isdigit() or not 0 < int(port) < 65536:
            raise UsageError(f"{one!r} is no HOST:PORT.", "", "Write e.g. broker-1:9404; Prometheus adds /metrics.")
