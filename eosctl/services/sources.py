"""Evidence in addition to the cluster's own: logs, and metrics of programs."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from eosctl.errors import UsageError
from eosctl.findings.log_reading import cataloged_text
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import Callbacks
from eosctl.services.log_format import find_zone
from eosctl.services.log_places import existing
from eosctl.settings.clusters.endpoint_credentials import read_endpoint_credentials

PAGE_TIMEOUT_MS: Final = 10_000


class Sources(msgspec.Struct, frozen=True):
    """Logs and metrics to read.

    Attributes:
        logs: Log files of brokers and applications, and folders of them.
        zone: The zone of time stamps that have none, e.g. ``Europe/Berlin``; None for UTC, marked as assumed.
        metrics: Addresses of programs: ``http://HOST:PORT/metrics``, ``http://HOST:PORT/jolokia``, a Prometheus server,
            or ``jmx://HOST:PORT``.
        credentials: A properties file with ``username=`` and ``password=``, or ``token=``, for the metrics.
    """

    logs: tuple[Path, ...] = ()
    zone: str | None = None
    metrics: tuple[str, ...] = ()
    credentials: Path | None = None

    @property
    def are_given(self) -> bool:
        """Whether there is anything to read."""
        return bool(self.logs or self.metrics)


class SourcesRead(NamedTuple):
    """A snapshot with what the sources say, and how much of the logs was read, in words; empty without logs."""

    snapshot: ClusterSnapshot
    log_reading: str = ""


def check_sources(sources: Sources) -> None:
    """Refuse sources that cannot be read, before anything is collected.

    Raises:
        UsageError: A zone or an address is invalid, or an option stands without the one that it belongs to.
    """
    if sources.zone is not None and not sources.logs:
        raise UsageError("--zone was given, and no logs.", "It is that of stamps in logs.", "Name logs: --logs PATH.")
    if sources.credentials is not None and not sources.metrics:
        raise UsageError("--credentials was given, and no --metrics.", "", "Name a program: --metrics URL.")
    if sources.metrics:
        from eosctl.collect.metrics.metric_source import distinct

        distinct(sources.metrics)
    find_zone(sources.zone)
    existing(sources.logs)


def read_sources(snapshot: ClusterSnapshot, sources: Sources, callbacks: Callbacks) -> SourcesRead:
    """Add what logs and metrics say to a snapshot.

    Raises:
        EosctlError: The sources cannot be read; a program that does not answer is a gap in the snapshot instead.
    """
    log_reading = ""
    # The detectors of logs and the clients of metrics take longer to load than a file of settings takes to judge.
    if sources.logs:
        from eosctl.collect.logged_incidents import with_logs
        from eosctl.services.log_findings import collect_log_findings

        findings = collect_log_findings(existing(sources.logs), find_zone(sources.zone), progress=callbacks.progress)
        log_reading = cataloged_text(findings)
        snapshot = with_logs(snapshot, findings)
    if sources.metrics:
        from eosctl.monitoring.evidence import collect_metric_evidence, with_metrics

        credentials = read_endpoint_credentials(sources.credentials)
        metrics = collect_metric_evidence(sources.metrics, callbacks.now_ms, PAGE_TIMEOUT_MS, credentials)
        snapshot = with_metrics(snapshot, metrics)
    return SourcesRead(snapshot, log_reading)
