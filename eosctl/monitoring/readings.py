"""The metrics of a scrape: the worst value of each, its labels, and whether it exceeds its limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from eosctl.knowledge.metrics import load_metrics
from eosctl.model.metric import Metric, MetricKind, exporter_name
from eosctl.model.metric_page import MetricSample
from eosctl.model.metric_reading import Reading

COUNTED = frozenset({MetricKind.COUNTER, MetricKind.METER})


def read_metrics(
    samples: Iterable[MetricSample], limits: Mapping[str, float] = MappingProxyType({})
) -> tuple[Reading, ...]:
    """Read the catalog's metrics of a program under their plain names, in catalog order.

    Labels that no bean has (`job`, `instance`, `pod`) belong to a Prometheus server and are ignored.

    Args:
        samples: The samples of a program.
        limits: Limits that override the catalog's, by name.
    """
    wanted = {_key(one): _limited(one, limits) for one in load_metrics() if one.kind is not MetricKind.TEXT}
    label_names = frozenset[str]().union(*(metric.label_names for metric in wanted.values()))
    found: dict[Metric, list[MetricSample]] = {}
    for sample in samples:
        metric = wanted.get((sample.name, sample.labels.get("name", ""), label_names.intersection(sample.labels)))
        if metric is not None:
            found.setdefault(metric, []).append(sample)
    return tuple(_reading(metric, found[metric]) for metric in wanted.values() if metric in found)


def _limited(metric: Metric, limits: Mapping[str, float]) -> Metric:
    limit = limits.get(metric.name)
    if limit is None:
        return metric
    return replace(metric, below=limit) if metric.below is not None else replace(metric, above=limit)


def _key(metric: Metric) -> tuple[str, str, frozenset[str]]:
    series = exporter_name(metric.domain, metric.bean_type, metric.shown_attribute)
    return series, metric.name if metric.is_yammer else "", metric.label_names


def _reading(metric: Metric, samples: list[MetricSample]) -> Reading:
    known = [sample for sample in samples if not math.isnan(sample.value)]
    if not known:
        return Reading(metric, None, (), len(samples), None)
    if metric.kind in COUNTED and metric.above is None and metric.below is None:
        return Reading(metric, math.fsum(sample.value for sample in known), (), len(samples), None)
    pick = max if metric.below is None else min
    worst = pick(known, key=lambda sample: sample.value)
    stands_out = len(known) == 1 or any(sample.value != worst.value for sample in known)
    where = tuple((key, worst.labels[key]) for key in sorted(metric.label_names)) if stands_out else ()
    return Reading(metric, worst.value, where, len(samples), _is_bad(metric, worst.value))


def _is_bad(metric: Metric, value: float) -> bool | None:
    if metric.above is not None:
        return value > metric.above
    return None if metric.below is None else value < metric.below
