"""Render the catalog of metrics."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.known_bug import version_text
from eosctl.model.metric import Metric, MissingMetric
from eosctl.render.listing import Column


class MetricItem(msgspec.Struct, frozen=True):
    """A metric, or a name that no release has: then ``exists`` is False and ``instead`` names what to use."""

    name: str
    exists: bool
    component: str | None = None
    kind: str | None = None
    unit: str | None = None
    bean: str | None = None
    prometheus: tuple[str, ...] = ()
    means: str = ""
    healthy: str = ""
    since: str | None = None
    until: str | None = None
    instead: tuple[str, ...] = ()


METRIC_COLUMNS: Final[tuple[Column[MetricItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("COMPONENT", lambda item: item.component or "-"),
    Column("KIND", lambda item: item.kind or "does not exist"),
    Column("UNIT", lambda item: item.unit or "-", wide=True),
    Column("VERSIONS", lambda item: _versions(item) or "all", wide=True),
    Column("BEAN", lambda item: item.bean or "-", wide=True),
    Column("MEANS", lambda item: item.means),
)


def metric_item(metric: Metric) -> MetricItem:
    """Show a metric."""
    return MetricItem(
        name=metric.name,
        exists=True,
        component=metric.component,
        kind=metric.kind.value,
        unit=metric.unit or None,
        bean=metric.bean,
        prometheus=metric.prometheus,
        means=metric.means,
        healthy=metric.healthy,
        since=None if metric.since is None else version_text(metric.since),
        until=None if metric.until is None else version_text(metric.until),
    )


def missing_item(name: str, missing: MissingMetric) -> MetricItem:
    """Show a name that no release has."""
    instead = tuple(metric.bean if metric.is_yammer else f"{metric.bean} {metric.name}" for metric in missing.instead)
    return MetricItem(name=name, exists=False, means=missing.how, instead=instead)


def _versions(item: MetricItem) -> str:
    since = f"since {item.since}" if item.since else ""
    until = f"before {item.until}" if item.until else ""
    return ", ".join(part for part in (since, until) if part)
