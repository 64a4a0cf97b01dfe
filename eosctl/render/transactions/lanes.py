"""Lanes over time as HTML: a name and a drawing for each actor, readable on a screen of any width."""

from __future__ import annotations

from html import escape
from typing import Final

from eosctl.model.timeline import Lane, Mark, Timeline, Tone
from eosctl.render.transactions.time_scale import CUT_WIDTH, Tick, TimeScale, time_scale
from eosctl.text import duration_text, time_text

HEIGHT: Final = 30
_MIDDLE: Final = HEIGHT / 2
_DIAMOND: Final = f"0,{_MIDDLE - 8} 6,{_MIDDLE} 0,{_MIDDLE + 8} -6,{_MIDDLE}"
_CENTER: Final = 0.5
_NEARLY_ALL: Final = 0.99
_RADIUS: Final = 3.5
#: Dots are smaller where more of them would cover the bars below.
_CROWDED: Final = 60
_ABOVE: Final = {Tone.ABORT: 1, Tone.HANGING: 2}


def draw_lanes(timeline: Timeline) -> str:
    """Draw one lane for each actor; empty without actors.

    Widths are shares of the screen, and on a narrow one the names stand above their lanes (`report.css`). Every text in
    the result is escaped.
    """
    if not timeline.lanes:
        return ""
    scale = time_scale(timeline)
    label = escape(f"{timeline.subject} over time")
    grid = "".join(_grid(tick) for tick in scale.ticks)
    lanes = "".join(_lane(lane, scale, grid) for lane in timeline.lanes)
    return f'<div class="lanes" role="img" aria-label="{label}">{_axis(scale)}{lanes}</div>'


def _grid(tick: Tick) -> str:
    if not tick.is_cut:
        return f'<line class="grid" x1="{tick.share:.2%}" x2="{tick.share:.2%}" y1="0" y2="{HEIGHT}"/>'
    first = tick.share - CUT_WIDTH / 2
    return f'<rect class="cut" x="{first:.2%}" y="0" width="{CUT_WIDTH:.2%}" height="{HEIGHT}"/>'


def _axis(scale: TimeScale) -> str:
    texts = "".join(_length_text(tick) if tick.is_cut else _clock_text(tick) for tick in scale.ticks)
    height = 34 if any(tick.is_cut for tick in scale.ticks) else 22
    return f'<div class="lane"><span></span><svg height="{height}">{texts}</svg></div>'


def _clock_text(tick: Tick) -> str:
    anchor = "start" if tick.share == 0 else "end" if tick.share == 1 else "middle"
    between = " between" if anchor == "middle" and tick.share != _CENTER else ""
    return f'<text class="axis{between}" x="{tick.share:.2%}" y="13" text-anchor="{anchor}">{tick.text}</text>'


def _length_text(tick: Tick) -> str:
    """Return the length of a cut, below the times, and within the drawing where the cut is at an end of it."""
    half = CUT_WIDTH / 2
    x, anchor = (1.0, "end") if tick.share + half > _NEARLY_ALL else (tick.share, "middle")
    x, anchor = (0.0, "start") if tick.share - half < 1 - _NEARLY_ALL else (x, anchor)
    return f'<text class="axis" x="{x:.2%}" y="29" text-anchor="{anchor}">⋯ {tick.text} ⋯</text>'


def _lane(lane: Lane, scale: TimeScale, grid: str) -> str:
    # Bars lie below dots, or a long transaction would hide what happened in it, and aborts above what is around them.
    lasting = [mark for mark in lane.marks if mark.until_ms is not None]
    bars = [_bar(mark, scale) for mark in sorted(lasting, key=lambda one: _ABOVE.get(one.tone, 0))]
    moments = [mark for mark in lane.marks if mark.until_ms is None]
    radius = _RADIUS if len(moments) <= _CROWDED else _RADIUS / 2
    dots = [_dot(mark, scale, radius) for mark in moments]
    rail = f'<line class="rail" x1="0" x2="100%" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
    return (
        f'<div class="lane {lane.kind.value}"><span title="{escape(lane.name)}">{escape(lane.name)}</span>'
        f'<svg height="{HEIGHT}">{grid}{rail}{"".join(bars)}{"".join(dots)}</svg></div>'
    )


def _bar(mark: Mark, scale: TimeScale) -> str:
    first = scale.share(mark.at_ms if mark.shown_at_ms is None else mark.shown_at_ms)
    last = scale.share(mark.at_ms if mark.until_ms is None else mark.until_ms)
    # The stroke alone shows a bar that is shorter than a pixel.
    # Hundreds of open transactions cover what lies below them.
    height = 6 if mark.tone is Tone.HANGING else 16
    place = f'x="{first:.2%}" y="{_MIDDLE - height / 2}" width="{max(0.0, last - first):.2%}" height="{height}" rx="3"'
    return f'<rect class="{mark.tone.value}" {place}><title>{_title(mark)}</title></rect>'


def _dot(mark: Mark, scale: TimeScale, radius: float) -> str:
    left = f"{scale.share(mark.at_ms if mark.shown_at_ms is None else mark.shown_at_ms):.2%}"
    title = f"<title>{_title(mark)}</title>"
    if mark.tone is Tone.TAKEOVER:
        diamond = f'<polygon class="takeover" points="{_DIAMOND}">{title}</polygon>'
        return f'<svg x="{left}" overflow="visible">{diamond}</svg>'
    return f'<circle class="{mark.tone.value}" cx="{left}" cy="{_MIDDLE}" r="{radius}">{title}</circle>'


def _title(mark: Mark) -> str:
    lasted = "" if mark.until_ms is None else f" ({duration_text(mark.until_ms - mark.at_ms)})"
    return escape(f"{time_text(mark.at_ms)}{lasted}\n{mark.label}\n{mark.source}")
