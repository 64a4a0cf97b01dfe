"""The page of the metrics catalog, with names that do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from eosctl.knowledge.metrics import load_metrics, load_missing
from scripts.book.cells import cell, code


def metrics_page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Catalog of metrics\n\nEach exists in a release of Kafka; `eosctl metrics explain NAME` shows the same.\n"
    for component, metrics in groupby(load_metrics(), key=lambda metric: metric.component):
        yield f"## {component.capitalize()}\n\n| Metric | Means | Healthy | Bean |\n|---|---|---|---|"
        for metric in metrics:
            kind = ", ".join(word for word in (metric.kind.value, metric.unit) if word)
            means, healthy = cell(metric.means), cell(metric.healthy)
            yield f"| `{metric.name}` ({cell(kind)}) | {means} | {healthy} | {code(metric.bean)} |"
        yield ""
    yield "## Quoted, and not there\n\n| Name | How it is | Instead |\n|---|---|---|"
    for missing in load_missing():
        names, instead = ", ".join(map(code, missing.names)), ", ".join(f"`{one.name}`" for one in missing.instead)
        yield f"| {names} | {cell(missing.how)} | {instead} |"
