"""What pages with charts of Bokeh (extra ``report``) share: its script, the place of a chart, and its axes."""

from __future__ import annotations

from typing import Any, Final

from bokeh.embed import components
from bokeh.resources import Resources

#: Readable on white and on black, as the page follows the reader's preference.
INK: Final = "#7d8590"


def library_script() -> str:
    """Return the script element with Bokeh itself."""
    script: str = Resources(mode="inline", components=["bokeh"]).render_js()
    return script


def embed(chart: Any) -> str:
    """Return the element of a chart with the script that draws it."""
    script, element = components(chart)
    return f"{element}{script}"


def style_frame(chart: Any) -> None:
    """Let the page show through a chart, without a frame, and write its axes in `INK`."""
    chart.background_fill_alpha = chart.border_fill_alpha = 0
    chart.outline_line_color = None
    for axis in (*chart.xaxis, *chart.yaxis):
        axis.major_label_text_color = axis.axis_line_color = axis.major_tick_line_color = INK
        axis.major_label_text_font_size = "12px"
        axis.minor_tick_line_color = None
