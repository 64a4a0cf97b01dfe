"""A verification as one HTML file: tables, and each witness drawn as a timeline with a lane for every actor."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from eosctl import __version__
from eosctl.findings.judged import Judged
from eosctl.model.verification import AppItem, VerifiedAnomalyItem, VerifyItem, WitnessItem
from eosctl.render.templating import render_template
from eosctl.render.verify.items import coverage_line, cycles_line
from eosctl.text import duration_text, time_text

_WIDTH: Final = 960
_LABEL_WIDTH: Final = 170
_LANE_HEIGHT: Final = 46
_MARGIN: Final = 24


def render_verify_html(item: VerifyItem, judged: Judged) -> str:
    """Render a run."""
    return _render(
        "verify.html.j2",
        item,
        judged,
        coverage_line=coverage_line(item.coverage) if item.coverage is not None else "",
        cycles_line=cycles_line(item.cycles) if item.cycles is not None else "",
        duration=duration_text(item.duration_ms),
        span_length=duration_text,
    )


def render_app_html(item: AppItem, judged: Judged) -> str:
    """Render the test of an application."""
    return _render("verify_app.html.j2", item, judged)


def _render(template: str, item: VerifyItem | AppItem, judged: Judged, **more: Any) -> str:
    from markupsafe import Markup

    return render_template(
        template,
        item=item,
        # The drawing escapes every text in it.
        drawings=[Markup(draw_witness(anomaly)) for anomaly in item.anomalies],
        diagnosis=judged.diagnosis,
        generated_at=time_text(judged.at_ms),
        version=__version__,
        **more,
    )


def draw_witness(anomaly: VerifiedAnomalyItem) -> str:
    """Draw the events of a witness: time from left to right in even steps, a lane for each actor, numbers to the table.

    Steps are even because a witness is about order: the first event may lie minutes before the others.
    """
    lanes = tuple(dict.fromkeys(event.actor for event in anomaly.witness))
    height = len(lanes) * _LANE_HEIGHT + _MARGIN + 8
    step = (_WIDTH - _LABEL_WIDTH - 2 * _MARGIN) / max(1, len(anomaly.witness) - 1)
    parts = [f'<svg class="witness" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(anomaly.subject)}">']
    for row, lane in enumerate(lanes):
        y = row * _LANE_HEIGHT + _LANE_HEIGHT // 2
        parts.append(f'<line class="rail" x1="{_LABEL_WIDTH}" y1="{y}" x2="{_WIDTH - 8}" y2="{y}"/>')
        parts.append(f'<text class="lane" x="4" y="{y + 4}">{escape(_cut(lane, 24))}</text>')
    for number, event in enumerate(anomaly.witness, 1):
        x = _LABEL_WIDTH + _MARGIN + (number - 1) * step
        y = lanes.index(event.actor) * _LANE_HEIGHT + _LANE_HEIGHT // 2
        parts.append(
            f"<g><title>{escape(_description(event))}</title>"
            f'<circle class="{_tone(event)}" cx="{x:.1f}" cy="{y}" r="10"/>'
            f'<text class="number" x="{x:.1f}" y="{y + 4}">{number}</text></g>'
        )
        parts.append(f'<text class="axis" x="{x:.1f}" y="{height - 8}">{event.at_ms / 1000:.3f} s</text>')
    parts.append("</svg>")
    return "".join(parts)


def _description(event: WitnessItem) -> str:
    return f"{event.at_ms / 1000:.3f} s {event.actor}: {event.event} {event.detail}"


def _tone(event: WitnessItem) -> str:
    match event.event.split()[0]:
        case "polled" | "drained" | "undrained" | "read":
            return "read"
        case "end" | "ended":
            return "end"
        case "init" | "identified":
            return "identity"
        case "offset" | "offsets" | "showed":
            return "offset"
        case _:
            return "write"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
