"""Charts of a capacity plan as static SVG without scripts; every text in them is escaped.

Each chart is drawn twice, for wide and for narrow screens: a scaled one would be too small to read on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final, NamedTuple, TypeVar

from eosctl.model.capacity_plan import CapacityPlan, GrowthPoint, ResourceUse, Variant
from eosctl.text import milliseconds_text, rate_text

T = TypeVar("T")
WIDTH: Final = 760
NARROW: Final = 380
LABEL: Final = 150
ROW: Final = 30
BAR: Final = 18
PANEL_GAP: Final = 40
LINE_HEIGHT: Final = 220


class Part(NamedTuple):
    """A part of a stacked bar; ``tone`` is a class of the style sheet."""

    label: str
    value: float
    tone: str


def append_parts(plan: CapacityPlan) -> tuple[Part, ...]:
    """Split all appends of a plan, over all copies, into what causes them."""
    rf = plan.replication_factor
    log = sum(application.transaction_log_appends_per_s for application in plan.applications) * rf
    markers = plan.markers_per_s * rf
    commits = sum(topic.data_batches_per_s for topic in plan.topics if topic.name == "__consumer_offsets") * rf
    return (
        Part("data batches", plan.data_appends_per_s, "tone-1"),
        Part("markers", markers, "tone-2"),
        Part("transaction log", log, "tone-3"),
        Part("offset commits", commits, "tone-4"),
    )


def draw_appends(plan: CapacityPlan) -> str:
    """Draw what all appends consist of, as one stacked bar."""
    return _both(_appends, plan)


def _appends(plan: CapacityPlan, full_width: float) -> str:
    parts = [part for part in append_parts(plan) if part.value > 0]
    total = sum(part.value for part in parts)
    if not total:
        return ""
    shapes, x = [], 0.0
    for part in parts:
        width = part.value / total * full_width
        text = f"{part.label} {rate_text(part.value)}, {part.value / total:.0%}"
        shapes.append(
            f'<rect x="{x:.1f}" y="0" width="{max(0.0, width - 1):.1f}" height="34" class="{part.tone}">'
            f"<title>{escape(text)}</title></rect>"
        )
        if width > 60:
            shapes.append(f'<text x="{x + 8:.1f}" y="22" class="on">{part.value / total:.0%}</text>')
        x += width
    at, y = 0.0, 46
    for part in parts:
        label = f"{part.label} {rate_text(part.value)}"
        size = 34 + 6.6 * len(label)
        if at + size > full_width + 34:
            at, y = 0.0, y + 20
        shapes.append(f'<rect x="{at:.1f}" y="{y}" width="12" height="12" class="{part.tone}"/>')
        shapes.append(f'<text x="{at + 18:.1f}" y="{y + 11}">{escape(label)}</text>')
        at += size
    return _svg(y + 18, f"{rate_text(total)} appends over all copies", shapes, full_width)


def draw_utilisation(resources: Sequence[ResourceUse]) -> str:
    """Draw each resource's use against what is planned with, fullest first; the line is where it no longer fits."""
    return _both(_utilisation, resources)


def _utilisation(resources: Sequence[ResourceUse], full_width: float) -> str:
    known = sorted(
        ((use, use.utilisation) for use in resources if use.utilisation is not None),
        key=lambda pair: -(pair[1] or 0.0),
    )
    if not known:
        return ""
    most = max(1.25, *(share or 0.0 for _, share in known))
    space = full_width - LABEL - 70
    limit = LABEL + space / most
    shapes = []
    for row, (use, share) in enumerate(known):
        y, part = row * ROW + 18, share or 0.0
        tone = "over" if part > 1 else "near" if part > 0.8 else "calm"
        width = max(1.5, part / most * space)
        shapes += [
            f'<text x="{LABEL - 10}" y="{y + 14}" text-anchor="end">{escape(use.name)}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{BAR}" class="{tone}"/>',
            f'<text x="{LABEL + width + 8:.1f}" y="{y + 14}">{part:.1%}</text>',
        ]
    bottom = len(known) * ROW + 18
    shapes.append(f'<line x1="{limit:.1f}" y1="14" x2="{limit:.1f}" y2="{bottom}" class="limit"/>')
    shapes.append(f'<text x="{limit:.1f}" y="10" text-anchor="middle" class="soft">planned limit</text>')
    return _svg(bottom + 4, "use of each broker's resources after the loss", shapes, full_width)


def draw_variants(variants: Sequence[Variant]) -> str:
    """Draw what the values of one setting do to appends and to latency."""
    return _both(_variants, variants)


def _variants(variants: Sequence[Variant], full_width: float) -> str:
    """Draw both panels: side by side, or one below the other if there is not enough width."""
    shown = [variant for variant in variants if not variant.refusal]
    if len(shown) < 2:
        return ""
    height = len(shown) * ROW + 26
    is_narrow = full_width < WIDTH
    panel = full_width if is_narrow else (full_width - PANEL_GAP) / 2
    left, top = (0.0, height + 10) if is_narrow else (panel + PANEL_GAP, 0)
    shapes = [
        *_panel(panel, "EOS appends", shown, lambda v: v.eos_appends_per_s, rate_text, "tone-2"),
        f'<g transform="translate({left:.1f} {top})">',
        *_panel(panel, "visible after (P99)", shown, lambda v: v.visible_p99_ms, milliseconds_text, "tone-1"),
        "</g>",
    ]
    return _svg(top + height, f"what if {shown[0].parameter}", shapes, full_width)


def _panel(
    width: float,
    title: str,
    variants: Sequence[Variant],
    value: Callable[[Variant], float],
    text: Callable[[float], str],
    tone: str,
) -> Iterable[str]:
    most = max(max(map(value, variants)), 1e-9)
    label = 14 + 7 * max(len(variant.value) for variant in variants)
    space = width - label - 90
    yield f'<text x="0" y="12" class="head">{escape(title)}</text>'
    for row, variant in enumerate(variants):
        y, size = row * ROW + 24, max(1.5, value(variant) / most * space)
        yield f'<text x="{label - 8}" y="{y + 14}" text-anchor="end">{escape(variant.value)}</text>'
        yield f'<rect x="{label}" y="{y}" width="{size:.1f}" height="{BAR}" class="{tone}"/>'
        yield f'<text x="{label + size + 8:.1f}" y="{y + 14}">{escape(text(value(variant)))}</text>'


def draw_growth(points: Sequence[GrowthPoint]) -> str:
    """Draw each resource's utilisation over time; the line is where it no longer fits."""
    return _both(_growth, points)


def _growth(points: Sequence[GrowthPoint], full_width: float) -> str:
    names = [name for name, _ in points[0].utilisation] if points else []
    if len(points) < 2 or not names:
        return ""
    series = {name: [dict(point.utilisation).get(name, 0.0) for point in points] for name in names}
    shown = sorted(series, key=lambda name: -series[name][-1])[:4]
    most = max(1.25, *(max(series[name]) for name in shown)) * 1.05
    right = full_width - 140

    def x(step: int) -> float:
        return 44 + step / (len(points) - 1) * (right - 44)

    def y(share: float) -> float:
        return 12 + (1 - share / most) * (LINE_HEIGHT - 12)

    shapes = [
        f'<line x1="44" y1="{y(0):.1f}" x2="{right}" y2="{y(0):.1f}" class="axis"/>',
        f'<line x1="44" y1="{y(1):.1f}" x2="{right}" y2="{y(1):.1f}" class="limit"/>',
        f'<text x="38" y="{y(1) + 4:.1f}" text-anchor="end" class="soft">100%</text>',
        f'<text x="38" y="{y(0) + 4:.1f}" text-anchor="end" class="soft">0</text>',
        f'<text x="44" y="{LINE_HEIGHT + 18}" class="soft">{escape(points[0].date)}</text>',
        f'<text x="{right}" y="{LINE_HEIGHT + 18}" text-anchor="end" class="soft">{escape(points[-1].date)}</text>',
    ]
    taken: list[float] = []
    for number, name in enumerate(shown, 1):
        path = " ".join(f"{x(step):.1f},{y(share):.1f}" for step, share in enumerate(series[name]))
        shapes.append(f'<polyline points="{path}" class="line-{number}"/>')
        at = y(series[name][-1]) + 4
        while any(abs(at - other) < 14 for other in taken):
            at += 1
        taken.append(at)
        label = f"{name} {series[name][-1]:.0%}"
        shapes.append(f'<text x="{right + 8}" y="{at:.1f}" class="text-{number}">{escape(label)}</text>')
    return _svg(max(LINE_HEIGHT + 24, *(at + 6 for at in taken)), "utilisation over time", shapes, full_width)


def _both(draw: Callable[[T, float], str], shown: T) -> str:
    """Draw a chart for wide and for narrow screens; empty without data."""
    return draw(shown, WIDTH) + draw(shown, NARROW)


def _svg(height: float, label: str, shapes: Iterable[str], width: float) -> str:
    inside = "".join(shapes)
    size = "narrow" if width < WIDTH else "broad"
    return (
        f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{escape(label)}" class="chart {size}">'
        f"<title>{escape(label)}</title>{inside}</svg>"
    )
