"""What was read of metrics: values of one look, values derived from several, and gauges to export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from eosctl.model.evidence import EvidenceGap
from eosctl.model.metric import Metric
from eosctl.model.metric_page import MetricPage

Labels = tuple[tuple[str, str], ...]


class Looks(NamedTuple):
    """What was read now, and what was read earlier of the same programs; ``earlier`` may be empty."""

    now: Sequence[MetricPage]
    earlier: Sequence[MetricPage] = ()


class Found(NamedTuple):
    """A value and the labels that tell where it is worst."""

    value: float
    where: Labels = ()


class DerivedMetric(msgspec.Struct, frozen=True):
    """How to compute a value.

    Attributes:
        name: What it is called in outputs.
        unit: Of the value.
        healthy: Which values are good.
        above: The limit above which it is bad; None without one.
        compute: From looks to the value; None where what it needs is not there.
    """

    name: str
    unit: str
    healthy: str
    above: float | None
    compute: Callable[[Looks], Found | None]


class DerivedValue(msgspec.Struct, frozen=True):
    """A derived metric's value now; ``is_bad`` None where it has no limit."""

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
    """A value at a moment; ``bean`` is empty of derived ones, ``source`` where all programs count together."""

    name: str
    bean: str
    unit: str
    value: float | None
    where: Labels
    source: str
    is_bad: bool | None

    @property
    def key(self) -> tuple[str, str]:
        """What is the same metric at another moment."""
        return self.bean, self.name


class MetricMoment(NamedTuple):
    """One look at all programs."""

    at_ms: int
    program_count: int
    values: tuple[Watched, ...]
    gaps: tuple[EvidenceGap, ...]

    def value_of(self, key: tuple[str, str]) -> float | None:
        """Return a metric's value, None where it was not read."""
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
