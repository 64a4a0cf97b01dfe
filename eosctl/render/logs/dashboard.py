"""A dashboard of a log scan's result as one HTML file that needs no network: causes, timeline, exceptions, coverage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Final

from eosctl import __version__
from eosctl.model.log_dashboard import LogDashboard, Slot
from eosctl.render.templating import render_template
from eosctl.text import count_text

WIDTH: Final = 960
LABEL_WIDTH: Final = 170
LANE_HEIGHT: Final = 26
MOST_LANES: Final = 16
LEAST_WIDTH: Final = 1.5
MOST_WIDTH: Final = 24.0
LABEL_CHARS: Final = 22
UNITS_S: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_HEAD: Final = 4
_FOOT: Final = 22


def render_dashboard(board: LogDashboard) -> str:
    """Render the dashboard of a run."""
    from markupsafe import Markup

    return render_template(
        "dashboard.html.j2",
        board=board,
        headline=_headline(board),
        timeline=Markup(draw_slots(board.slots, board.unit)),
        read_count=sum(count for status, count in board.statuses if status in ("read", "empty")),
        input_count=sum(count for status, count in board.statuses if status != "skipped"),
        more_causes=board.cause_count - len(board.causes),
        version=__version__,
    )


def _headline(board: LogDashboard) -> str:
    if not board.incident_count:
        return "No incident found" if board.is_complete else "No incident found in what was read"
    causes = count_text(board.cause_count, "root cause")
    return f"{count_text(board.incident_count, 'incident')} of {causes}, most severe: {board.causes[0].root_cause}"


def draw_slots(slots: Sequence[Slot], unit: str) -> str:
    """Draw a lane of bars over time for each application, taller for more warnings and errors.

    Returns:
        The SVG element; empty without slots.
    """
    if not slots:
        return ""
    totals: dict[str, int] = defaultdict(int)
    for slot in slots:
        totals[slot.application] += slot.problem_count
    lanes = sorted(totals, key=lambda name: (-totals[name], name))[:MOST_LANES]
    most = max(slot.problem_count for slot in slots)
    times = sorted({slot.time for slot in slots})
    first_s, last_s = (datetime.fromisoformat(time).timestamp() for time in (times[0], times[-1]))
    per_s = (WIDTH - LABEL_WIDTH) / (last_s - first_s + UNITS_S[unit])
    width = max(LEAST_WIDTH, min(UNITS_S[unit] * per_s - 1, MOST_WIDTH))
    height = _HEAD + LANE_HEIGHT * len(lanes) + _FOOT
    label = f"Warnings and errors by application and {unit}"
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">']
    for number, name in enumerate(lanes):
        shown = name if len(name) <= LABEL_CHARS else f"{name[: LABEL_CHARS - 1]}…"
        parts.append(f'<text x="0" y="{_HEAD + LANE_HEIGHT * number + 17}">{escape(shown or "no application")}</text>')
    for slot in slots:
        if slot.application in lanes:
            bottom = _HEAD + LANE_HEIGHT * (lanes.index(slot.application) + 1) - 2
            bar = max(2.0, (LANE_HEIGHT - 4) * slot.problem_count / most)
            left = LABEL_WIDTH + (datetime.fromisoformat(slot.time).timestamp() - first_s) * per_s
            title = escape(f"{slot.time[:19]} {slot.application}: {slot.problem_count}")
            box = f'x="{left:.1f}" y="{bottom - bar:.1f}" width="{width:.1f}" height="{bar:.1f}"'
            parts.append(f'<rect class="bin" {box}><title>{title}</title></rect>')
    parts.append(f'<text class="axis" x="{LABEL_WIDTH}" y="{height - 4}">{escape(times[0][:19])}</text>')
    if len(times) > 1:
        end = f'x="{WIDTH}" y="{height - 4}" text-anchor="end"'
        parts.append(f'<text class="axis" {end}>{escape(times[-1][:19])}</text>')
    return "".join([*parts, "</svg>"])
