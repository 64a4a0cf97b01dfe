"""Metrics as evidence: `collect_metric_evidence` reads programs, `with_metrics` adds the result to a snapshot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.collect.metrics.metric_source import MetricSource, SourceKind, WantedMetrics, distinct, read_pages
from eosctl.errors import AuthenticationFailed, EosctlError, UsageError
from eosctl.knowledge.metrics import load_metrics
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.metric import MetricKind
from eosctl.model.metric_page import MetricPage
from eosctl.model.redaction import redact_text
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.monitoring.cluster_gauges import ENDED, HELP
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS, EndpointCredentials

MAX_CONCURRENT: Final = 8


class MetricEvidence(NamedTuple):
    """Metrics of programs, and those that could not be read."""

    pages: tuple[MetricPage, ...]
    gaps: tuple[EvidenceGap, ...]


@cache
def wanted_metrics(extra_series: tuple[str, ...] = ()) -> WantedMetrics:
    """Return the beans and series of all numeric metrics in the catalog.

    Args:
        extra_series: Additional series to query from a Prometheus server.
    """
    numbers = [metric for metric in load_metrics() if metric.kind is not MetricKind.TEXT]
    series = {name.partition("{")[0]: None for metric in numbers for name in metric.prometheus}
    return WantedMetrics(tuple(dict.fromkeys(metric.query for metric in numbers)), (*series, *extra_series))


def collect_metric_evidence(
    urls: Sequence[str],
    now_ms: Callable[[], int],
    timeout_ms: int,
    credentials: EndpointCredentials = NO_CREDENTIALS,
) -> MetricEvidence:
    """Read the exactly-once metrics of several programs concurrently; a failure is a gap.

    Args:
        urls: Addresses of `eosctl.collect.metrics.metric_source`; duplicates are read once.
        now_ms: The clock.
        timeout_ms: Maximum time for a program.
        credentials: Credentials for all of them.

    Raises:
        UsageError: An address is invalid, or a package is missing.
    """
    sources, wanted = distinct(urls), wanted_metrics((*HELP, ENDED))

    def read(source: MetricSource) -> MetricEvidence:
        try:
            found = read_pages(source, wanted, now_ms, timeout_ms, credentials)
        except UsageError:
            raise
        except EosctlError as error:
            return MetricEvidence((), (_gap(source, error),))
        pages = tuple(kept for page in found if (kept := _only(page, wanted)).samples)
        return MetricEvidence(pages, () if pages else (_nothing(source),))

    with ThreadPoolExecutor(min(MAX_CONCURRENT, max(1, len(sources)))) as pool:
        parts = list(pool.map(read, sources))
    return MetricEvidence(
        tuple(page for part in parts for page in part.pages), tuple(gap for part in parts for gap in part.gaps)
    )


def with_metrics(snapshot: ClusterSnapshot, evidence: MetricEvidence) -> ClusterSnapshot:
    """Return a snapshot with the pages and gaps; values without a measurement (NaN) are omitted."""
    pages = tuple(
        replace(page, samples=tuple(one for one in page.samples if math.isfinite(one.value))) for page in evidence.pages
    )
    return replace(
        snapshot,
        metric_pages=(*snapshot.metric_pages, *pages),
        collected=snapshot.collected | {EvidenceKind.METRICS},
        gaps=(*snapshot.gaps, *evidence.gaps),
    )


def _only(page: MetricPage, wanted: WantedMetrics) -> MetricPage:
    series = frozenset(wanted.series)
    return replace(page, samples=tuple(one for one in page.samples if one.name in series))


def _gap(source: MetricSource, error: EosctlError) -> EvidenceGap:
    refused = isinstance(error, AuthenticationFailed)
    return EvidenceGap(
        EvidenceKind.METRICS,
        source.shown,
        GapReason.NOT_AUTHORIZED if refused else GapReason.UNREACHABLE,
        detail=redact_text(f"{error.what} {error.why}".rstrip()),
        next_step=error.next_step,
    )


def _nothing(source: MetricSource) -> EvidenceGap:
    how = {
        SourceKind.SERVER: "It scrapes no program of Kafka, or the exporters' rules rename or drop the beans.",
        SourceKind.PAGE: "It is another program's page, or the exporter's rules rename or drop the beans.",
    }.get(source.kind, "It is another program, or one that does nothing yet.")
    return EvidenceGap(
        EvidenceKind.METRICS,
        source.shown,
        GapReason.UNSUPPORTED,
        detail=f"{source.shown} has none of the metrics of exactly-once under their plain names. {how}",
        next_step="Give the exporter the configuration of: eosctl metrics export jmx-exporter",
    )
