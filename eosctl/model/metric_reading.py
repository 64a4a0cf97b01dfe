"""What was read of metrics: values of one reading, values derived from several, and gauges to export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from eosctl.model.evidence import EvidenceGap
from eosctl.model.metric import Metric
from eosctl.model.metric_page import MetricPage

Labels = tuple[tuple[str, str], ...]


class Looks(NamedTuple):
    """The current reading, and earlier ones of the same programs; `earlier` may be empty."""

    now: Sequence[MetricPage]
    earlier: Sequence[MetricPage] = ()


class Found(NamedTuple):
    """A value, with the labels of the worst series."""

    value: float
    where: Labels = ()


class DerivedMetric(msgspec.Struct, frozen=True):
    """The definition of a derived value."""

    name: str
    unit: str
    healthy: str
    above: float | None
    compute: Callable[[Looks], Found | None]


class DerivedValue(msgspec.Struct, frozen=True):
    """The current value of a derived metric; `is_bad` is None without a limit."""

    metric: DerivedMetric
    value: float
    where: Labels
    is_bad: bool | None


class Reading(msgspec.Struct, frozen=True):
    """A metric in a scrape.

    Attributes:
        metric: The metric.
        value: The worst of its series, or their sum where it counts; None when all are NaN.
        where: The labels of the worst series; empty of sums, and where all series are equally well.
        series_count: How many series there are.
        is_bad: Whether the value is beyond the metric's limit; None without a limit or a value.
    """

    metric: Metric
    value: float | None
    where: tuple[tuple[str, str], ...]
    series_count: int
    is_bad: bool | None


class Watched(NamedTuple):
    """A value at a moment; `bean` is empty of derived ones, `source` where all programs count together."""

    name: str
    bean: str
    unit: str
    value: float | None
    where: Labels
    source: str
    is_bad: bool | None

    @property
    def key(self) -> tuple[str, str]:
        """Return the key that identifies the metric at different times."""
        return self.bean, self.name


class MetricMoment(NamedTuple):
    """One reading at all programs."""

    at_ms: int
    program_count: int
    values: tuple[Watched, ...]
    gaps: tuple[EvidenceGap, ...]

    def value_of(self, key: tuple[str, str]) -> float | None:
        """Return a metric's value; None if it was not read."""
        return next((one.value for one in self.values if one.key == key), None)


class GaugeSample(NamedTuple):
    """One value with its labels."""

    labels: Labels
    value: float


class Gauge(NamedTuple):
    """A gauge, or a counter, with its help text and samples."""

    name: str
    help: str
    samples: tuple[GaugeSample, ...]
    is_counter: bool = False
