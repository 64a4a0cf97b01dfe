"""What a scrape says, metric by metric: the worst value, where it is, and whether it is beyond its limit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from eosctl.collect.prometheus_text import Sample
from eosctl.monitoring.catalogue import load_metrics
from eosctl.monitoring.metric import Metric, MetricKind, exporter_name

COUNTED = frozenset({MetricKind.COUNTER, MetricKind.METER})


@dataclass(frozen=True, slots=True)
class Reading:
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


def read_metrics(samples: Iterable[Sample]) -> tuple[Reading, ...]:
    """Read the metrics of the catalogue that a scrape has under their plain names, in the catalogue's order."""
    wanted = {_key(metric): metric for metric in load_metrics() if metric.kind is not MetricKind.TEXT}
    found: dict[Metric, list[Sample]] = {}
    for sample in samples:
        keys = frozenset(sample.labels) - {"name"}
        metric = wanted.get((sample.name, sample.labels.get("name", ""), keys))
        if metric is not None:
            found.setdefault(metric, []).append(sample)
    return tuple(_reading(metric, found[metric]) for metric in wanted.values() if metric in found)


def _key(metric: Metric) -> tuple[str, str, frozenset[str]]:
    series = exporter_name(metric.domain, metric.bean_type, metric.shown_attribute)
    keys = frozenset(key.replace("-", "_") for key in metric.keys)
    return series, metric.name if metric.is_yammer else "", keys


def _reading(metric: Metric, samples: list[Sample]) -> Reading:
    known = [sample for sample in samples if not math.isnan(sample.value)]
    if not known:
        return Reading(metric, None, (), len(samples), None)
    if metric.kind in COUNTED and metric.above is None and metric.below is None:
        return Reading(metric, math.fsum(sample.value for sample in known), (), len(samples), None)
    pick = max if metric.below is None else min
    worst = pick(known, key=lambda sample: sample.value)
    stands_out = len(known) == 1 or any(sample.value != worst.value for sample in known)
    where = tuple((key, value) for key, value in worst.labels.items() if key != "name") if stands_out else ()
    return Reading(metric, worst.value, where, len(samples), _is_bad(metric, worst.value))


def _is_bad(metric: Metric, value: float) -> bool | None:
    if metric.above is not None:
        return value > metric.above
    return None if metric.below is None else value < metric.below
