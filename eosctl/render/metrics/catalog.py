"""Render the catalog of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from eosctl.model.known_bug import version_text
from eosctl.model.metric import Metric, MissingMetric
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page


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


def render_metrics(items: Sequence[MetricItem], style: Style = PLAIN) -> str:
    """Render metrics for people, one block each."""
    blocks: list[Block] = []
    for item in items:
        if blocks:
            blocks.append(Line(""))
        blocks += _existing(item) if item.exists else _missing(item)
    return render_page(blocks, style)


def _existing(item: MetricItem) -> list[Block]:
    unit = f", {item.unit}" if item.unit else ""
    blocks: list[Block] = [
        Line(f"{item.name}  ({item.component}, {item.kind}{unit})", "bold"),
        Field("means", item.means),
    ]
    if item.healthy:
        blocks.append(Field("healthy", item.healthy))
    blocks.append(Field("bean", item.bean or ""))
    if "name=" not in (item.bean or ""):
        blocks.append(Field("attribute", item.name))
    blocks += [Field("exporter" if number == 0 else "", name) for number, name in enumerate(item.prometheus)]
    if versions := _versions(item):
        blocks.append(Field("versions", versions))
    return blocks


def _missing(item: MetricItem) -> list[Block]:
    blocks: list[Block] = [
        Line(f"{item.name}  (does not exist)", "bold"),
        Field("instead", item.means),
    ]
    return blocks + [Field("use" if number == 0 else "", name) for number, name in enumerate(item.instead)]


def _versions(item: MetricItem) -> str:
    since = f"since {item.since}" if item.since else ""
    until = f"before {item.until}" if item.until else ""
    return ", ".join(part for part in (since, until) if part)
