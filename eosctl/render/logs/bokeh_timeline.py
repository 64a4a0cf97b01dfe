"""Draw the interactive timeline of an incident report with Bokeh (``report``): zoom, pan, and select a range.

`eosctl.render.logs.picture` draws the same without a script, for print and without Bokeh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, DatetimeTickFormatter, HoverTool, NoOverlap, RangeTool
from bokeh.plotting import figure

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, is_problem
from eosctl.model.log_totals import Activity, Moment
from eosctl.render.bokeh_page import INK, embed, style_frame
from eosctl.text import time_text

MAX_POINTS: Final = 1_500
"""Above this number, events are thinned out evenly to keep the page small."""
SHOWN_CHARS: Final = 140
TONES: Final = {"critical": "#c0304c", "error": "#c0304c", "warning": "#b98512", "info": "#2f8f6b"}
LEVEL_TONES: Final = {"ERROR": "#c0304c", "FATAL": "#c0304c", "WARN": "#b98512"}
OTHER_TONE: Final = "#3b7dd8"


def draw_timeline(activity: Activity, events: Sequence[LogEvent], incidents: Sequence[Incident]) -> str:
    """Draw the incidents and a lane for each broker and application, with an overview below for the selection.

    Args:
        activity: The problems over time.
        events: The events that show their text.
        incidents: The incidents.

    Returns:
        HTML with escaped text.
    """
    loud = [event for event in events if event.time_ms is not None and is_problem(event)]
    lanes = activity.lanes
    kept = [event for event in loud if event.application in set(lanes)]
    kept = kept[:: -(-len(kept) // MAX_POINTS) or 1]
    start = min([activity.first_ms, *(one.t_start_ms for one in incidents)])
    end = max([activity.last_ms + 1, *(one.t_end_ms for one in incidents)])
    margin = max(500, (end - start) // 50)
    names = [_incident_name(number, one) for number, one in enumerate(incidents, start=1)]
    chart = figure(
        height=70 + 26 * (len(lanes) + len(names)),
        y_range=[*reversed(lanes), *reversed(names)],
        x_range=(start - margin, end + margin),
        x_axis_type="datetime",
        sizing_mode="stretch_width",
        tools="xpan,xwheel_zoom,xbox_zoom,reset",
        active_drag="xpan",
        toolbar_location="above",
    )
    chart.toolbar.logo = None
    points = ColumnDataSource(_points(kept))
    marks = chart.scatter("time", "lane", source=points, marker="square", size=8, color="tone", alpha=0.55)
    bars = chart.hbar(
        y="name",
        left="start",
        right="stop",
        height=0.6,
        color="tone",
        source=_bars(names, incidents, (end - start) / 300),
    )
    shown = [("", "@when"), ("", "@level @category"), ("", "@text"), ("", "@place")]
    chart.add_tools(
        HoverTool(renderers=[marks], tooltips=shown, limit=4),
        HoverTool(renderers=[bars], tooltips=[("", "@text"), ("", "@when")]),
    )
    return embed(column(_styled(chart), _overview(chart, activity.moments, start, end), sizing_mode="stretch_width"))


def _points(events: Sequence[LogEvent]) -> dict[str, list[Any]]:
    return {
        "time": [event.time_ms for event in events],
        "lane": [event.application for event in events],
        "tone": [LEVEL_TONES.get(event.level, OTHER_TONE) for event in events],
        "when": [time_text(event.time_ms or 0) for event in events],
        "level": [event.level for event in events],
        "category": [event.category for event in events],
        "text": [event.message[:SHOWN_CHARS] for event in events],
        "place": [f"{event.file}:{event.offset}" for event in events],
    }


def _bars(names: Sequence[str], incidents: Sequence[Incident], least_ms: float) -> Any:
    return ColumnDataSource(
        {
            "name": list(names),
            "start": [one.t_start_ms for one in incidents],
            "stop": [max(one.t_end_ms, one.t_start_ms + least_ms) for one in incidents],
            "tone": [TONES[one.severity.value] for one in incidents],
            "text": [f"{one.kind}: {one.root_cause}" for one in incidents],
            "when": [f"{time_text(one.t_start_ms)} to {time_text(one.t_end_ms)}" for one in incidents],
        }
    )


def _overview(chart: Any, moments: Sequence[Moment], start: int, end: int) -> Any:
    """Draw the number of records over the whole time; a frame selects the range of the chart."""
    bin_count = 200
    width = max(1.0, (end - start) / bin_count)
    counts = [0] * bin_count
    for one in moments:
        counts[min(bin_count - 1, int((one.time_ms - start) / width))] += one.problem_count
    overview = figure(
        height=84,
        x_range=(start - width, end + width),
        x_axis_type="datetime",
        sizing_mode="stretch_width",
        tools="",
        toolbar_location=None,
    )
    overview.quad(
        left=[start + number * width for number in range(bin_count)],
        right=[start + (number + 1) * width for number in range(bin_count)],
        top=counts,
        bottom=0,
        color=OTHER_TONE,
    )
    frame = RangeTool(x_range=chart.x_range)
    frame.overlay.fill_color = OTHER_TONE
    frame.overlay.fill_alpha = 0.12
    overview.add_tools(frame)
    overview.yaxis.visible = False
    overview.ygrid.visible = False
    return _styled(overview)


def _incident_name(number: int, one: Incident) -> str:
    return f"{number}. {one.kind}"


def _styled(chart: Any) -> Any:
    style_frame(chart)
    chart.xgrid.grid_line_color = chart.ygrid.grid_line_color = INK
    chart.xgrid.grid_line_alpha = chart.ygrid.grid_line_alpha = 0.2
    times = DatetimeTickFormatter(
        milliseconds="%H:%M:%S.%3N",
        seconds="%H:%M:%S",
        minsec="%H:%M:%S",
        minutes="%H:%M",
        hourmin="%H:%M",
        hours="%H:%M",
    )
    chart.xaxis.formatter = times
    # A phone's screen fits only every second time.
    chart.xaxis.major_label_policy = NoOverlap()
    return chart
