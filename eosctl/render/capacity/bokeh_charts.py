"""Charts of a capacity plan that answer to the pointer, drawn by Bokeh (extra ``report``); its script is in the page.

`eosctl.render.capacity.svg_charts` draws the same pictures without a script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from bokeh.layouts import row
from bokeh.models import BoxAnnotation, ColumnDataSource, FixedTicker, HoverTool, LabelSet, NumeralTickFormatter, Span
from bokeh.plotting import figure

from eosctl.model.capacity_plan import CapacityPlan, GrowthPoint, ResourceUse, Variant
from eosctl.render.bokeh_page import INK, embed, style_frame
from eosctl.render.capacity.svg_charts import append_parts
from eosctl.text import milliseconds_text, number_text, rate_text

BLUE, ORANGE, VIOLET, GREEN, AMBER, RED = "#3b7dd8", "#c2571a", "#7a5bb5", "#2f8f6b", "#b98512", "#c0304c"
#: Space for the values at the ends of bars, also on a narrow screen.
LABEL_SPACE: Final = 1.7
_TONES: Final = (BLUE, ORANGE, VIOLET, GREEN)


def draw_appends(plan: CapacityPlan) -> str:
    """Draw what all appends consist of."""
    parts = [(part, tone) for part, tone in zip(append_parts(plan), _TONES, strict=True) if part.value > 0]
    total = sum(part.value for part, _ in parts)
    if not total:
        return ""
    names = [part.label for part, _ in parts]
    shares = [part.value / total for part, _ in parts]
    source = ColumnDataSource(
        {
            "name": names,
            "share": shares,
            "tone": [tone for _, tone in parts],
            "text": [f" {rate_text(part.value)}, {share:.0%}" for (part, _), share in zip(parts, shares, strict=True)],
        }
    )
    return embed(_bars(source, names, max(shares), "name", "share", "tone"))


def draw_utilisation(resources: Sequence[ResourceUse]) -> str:
    """Draw each resource's use against what is planned with; beyond the line it no longer fits."""
    known = sorted(
        ((use, use.utilisation) for use in resources if use.utilisation is not None), key=lambda pair: -pair[1]
    )
    if not known:
        return ""
    source = ColumnDataSource(
        {
            "name": [use.name for use, _ in known],
            "share": [share for _, share in known],
            "tone": [RED if share > 1 else AMBER if share > 0.8 else GREEN for _, share in known],
            "text": [f" {share:.1%}" for _, share in known],
            "formula": [use.formula for use, _ in known],
        }
    )
    most = max(1.1, *(share for _, share in known))
    chart = _bars(source, [use.name for use, _ in known], most, "name", "share", "tone", ("formula", "@formula"))
    chart.add_layout(Span(location=1, dimension="height", line_color=INK, line_dash="dashed"))
    chart.add_layout(BoxAnnotation(left=1, fill_color=RED, fill_alpha=0.06))
    chart.title.text = "share of the planned limit"
    chart.title.text_color = INK
    return embed(chart)


def draw_variants(variants: Sequence[Variant]) -> str:
    """Draw what the values of one setting do to appends and to latency, side by side."""
    shown = [variant for variant in variants if not variant.refusal]
    if len(shown) < 2:
        return ""
    panels = [
        _panel(shown, "EOS appends", lambda v: v.eos_appends_per_s, rate_text, ORANGE),
        _panel(shown, "visible after (P99)", lambda v: v.visible_p99_ms, milliseconds_text, BLUE),
    ]
    return embed(row(*panels, sizing_mode="stretch_width"))


def draw_growth(points: Sequence[GrowthPoint]) -> str:
    """Draw each resource's utilisation over time; above the line it no longer fits."""
    names = [name for name, _ in points[0].utilisation] if points else []
    if len(points) < 2 or not names:
        return ""
    series = {name: [dict(point.utilisation).get(name, 0.0) for point in points] for name in names}
    fullest = sorted(series, key=lambda name: -series[name][-1])[:4]
    dates = [point.date for point in points]
    chart = figure(height=300, sizing_mode="stretch_width", toolbar_location=None, tools="")
    for name, tone in zip(fullest, (RED, BLUE, VIOLET, GREEN), strict=False):
        source = ColumnDataSource(
            {
                "date": dates,
                "at": list(range(len(dates))),
                "share": series[name],
                "name": [name] * len(dates),
                "brokers": [str(point.broker_count or "unknown") for point in points],
                "factor": [number_text(point.factor) for point in points],
            }
        )
        chart.line("at", "share", source=source, color=tone, line_width=2.2, legend_label=name)
        chart.scatter("at", "share", source=source, color=tone, size=6)
    details = [("", "@name"), ("date", "@date"), ("use", "@share{0%}"), ("load", "×@factor"), ("brokers", "@brokers")]
    chart.add_tools(HoverTool(tooltips=details))
    chart.add_layout(Span(location=1, dimension="width", line_color=INK, line_dash="dashed"))
    chart.y_range.start = 0
    chart.yaxis.formatter = NumeralTickFormatter(format="0%")
    # More than the first, middle, and last date would overlap on a narrow screen.
    named = (0, len(dates) // 2, len(dates) - 1)
    chart.xaxis.ticker = FixedTicker(ticks=list(named))
    chart.xaxis.major_label_overrides = {at: dates[at] for at in named}
    chart.xgrid.visible = False
    chart.add_layout(chart.legend[0], "below")
    chart.legend.ncols = 2
    chart.legend.background_fill_alpha = 0
    chart.legend.border_line_color = None
    chart.legend.label_text_color = INK
    return embed(_styled(chart))


def _panel(
    variants: Sequence[Variant], title: str, value: Callable[[Variant], float], text: Callable[[float], str], tone: str
) -> Any:
    names = list(dict.fromkeys(variant.value for variant in variants))
    by_name = {variant.value: value(variant) for variant in variants}
    source = ColumnDataSource(
        {
            "name": names,
            "share": [by_name[name] for name in names],
            "tone": [tone] * len(names),
            "text": [f" {text(by_name[name])}" for name in names],
        }
    )
    chart = _bars(source, names, max(by_name.values()), "name", "share", "tone")
    chart.title.text = title
    chart.title.text_color = INK
    return chart


def _bars(
    source: Any, names: Sequence[str], most: float, name: str, share: str, tone: str, *details: tuple[str, str]
) -> Any:
    """Return lying bars, the first on top, with their values at their ends."""
    chart = figure(
        height=60 + 34 * len(names),
        y_range=list(reversed(names)),
        x_range=(0, (most or 1.0) * LABEL_SPACE),
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
    )
    chart.hbar(y=name, right=share, height=0.62, color=tone, source=source)
    chart.add_layout(
        LabelSet(
            x=share, y=name, text="text", source=source, text_baseline="middle", text_color=INK, text_font_size="12px"
        )
    )
    chart.add_tools(HoverTool(tooltips=[("", f"@{name}"), ("", "@text"), *details]))
    chart.xaxis.visible = False
    # Lines would cross the values at the ends of the bars.
    chart.xgrid.visible = chart.ygrid.visible = False
    return _styled(chart)


def _styled(chart: Any) -> Any:
    style_frame(chart)
    chart.ygrid.grid_line_alpha = 0.25
    return chart
