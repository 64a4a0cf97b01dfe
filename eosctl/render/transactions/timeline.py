"""A timeline as one HTML page, as rows for people, and for programs."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from eosctl import __version__
from eosctl.model.timeline import Timeline
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Grid, Line, Style, render_page
from eosctl.render.templating import render_template
from eosctl.render.transactions.lanes import draw_lanes
from eosctl.render.transactions.repeated_marks import fold_repeated
from eosctl.text import duration_text, time_text

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


class TimelineView(Envelope, frozen=True):
    """A timeline in its envelope; ``items`` are the lanes."""

    subject: str
    from_ms: int
    until_ms: int
    notes: tuple[str, ...]
    items: tuple[LaneItem, ...]


def timeline_view(timeline: Timeline, generated_at_ms: int) -> TimelineView:
    """Shape a timeline."""
    return TimelineView(
        *envelope("timeline", "timeline", generated_at_ms),
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
    timeline = fold_repeated(timeline)
    rows = timeline_rows(timeline)
    blocks: list[Block] = [Line(f"Timeline of {timeline.subject}", "bold")]
    if rows:
        blocks.append(Grid(tuple(rows[-ROWS_SHOWN:]), ("TIME", "LASTED", "WHO", "WHAT", "WHERE")))
    else:
        blocks.append(Line("Nothing is known of it in this time."))
    if len(rows) > ROWS_SHOWN:
        blocks.append(
            Line(f"The last {ROWS_SHOWN}; {len(rows) - ROWS_SHOWN:,} earlier ones are in -o json and -o tsv.", "dim")
        )
    blocks += [Line(note, "yellow") for note in timeline.notes]
    return render_page(blocks, style)


def _html(timeline: Timeline, generated_at_ms: int) -> str:
    """Render a timeline as one page: lanes above, every mark as text below. It needs no network and no script."""
    from markupsafe import Markup

    timeline = fold_repeated(timeline)
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
        marks=rows[-ROWS_SHOWN:],
        left_out=max(0, len(rows) - ROWS_SHOWN),
    )  # fmt: skip
