"""``eosctl metrics``: which metrics there are, what they mean, and what to configure so that they warn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.render.metrics.catalogue import MetricItem


COMPONENTS = ("broker", "producer", "consumer", "streams")


def list_metrics(
    context: typer.Context,
    component: Annotated[
        str | None, typer.Option("--component", metavar="|".join(COMPONENTS), help="Only what this program has.")
    ] = None,
    kafka: Annotated[
        str | None, typer.Option("--kafka", metavar="VERSION", help="Only what this release has, e.g. 3.9.2.")
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="The names that are quoted and that no release has, instead.")
    ] = False,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """List the metrics that matter for exactly-once; all of them exist."""
    from eosctl.knowledge.metrics import load_metrics, load_missing
    from eosctl.model.known_bug import parse_version
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.metrics.catalogue import METRIC_COLUMNS, metric_item, missing_item

    if component is not None and component not in COMPONENTS:
        raise UsageError(f"There is no component {component!r}.", "", f"Choose one of {', '.join(COMPONENTS)}.")
    if missing and (component or kafka):
        raise UsageError(
            "--missing goes with neither --component nor --kafka.", "", "What does not exist belongs to none."
        )
    try:
        version = None if kafka is None else parse_version(kafka)
    except ValueError as error:
        raise UsageError(f"{kafka!r} is not a version.", "", "Write it as 3.9.2.") from error
    if missing:
        items = tuple(missing_item(name, one) for one in load_missing() for name in one.names)
    else:
        items = tuple(
            metric_item(metric)
            for metric in load_metrics()
            if component in (None, metric.component) and (version is None or metric.exists_in(version))
        )
    invocation = invocation_of(context)
    result = listing("metrics", "metrics list", invocation.now_ms(), items)
    write_result(render_listing(result, METRIC_COLUMNS, output, invocation.style()), output_file)


def explain_metric(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A bean, an attribute, or a name of Prometheus.")],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Explain a metric: what it tells and which values are good; of a name that no release has, what to use instead."""
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.metrics.catalogue import METRIC_COLUMNS, render_metrics

    invocation = invocation_of(context)
    items = _explained(name)
    if output in FOR_PEOPLE:
        text = render_metrics(items, invocation.style())
    else:
        result = listing("metrics", "metrics explain", invocation.now_ms(), items)
        text = render_listing(result, METRIC_COLUMNS, output, invocation.style())
    write_result(text, output_file)


def _explained(name: str) -> tuple[MetricItem, ...]:
    from eosctl.knowledge.metrics import find_metrics, find_missing, suggest_metrics
    from eosctl.render.metrics.catalogue import metric_item, missing_item

    missing = find_missing(name)
    if missing is not None:
        return (missing_item(name, missing),)
    found = find_metrics(name)
    if not found:
        similar = suggest_metrics(name)
        raise UsageError(
            f"{name!r} is no metric that eosctl knows.",
            f"Did you mean {', '.join(similar)}?" if similar else "",
            "List all: eosctl metrics list",
        )
    return tuple(map(metric_item, found))
