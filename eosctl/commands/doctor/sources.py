"""What a diagnosis is made of beside a cluster: logs, metrics of programs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from eosctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from eosctl.checks.declaration import Check
    from eosctl.model.snapshot import ClusterSnapshot

SOURCES = "Evidence beside the cluster"
PAGE_TIMEOUT_MS = 10_000
_source_option = partial(typer.Option, rich_help_panel=SOURCES)
LogPaths = Annotated[
    list[Path] | None,
    _source_option(
        "--logs",
        metavar="PATH",
        help="Logs of brokers and applications, files or folders; repeatable.",
        exists=True,
    ),
]
LogZone = Annotated[
    str | None,
    _source_option(
        "--zone",
        metavar="ZONE",
        help="Zone of stamps in logs that have none, e.g. Europe/Berlin.",
    ),
]
MetricUrls = Annotated[
    list[str] | None,
    _source_option(
        "--metrics",
        "--jmx",
        metavar="URL",
        help="Metrics of a program: http://HOST:PORT/metrics, http://HOST:PORT/jolokia, a Prometheus server or "
        "jmx://HOST:PORT; repeatable.",
    ),
]
MetricCredentials = Annotated[
    Path | None,
    _source_option(
        "--credentials",
        metavar="FILE",
        help="A properties file with username= and password=, or token=, for --metrics.",
        exists=True,
    ),
]


class Sources(NamedTuple):
    """The sources that were named."""

    logs: tuple[Path, ...] = ()
    zone: tzinfo | None = None
    metrics: tuple[str, ...] = ()
    credentials: Path | None = None

    def __bool__(self) -> bool:
        return bool(self.logs or self.metrics)


def sources_of(
    logs: list[Path] | None, zone: str | None, metrics: list[str] | None, credentials: Path | None
) -> Sources:
    """Return the sources that options name; what is wrong with them shows before anything is asked.

    Raises:
        UsageError: A zone or address is none, or an option stands without the one that it belongs to.
    """
    from eosctl.commands.logs.engine import zone_of

    if zone is not None and not logs:
        raise UsageError("--zone was given, and no logs.", "It is that of stamps in logs.", "Name logs: --logs PATH.")
    if credentials is not None and not metrics:
        raise UsageError("--credentials was given, and no --metrics.", "", "Name a program: --metrics URL.")
    if metrics:
        from eosctl.collect.metrics.metric_source import distinct

        distinct(metrics)
    return Sources(tuple(logs or ()), zone_of(zone), tuple(metrics or ()), credentials)


def with_sources(snapshot: ClusterSnapshot, sources: Sources, now_ms: Callable[[], int]) -> tuple[ClusterSnapshot, str]:
    """Add what logs and metrics say to a snapshot.

    Returns:
        The snapshot, and how much of logs was read, in words; empty without logs.
    """
    log_reading = ""
    if sources.logs:
        from eosctl.collect.log_findings import collect_log_findings
        from eosctl.collect.logged_incidents import with_logs
        from eosctl.render.logs.report import catalogued_text
        from eosctl.render.progress import show_progress

        with show_progress() as progress:
            findings = collect_log_findings(sources.logs, sources.zone, progress=progress)
        log_reading = catalogued_text(findings)
        snapshot = with_logs(snapshot, findings)
    if sources.metrics:
        from eosctl.commands.metrics.reading import read_credentials
        from eosctl.monitoring.evidence import collect_metric_evidence, with_metrics

        told = collect_metric_evidence(sources.metrics, now_ms, PAGE_TIMEOUT_MS, read_credentials(sources.credentials))
        snapshot = with_metrics(snapshot, told)
    return snapshot, log_reading


def checks_without_cluster(checks: tuple[Check, ...], snapshot: ClusterSnapshot) -> tuple[Check, ...]:
    """Return the checks that need nothing of a cluster: all the others would only be called skipped."""
    return tuple(check for check in checks if check.needs and check.needs <= snapshot.collected)
