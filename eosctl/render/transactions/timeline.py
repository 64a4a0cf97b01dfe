"""A timeline as one HTML page, as rows for people, and for programs."""

from __future__ import annotations

from enum import StrEnum
from html import escape
from typing import Final

import msgspec

from eosctl import __version__
from eosctl.model.timeline import Lane, Mark, Timeline
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Grid, Line, Style, render_page
from eosctl.render.templating import render_template
from eosctl.text import duration_text, time_text

WIDTH: Final = 1_180
LABEL_WIDTH: Final = 230
LANE_HEIGHT: Final = 30
HEAD: Final = 34
ROWS_SHOWN: Final = 400


class TimelineFormat(StrEnum):
    """How a timeline is written."""

    HTML = "html"
    JSON = "json"
    YAML = "yaml"
    TABLE = "table"
    TSV = "tsv"


class MarkItem(msgspec.Struct, frozen=True):
    """Something that happened; ``until_ms`` is None for a moment."""

    at_ms: int
    until_ms: int | None
    label: str
    tone: str
    source: str


class LaneItem(msgspec.Struct, frozen=True):
    """One actor: a producer, a consumer group, or a partition on its broker."""

    kind: str
    name: str
    marks: tuple[MarkItem, ...]


class TimelineView(msgspec.Struct, frozen=True):
    """A timeline in its envelope; ``items`` are the lanes."""

    schema: str
    schema_version: int
    command: str
    generated_at: str
    subject: str
    from_ms: int
    until_ms: int
    notes: tuple[str, ...]
    items: tuple[LaneItem, ...]


def timeline_view(timeline: Timeline, generated_at_ms: int) -> TimelineView:
    """Shape a timeline."""
    return TimelineView(
        schema="eosctl.timeline",
        schema_version=1,
        command="timeline",
        generated_at=time_text(generated_at_ms),
        subject=timeline.subject,
        from_ms=timeline.from_ms,
        until_ms=timeline.until_ms,
        notes=timeline.notes,
        items=tuple(
            LaneItem(
                lane.kind.value,
                lane.name,
                tuple(MarkItem(m.at_ms, m.until_ms, m.label, m.tone.value, m.source) for m in lane.marks),
            )
            for lane in timeline.lanes
        ),
    )


def timeline_rows(timeline: Timeline) -> list[tuple[str, ...]]:
    """Return every mark with its lane, by time."""
    marks = sorted(
        ((mark, lane.name) for lane in timeline.lanes for mark in lane.marks), key=lambda pair: pair[0].order
    )
    return [
        (
            time_text(mark.at_ms),
            "" if mark.until_ms is None else duration_text(mark.until_ms - mark.at_ms),
            name,
            mark.label,
            mark.source,
        )
        for mark, name in marks
    ]


def render_timeline(timeline: Timeline, now_ms: int, output: TimelineFormat, style: Style = PLAIN) -> str:
    """Render a timeline: for people one line a mark, by time."""
    match output:
        case TimelineFormat.HTML:
            return _html(timeline, now_ms)
        case TimelineFormat.JSON:
            return render_json(timeline_view(timeline, now_ms))
        case TimelineFormat.YAML:
            return render_yaml(timeline_view(timeline, now_ms))
        case TimelineFormat.TSV:
            return render_tsv(timeline_rows(timeline))
        case TimelineFormat.TABLE:
            return _page(timeline, style)


def _page(timeline: Timeline, style: Style) -> str:
    rows = timeline_rows(timeline)
    blocks: list[Block] = [Line(f"Timeline of {timeline.subject}", "bold")]
    if rows:
        blocks.append(Grid(tuple(rows[-ROWS_SHOWN:]), ("TIME", "LASTED", "WHO", "WHAT", "WHERE")))
    else:
        blocks.append(Line("Nothing is known of it in this time."))
    blocks += [Line(note, "yellow") for note in timeline.notes]
    return render_page(blocks, style)


def _html(timeline: Timeline, generated_at_ms: int) -> str:
    """Render a timeline as one page: lanes above, every mark as text below. It needs no network and no script."""
    from markupsafe import Markup

    rows = timeline_rows(timeline)
    return render_template(
        "timeline.html.j2",
        version=__version__,
        generated_at=time_text(generated_at_ms),
        timeline=timeline,
        begin=time_text(timeline.from_ms),
        end=time_text(timeline.until_ms),
        lasted=duration_text(max(0, timeline.until_ms - timeline.from_ms)),
        # The drawing escapes every text in it.
        drawing=Markup(draw_lanes(timeline)),
        takeovers=[(time_text(m.at_ms), lane.name, m) for lane in timeline.lanes for m in lane.marks
                   if m.tone.value == "takeover"],
        rows=rows[-ROWS_SHOWN:],
        left_out=max(0, len(rows) - ROWS_SHOWN),
    )  # fmt: skip


def draw_lanes(timeline: Timeline) -> str:
    """Draw one lane per actor as SVG; empty without actors."""
    if not timeline.lanes:
        return ""
    height = HEAD + LANE_HEIGHT * len(timeline.lanes) + 8
    scale = (WIDTH - LABEL_WIDTH - 12) / max(1, timeline.until_ms - timeline.from_ms)
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(timeline.subject)} over time">']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        left = LABEL_WIDTH + share * (WIDTH - LABEL_WIDTH - 12)
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        moment = time_text(int(timeline.from_ms + share * (timeline.until_ms - timeline.from_ms)))[11:23]
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{left:.1f}" y1="{HEAD - 8}" y2="{height}"/>')
        parts.append(f'<text class="axis" x="{left:.1f}" y="16" text-anchor="{anchor}">{moment}</text>')
    for row, lane in enumerate(timeline.lanes):
        parts += _lane(lane, HEAD + row * LANE_HEIGHT, timeline.from_ms, timeline.until_ms, scale)
    return "".join([*parts, "</svg>"])


def _lane(lane: Lane, top: int, begin: int, end: int, scale: float) -> list[str]:
    shown = lane.name if len(lane.name) <= 32 else f"{lane.name[:31]}…"
    middle = top + LANE_HEIGHT / 2
    title = f"<title>{escape(lane.name)}</title>"
    name = f'<text class="lane {lane.kind.value}" x="0" y="{middle + 4}">{escape(shown)}{title}</text>'
    rail = f'<line class="rail" x1="{LABEL_WIDTH}" x2="{WIDTH - 12}" y1="{middle}" y2="{middle}"/>'
    # Spans lie below moments, or a long transaction would hide what happened in it.
    spans = [_span(mark, middle, begin, end, scale) for mark in lane.marks if mark.until_ms is not None]
    dots = [_dot(mark, middle, begin, scale) for mark in lane.marks if mark.until_ms is None]
    return [name, rail, *spans, *dots]


def _span(mark: Mark, middle: float, begin: int, end: int, scale: float) -> str:
    first, last = max(mark.at_ms, begin), min(mark.until_ms or mark.at_ms, end)
    left, width = LABEL_WIDTH + (first - begin) * scale, max(2.0, (last - first) * scale)
    return (
        f'<rect class="{mark.tone.value}" x="{left:.1f}" y="{middle - 8}" width="{width:.1f}" height="16" rx="3">'
        f"<title>{_title(mark)}</title></rect>"
    )


def _dot(mark: Mark, middle: float, begin: int, scale: float) -> str:
    left = LABEL_WIDTH + max(0, mark.at_ms - begin) * scale
    if mark.tone.value == "takeover":
        points = (
            f"{left:.1f},{middle - 11} {left + 6:.1f},{middle - 3} {left:.1f},{middle + 5} {left - 6:.1f},{middle - 3}"
        )
        return f'<polygon class="takeover" points="{points}"><title>{_title(mark)}</title></polygon>'
    title = f"<title>{_title(mark)}</title>"
    return f'<circle class="{mark.tone.value}" cx="{left:.1f}" cy="{middle}" r="3.5">{title}</circle>'


def _title(mark: Mark) -> str:
    lasted = "" if mark.until_ms is None else f" ({duration_text(mark.until_ms - mark.at_ms)})"
    return escape(f"{time_text(mark.at_ms)}{lasted}\n{mark.label}\n{mark.source}")
