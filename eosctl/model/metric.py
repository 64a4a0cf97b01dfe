"""A metric of a broker or a Java client, and its names in JMX and Prometheus."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from eosctl.model.known_bug import Version, parse_version

_RESERVED: Final = ("_total", "_created", "_bucket", "_info")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9:_]")
_PLACEHOLDER: Final = re.compile(r"[\w-]+=\{([\w-]+)\}")


class BeanQuery(NamedTuple):
    """A JMX query: a pattern of object names, and the attributes."""

    pattern: str
    attributes: tuple[str, ...]


def exporter_name(domain: str, bean_type: str, attribute: str) -> str:
    """Return jmx_exporter's name (1.x, without rules) of an attribute; keys other than the type become labels.

    Untyped values lose the suffixes that its library reserves, so `task-created-total` ends in `_task`.
    """
    name = safe_name(f"{domain}_{bean_type}_{attribute}")
    while reserved := next((suffix for suffix in _RESERVED if name.endswith(suffix)), ""):
        name = name.removesuffix(reserved)
    return name


def safe_name(text: str) -> str:
    """Return a text in the character set of Prometheus names."""
    return _NO_NAME.sub("_", text)


class MetricKind(StrEnum):
    """The interpretation of a metric's values.

    A meter has a count and rates, a histogram has percentiles, a timer has both; text is not exported to Prometheus.
    """

    GAUGE = "gauge"
    COUNTER = "counter"
    METER = "meter"
    HISTOGRAM = "histogram"
    TIMER = "timer"
    TEXT = "text"


#: The relevant attributes of a Yammer bean, by kind.
_YAMMER: Final = {
    MetricKind.GAUGE: ("Value",),
    MetricKind.METER: ("Count", "OneMinuteRate"),
    MetricKind.HISTOGRAM: ("Mean", "99thPercentile", "Max"),
    MetricKind.TIMER: ("Count", "Mean", "99thPercentile", "Max"),
}


class Metric(msgspec.Struct, frozen=True):
    """One metric.

    Attributes:
        name: The bean's `name=` (Yammer) or the attribute (Kafka's own metrics).
        component: Whose JVM has it: `broker`, `producer`, `consumer` or `streams`.
        domain: The domain of the bean.
        bean_type: The bean's `type=`.
        keys: The bean's further keys, whose values differ (`topic`, `client-id`).
        kind: How to read it.
        unit: Of its values; of what a meter counts.
        means: Its meaning.
        healthy: Which values are good; empty if none is bad.
        since: The first release that has it, None if it is older than the covered releases.
        until: The first release without it.
        above: The limit above which a value is bad at any moment, None without one.
        below: The limit below which it is.
    """

    name: str
    component: str
    domain: str
    bean_type: str
    keys: tuple[str, ...]
    kind: MetricKind
    unit: str
    means: str
    healthy: str
    since: Version | None = None
    until: Version | None = None
    above: float | None = None
    below: float | None = None

    @property
    def is_yammer(self) -> bool:
        """Return whether the bean has only this metric, under `name=`; Kafka's own metrics are attributes."""
        return not self.bean_type.endswith("-metrics")

    @property
    def bean(self) -> str:
        """Return the bean's object name, with placeholders for variable keys."""
        name = (f"name={self.name}",) if self.is_yammer else ()
        return f"{self.domain}:" + ",".join(
            (f"type={self.bean_type}", *name, *(f"{key}={{{key}}}" for key in self.keys))
        )

    @property
    def bean_pattern(self) -> str:
        """Return the JMX pattern of this metric's beans."""
        return _PLACEHOLDER.sub(lambda key: key[0].replace(f"{{{key[1]}}}", "*"), self.bean)

    @property
    def query(self) -> BeanQuery:
        """Return the JMX query of this metric."""
        return BeanQuery(self.bean_pattern, self.attributes)

    @property
    def label_names(self) -> frozenset[str]:
        """Return the labels of its series, without the metric's own name."""
        return frozenset(map(safe_name, self.keys))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the relevant attributes of the bean."""
        return _YAMMER[self.kind] if self.is_yammer else (self.name,)

    @property
    def prometheus(self) -> tuple[str, ...]:
        """Return the series of jmx_exporter without rules, one per attribute; none for text."""
        if self.kind is MetricKind.TEXT:
            return ()
        labels = ([f'name="{self.name}"'] if self.is_yammer else []) + [f'{safe_name(key)}="…"' for key in self.keys]
        inner = f"{{{','.join(labels)}}}" if labels else ""
        return tuple(exporter_name(self.domain, self.bean_type, attribute) + inner for attribute in self.attributes)

    @property
    def shown_attribute(self) -> str:
        """Return the most informative attribute."""
        if not self.is_yammer:
            return self.name
        if self.kind in (MetricKind.HISTOGRAM, MetricKind.TIMER):
            return "99thPercentile"
        return "OneMinuteRate" if self.kind is MetricKind.METER and self.unit == "ratio" else self.attributes[0]

    def exists_in(self, version: Version) -> bool:
        """Return whether a release has this metric."""
        return (self.since is None or self.since <= version) and (self.until is None or version < self.until)


class MissingMetric(msgspec.Struct, frozen=True):
    """Names that are quoted although no release has such a metric."""

    names: tuple[str, ...]
    how: str
    instead: tuple[Metric, ...] = ()


def parse_release(text: str | None) -> Version | None:
    """Parse a release of the catalog."""
    return None if text is None else parse_version(text)


class SeriesNames(StrEnum):
    """The configuration that gave series their names: that of eosctl, or one of another project."""

    EOSCTL = "eosctl"
    STRIMZI = "strimzi"
    CONFLUENT = "confluent"
    BITNAMI = "bitnami"
    KMINION = "kminion"
