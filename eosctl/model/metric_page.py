"""Metric values of a program at a point in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec


class MetricSample(NamedTuple):
    """A value; `labels` without the metric's name.

    Values from JMX or Jolokia have the names of jmx_exporter without rules (`kafka_cluster_Partition_Value` with
    `name`, `topic`, and `partition` as labels), so that the source does not matter to consumers.
    """

    name: str
    labels: dict[str, str]
    value: float


class MetricPage(msgspec.Struct, frozen=True):
    """The samples of one program.

    Attributes:
        source: Where they were read: an address, behind a Prometheus server the `instance` of the series.
        read_at_ms: When, by the observer's clock.
        samples: What was read.
    """

    source: str
    read_at_ms: int
    samples: tuple[MetricSample, ...]

    def values(self, series: str, **labels: str) -> Iterator[MetricSample]:
        """Yield the samples of a series whose labels include the given ones."""
        for sample in self.samples:
            if sample.name == series and labels.items() <= sample.labels.items():
                yield sample
