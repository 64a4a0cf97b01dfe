"""The timeline of an incident report: when each application said something that matters, drawn as SVG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from eosctl.model.incident import Incident
from eosctl.model.log_totals import Activity, Moment
from eosctl.text import time_text

WIDTH: Final = 960
LABEL_WIDTH: Final = 150
LANE_HEIGHT: Final = 22
BIN_COUNT: Final = 120
_HEAD: Final = 26


def draw_timeline(activity: Activity | None, incidents: Sequence[Incident]) -> str:
    """Draw a lane for each application: darker where it had more warnings and errors, and the incidents above.

    Returns:
        The SVG element; empty when no event carries a time.
    """
    if activity is None:
        return ""
    start = min([activity.first_ms, *(one.t_start_ms for one in incidents)])
    end = max([activity.last_ms, *(one.t_end_ms for one in incidents)]) + 1
    lanes = activity.lanes
    height = _HEAD + LANE_HEIGHT * (len(lanes) + len(incidents)) + 24
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Incidents and warnings by application over time">'
    ]
    scale = (WIDTH - LABEL_WIDTH) / (end - start)
    for row, one in enumerate(incidents):
        top = _HEAD + row * LANE_HEIGHT
        left = LABEL_WIDTH + (one.t_start_ms - start) * scale
        width = max(3.0, (one.t_end_ms - one.t_start_ms) * scale)
        title = f"{one.kind}: {one.root_cause}, {time_text(one.t_start_ms)} to {time_text(one.t_end_ms)}"
        parts.append(_label(one.kind, top))
        parts.append(
            f'<rect class="{one.severity.value}" x="{left:.1f}" y="{top + 4}" width="{width:.1f}" height="14" rx="2">'
            f"<title>{escape(title)}</title></rect>"
        )
    for row, name in enumerate(lanes, start=len(incidents)):
        top = _HEAD + row * LANE_HEIGHT
        parts.append(_label(name, top))
        parts += _bins([one for one in activity.moments if one.application == name], start, end, top)
    for share in (0, 0.25, 0.5, 0.75, 1):
        moment = int(start + share * (end - start))
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        parts.append(
            f'<text class="axis" x="{LABEL_WIDTH + share * (WIDTH - LABEL_WIDTH):.0f}" y="14" text-anchor="{anchor}">'
            f"{time_text(moment)[11:23]}</text>"
        )
    return "".join([*parts, "</svg>"])


def _label(text: str, top: int) -> str:
    shown = text if len(text) <= 22 else f"{text[:21]}…"
    return f'<text x="0" y="{top + 15}">{escape(shown)}<title>{escape(text)}</title></text>'


def _bins(moments: Sequence[Moment], start: int, end: int, top: int) -> list[str]:
    counts = Counter[int]()
    for one in moments:
        counts[(one.time_ms - start) * BIN_COUNT // (end - start)] += one.problem_count
    most = max(counts.values(), default=1)
    width = (WIDTH - LABEL_WIDTH) / BIN_COUNT
    return [
        f'<rect class="bin" x="{LABEL_WIDTH + index * width:.1f}" y="{top + 3}" width="{width:.1f}" height="16" '
        f'fill-opacity="{0.25 + 0.75 * count / most:.2f}"><title>{count} warnings and errors</title></rect>'
        for index, count in sorted(counts.items())
    ]
