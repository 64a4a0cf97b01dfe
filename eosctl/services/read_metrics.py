"""Read the metrics of exactly-once from running programs, once or repeatedly, and judge them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.errors import EosctlError
from eosctl.model.evidence import EvidenceGap
from eosctl.model.metric_reading import DerivedValue, Looks, MetricMoment, Reading
from eosctl.monitoring.derived import derive_values
from eosctl.monitoring.evidence import MetricEvidence, collect_metric_evidence
from eosctl.monitoring.readings import read_metrics
from eosctl.monitoring.watching import observe_metrics
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.metric_catalog import known_name, parse_limits, why_absent
from eosctl.services.stopwatch import SYSTEM, Stopwatch
from eosctl.settings.clusters.endpoint_credentials import EndpointCredentials, read_endpoint_credentials

_ORDER: Final = (True, False, None)
"""Bad values first, then good ones, then those without a limit."""


class MetricsRequest(NamedTuple):
    """The programs to read.

    Attributes:
        urls: Their addresses.
        limits: Limits that replace the catalog's: ``NAME=NUMBER``.
        credentials: A properties file with ``username=`` and ``password=``, or ``token=``.
        timeout_ms: The maximum time for one program, in milliseconds.
        only: The metrics to show; all if empty.
        over_ms: The time between two readings, for current rates; None for one reading.
    """

    urls: tuple[str, ...]
    limits: tuple[str, ...] = ()
    credentials: Path | None = None
    timeout_ms: int = 10_000
    only: tuple[str, ...] = ()
    over_ms: int | None = None


class MetricValue(NamedTuple):
    """A value with its program; ``all`` for a value that is derived from all programs."""

    source: str
    value: Reading | DerivedValue


class MetricsRead(NamedTuple):
    """The result of a reading.

    Attributes:
        values: The values, bad ones first.
        gaps: The programs that could not be read.
        absent: The requested metrics that no program has.
    """

    values: tuple[MetricValue, ...]
    gaps: tuple[EvidenceGap, ...]
    absent: tuple[str, ...]

    @property
    def bad(self) -> tuple[MetricValue, ...]:
        """The values beyond their limit."""
        return tuple(one for one in self.values if one.value.is_bad)


class _Reader:
    """Reads the programs of a request."""

    def __init__(self, request: MetricsRequest, callbacks: Callbacks) -> None:
        self._request = request
        self._callbacks = callbacks
        self._credentials: EndpointCredentials = read_endpoint_credentials(request.credentials)

    def read(self) -> MetricEvidence:
        request = self._request
        return collect_metric_evidence(request.urls, self._callbacks.now_ms, request.timeout_ms, self._credentials)

    def read_first(self) -> MetricEvidence:
        """Read; if no program can be read, raise an error, because this is a mistake and not a gap."""
        evidence = self.read()
        if not evidence.pages and evidence.gaps:
            gap = evidence.gaps[0]
            raise EosctlError(gap.detail, "", gap.next_step)
        return evidence


def read_metrics_once(
    request: MetricsRequest, callbacks: Callbacks = SILENT, stopwatch: Stopwatch = SYSTEM
) -> MetricsRead:
    """Read the metrics of programs, and judge each by its limit.

    Args:
        request: The programs.
        callbacks: Called with warnings.
        stopwatch: Waits between two readings.

    Raises:
        UsageError: An address, a metric, or a limit is invalid.
        EosctlError: No program can be read.
    """
    limits, names = parse_limits(request.limits), tuple(map(known_name, request.only))
    reader = _Reader(request, callbacks)
    evidence = reader.read_first()
    looks = Looks(evidence.pages)
    if request.over_ms is not None and evidence.pages:
        stopwatch.pause_s(request.over_ms / 1000)
        evidence = reader.read()
        if not evidence.pages and evidence.gaps:
            raise EosctlError(evidence.gaps[0].detail, "", evidence.gaps[0].next_step)
        looks = Looks(evidence.pages, looks.now)
    values = [one for one in _values(looks, limits) if not names or one.value.metric.name in names]
    absent = tuple(sorted(set(names) - {one.value.metric.name for one in values}))
    for gap in evidence.gaps:
        callbacks.remark(f"warning: {gap.detail} {gap.next_step}")
    for name in absent:
        callbacks.remark(f"warning: {name} is in none of these programs. {why_absent(name)}")
    ordered = sorted(values, key=lambda one: _ORDER.index(one.value.is_bad))
    return MetricsRead(tuple(ordered), evidence.gaps, absent)


def watch_metrics(
    request: MetricsRequest,
    interval_ms: int,
    count: int | None,
    kept: int,
    show: Callable[[list[MetricMoment]], None],
    callbacks: Callbacks = SILENT,
    stopwatch: Stopwatch = SYSTEM,
) -> None:
    """Read the metrics of programs repeatedly.

    Args:
        request: The programs.
        interval_ms: The pause between two readings, in milliseconds.
        count: The number of readings; None for no end.
        kept: The number of earlier readings that are shown with the newest one.
        show: Called after each reading with the kept readings, the newest one last.
        callbacks: Only the clock is called.
        stopwatch: Waits between readings.

    Raises:
        UsageError: An address or a limit is invalid.
        EosctlError: No program could be read at the first reading; later, this is a gap.
    """
    limits = parse_limits(request.limits)
    reader = _Reader(request, callbacks)
    evidence = reader.read_first()
    looks, seen = Looks(evidence.pages), 1
    moments = [observe_metrics(callbacks.now_ms(), looks, evidence.gaps, limits)]
    show(moments)
    while count is None or seen < count:
        stopwatch.pause_s(interval_ms / 1000)
        evidence = reader.read()
        looks, seen = Looks(evidence.pages, looks.now), seen + 1
        moments = [*moments[-kept:], observe_metrics(callbacks.now_ms(), looks, evidence.gaps, limits)]
        show(moments)


def _values(looks: Looks, limits: Mapping[str, float]) -> list[MetricValue]:
    derived = [MetricValue("all", value) for value in derive_values(looks, limits)]
    read = [MetricValue(page.source, one) for page in looks.now for one in read_metrics(page.samples, limits)]
    return [*derived, *read]
