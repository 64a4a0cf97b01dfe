"""``eosctl metrics list``: which metrics there are."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.commands.emit import emit_list
from eosctl.commands.options import ResultOptions
from eosctl.errors import UsageError
from eosctl.render.metrics.catalog import METRIC_COLUMNS, metric_item, missing_item
from eosctl.services.metric_catalog import COMPONENTS, list_metrics, list_missing


def list_all(
    invocation: Invocation,
    component: Annotated[
        str | None, typer.Option("--component", metavar="|".join(COMPONENTS), help="Program whose metrics are listed.")
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option("--kafka-version", metavar="VERSION", help="Release whose metrics are listed, e.g. 3.9.2."),
    ] = None,
    missing: Annotated[bool, typer.Option("--missing", help="List often quoted names that no release has.")] = False,
    *,
    result: ResultOptions,
) -> None:
    """List the metrics that matter for exactly-once.

    Every metric exists in a release of Kafka. With --missing, the often quoted names that no release has are listed
    instead.

    Examples:
        eosctl metrics list
        eosctl metrics list --component broker --kafka-version 3.9.2
        eosctl metrics list --missing
    """
    if missing and (component or kafka):
        raise UsageError(
            "--missing goes with neither --component nor --kafka-version.", "", "What does not exist belongs to none."
        )
    if missing:
        items = tuple(missing_item(*one) for one in list_missing())
    else:
        items = tuple(map(metric_item, list_metrics(component, kafka)))
    emit_list(("metrics", "metrics list"), items, METRIC_COLUMNS, result, invocation)
