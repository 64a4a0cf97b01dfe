"""Render capacity plans as one HTML file that needs no network: styles, charts, and scripts are inside.

With the extra ``report``, the charts are interactive Bokeh charts. Without it, or on request, they are static SVG, and
the file has no scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import groupby
from typing import NamedTuple

from eosctl import __version__
from eosctl.model.capacity_plan import CapacityPlan, GrowthPoint, ResourceUse, Variant
from eosctl.model.capacity_report import CapacityReport
from eosctl.render.capacity.plan import (
    advice_title,
    application_rows,
    cost_rows,
    cost_text,
    eos_text,
    figure_table,
    instance_rows,
    topic_rows,
    variant_table,
    verdicts,
)
from eosctl.render.capacity.ranges import input_rows, range_notes, range_rows
from eosctl.render.capacity.sensitivity import sensitivity_notes, sensitivity_rows
from eosctl.render.capacity.svg_charts import draw_appends, draw_growth, draw_utilisation, draw_variants
from eosctl.render.templating import render_template
from eosctl.text import bytes_text, milliseconds_text, rate_text, time_text


class Tile(NamedTuple):
    """A number at the head of the report."""

    number: str
    label: str


class Charts(NamedTuple):
    """The chart functions; each returns HTML with escaped text, empty without data."""

    script: str
    appends: Callable[[CapacityPlan], str]
    utilisation: Callable[[Sequence[ResourceUse]], str]
    variants: Callable[[Sequence[Variant]], str]
    growth: Callable[[Sequence[GrowthPoint]], str]


def choose_charts(*, static: bool = False) -> Charts:
    """Return Bokeh's charts if it is installed, else the static ones."""
    if not static and find_spec("bokeh") is not None:
        from eosctl.render.bokeh_page import library_script
        from eosctl.render.capacity import bokeh_charts as drawn

        return Charts(
            library_script(), drawn.draw_appends, drawn.draw_utilisation, drawn.draw_variants, drawn.draw_growth
        )
    return Charts("", draw_appends, draw_utilisation, draw_variants, draw_growth)


def render_plan_html(
    items: Sequence[CapacityReport], command: str, generated_at_ms: int, *, static: bool = False
) -> str:
    """Render plans as a report; ``static`` without scripts."""
    from markupsafe import Markup

    charts = choose_charts(static=static)
    # The drawings escape every text in them.
    drawn = {
        "verdicts": verdicts,
        "advice_title": advice_title,
        "input_rows": input_rows,
        "range_rows": range_rows,
        "range_notes": range_notes,
        "eos": eos_text,
        "figure_table": figure_table,
        "tiles": _tiles,
        "topic_rows": topic_rows,
        "application_rows": application_rows,
        "instance_rows": instance_rows,
        "cost_rows": cost_rows,
        "cost_text": cost_text,
        "variant_table": variant_table,
        "breakable": _breakable,
        "sensitivity_notes": sensitivity_notes,
        "sensitivity_rows": sensitivity_rows,
        "appends": lambda plan: Markup(charts.appends(plan)),
        "utilisation": lambda plan: Markup(charts.utilisation(plan.resources)),
        "variant_groups": lambda item: [
            (name, Markup(charts.variants(group)), group)
            for name, found in groupby(item.what_if, key=lambda variant: variant.parameter)
            if (group := tuple(found))
        ],
        "growth": lambda item: Markup(charts.growth(item.growth)),
    }
    return render_template(
        "capacity.html.j2",
        script=Markup(charts.script),
        items=items,
        command=command,
        version=__version__,
        generated_at=time_text(generated_at_ms),
        **drawn,
    )


def _breakable(text: str) -> str:
    """Return text that may break after its dots and underscores, as dotted paths are long."""
    from markupsafe import Markup, escape

    escaped = str(escape(text))
    return Markup(escaped.replace(".", ".<wbr>").replace("_", "_<wbr>"))


def _tiles(item: CapacityReport) -> tuple[Tile, ...]:
    plan = item.plan
    needed = item.ranges.broker_count_needed if item.ranges else plan.broker_count_needed
    tiles = [
        Tile(rate_text(plan.transactions_per_s), "transactions"),
        Tile(rate_text(plan.markers_per_s), "markers"),
        Tile(f"{plan.eos_append_share:.0%}", "of appends are for exactly-once"),
        Tile(milliseconds_text(plan.visible_p99_ms), "visible after (P99)"),
        Tile(bytes_text(plan.resource("disk space").used * plan.broker_count), "on disk, all copies"),
    ]
    advice = item.ranges.advice if item.ranges else plan.advice
    is_needed = plan.fits or any(one.setting == "brokers" for one in advice)
    return (*tiles, Tile(str(needed), "brokers needed")) if needed is not None and is_needed else tuple(tiles)
