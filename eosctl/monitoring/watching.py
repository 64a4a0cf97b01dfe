"""A moment of `metrics watch`: derived values and limited gauges over all programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from eosctl.model.evidence import EvidenceGap
from eosctl.model.metric_reading import Looks, MetricMoment, Reading, Watched
from eosctl.monitoring.derived import derive_values
from eosctl.monitoring.readings import COUNTED, read_metrics

#: Included although no single value of theirs is bad.
ALWAYS: Final = frozenset({"LastStableOffsetLag", "ProducerIdCount"})
NO_LIMITS: Final[Mapping[str, float]] = MappingProxyType({})


def observe_metrics(
    at_ms: int, looks: Looks, gaps: tuple[EvidenceGap, ...] = (), limits: Mapping[str, float] = NO_LIMITS
) -> MetricMoment:
    """Judge a reading: the worst program of each metric, problems first."""
    values = [*_derived(looks, limits), *_read(looks, limits)]
    values.sort(key=lambda one: not one.is_bad)
    return MetricMoment(at_ms, len(looks.now), tuple(values), gaps)


def _derived(looks: Looks, limits: Mapping[str, float]) -> Iterator[Watched]:
    for one in derive_values(looks, limits):
        yield Watched(
            name=one.metric.name,
            bean="",
            unit=one.metric.unit,
            value=one.value,
            where=one.where,
            source="",
            is_bad=one.is_bad,
        )


def _read(looks: Looks, limits: Mapping[str, float]) -> Iterator[Watched]:
    worst: dict[tuple[str, str], tuple[str, Reading]] = {}
    for page in looks.now:
        for reading in read_metrics(page.samples, limits):
            metric = reading.metric
            has_limit = metric.above is not None or metric.below is not None
            if not (has_limit or (metric.name in ALWAYS and metric.kind not in COUNTED)):
                continue
            known = worst.get((metric.bean, metric.name))
            if known is None or _is_worse(reading, known[1]):
                worst[metric.bean, metric.name] = page.source, reading
    for source, reading in worst.values():
        metric = reading.metric
        yield Watched(
            name=metric.name,
            bean=metric.bean,
            unit=metric.unit,
            value=reading.value,
            where=reading.where,
            source=source,
            is_bad=reading.is_bad,
        )


def _is_worse(reading: Reading, known: Reading) -> bool:
    if reading.value is None or known.value is None:
        return known.value is None
    return reading.value < known.value if reading.metric.below is not None else reading.value > known.value
