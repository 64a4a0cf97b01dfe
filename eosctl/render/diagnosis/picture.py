"""The blast radius of an open transaction as a static SVG: what readers still get, and what is hidden."""

from __future__ import annotations

from html import escape
from typing import Final

from eosctl.model.hang import BlastRadius, HangVerdict
from eosctl.text import count_text

WIDTH: Final = 760
LEFT: Final = 16
RIGHT: Final = 744
BAR_TOP: Final = 46
BAR_HEIGHT: Final = 26
GROUP_ROW: Final = 20
GROUPS_DRAWN: Final = 6


class _Axis:
    """Offsets to pixels. It shows the hidden records and about as much of the log before them."""

    def __init__(self, radius: BlastRadius, first_offset: int, high_watermark: int) -> None:
        span = max(1, high_watermark - first_offset)
        self.low = max(0, first_offset - max(1, span * 3 // 4))
        self.high = max(high_watermark, self.low + 1)
        self.radius = radius

    def x(self, offset: int) -> float:
        share = (offset - self.low) / (self.high - self.low)
        return round(LEFT + min(1.0, max(0.0, share)) * (RIGHT - LEFT), 1)


def draw_blast_radius(verdict: HangVerdict) -> str:
    """Draw one transaction's partition; empty when its offsets are not known.

    Returns:
        An ``svg`` element without scripts or references; every text in it is escaped.
    """
    radius = verdict.blast_radius
    if radius is None or radius.high_watermark is None or radius.last_stable_offset is None:
        return ""
    axis = _Axis(radius, verdict.transaction.first_offset, radius.high_watermark)
    groups = radius.groups[:GROUPS_DRAWN]
    height = BAR_TOP + BAR_HEIGHT + 34 + GROUP_ROW * len(groups)
    hidden = count_text(radius.high_watermark - radius.last_stable_offset, "offset")
    label = f"{radius.partition}: {hidden} hidden from read_committed readers"
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}" class="radius">',
        f"<title>{escape(label)}</title>",
        _bar(axis.x(axis.low), axis.x(radius.last_stable_offset), "readable"),
        _bar(axis.x(radius.last_stable_offset), axis.x(radius.high_watermark), "hidden"),
        *_marks(axis, verdict, radius.last_stable_offset, radius.high_watermark),
    ]
    for row, group in enumerate(groups):
        text = f"{group.group_id} committed {group.committed_offset:,}"
        parts.append(_group(axis.x(group.committed_offset), row, text))
    parts.append("</svg>")
    return "".join(parts)


def _bar(start: float, end: float, kind: str) -> str:
    width = round(max(0.0, end - start), 1)
    return f'<rect x="{start}" y="{BAR_TOP}" width="{width}" height="{BAR_HEIGHT}" class="{kind}"/>'


def _marks(axis: _Axis, verdict: HangVerdict, last_stable_offset: int, high_watermark: int) -> list[str]:
    first_offset = verdict.transaction.first_offset
    bottom = BAR_TOP + BAR_HEIGHT
    marks = [
        _tick(axis.x(last_stable_offset), BAR_TOP - 8, bottom, f"LSO {last_stable_offset:,}", BAR_TOP - 14),
        _tick(axis.x(high_watermark), BAR_TOP - 8, bottom, f"high watermark {high_watermark:,}", BAR_TOP - 14),
    ]
    if first_offset != last_stable_offset:
        marks.append(_tick(axis.x(first_offset), BAR_TOP, bottom + 8, f"open since {first_offset:,}", bottom + 22))
    elif verdict.transaction.transactional_id:
        owner = f"open since {first_offset:,} by {verdict.transaction.transactional_id}"
        marks.append(_tick(axis.x(first_offset), BAR_TOP, bottom + 8, owner, bottom + 22))
    else:
        owner = f"open since {first_offset:,} by producer id {verdict.transaction.producer_id}"
        marks.append(_tick(axis.x(first_offset), BAR_TOP, bottom + 8, owner, bottom + 22))
    return marks


def _tick(x: float, top: int, bottom: int, text: str, text_y: int) -> str:
    anchor = "end" if x > WIDTH * 0.6 else "start"
    return (
        f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" class="tick"/>'
        f'<text x="{x}" y="{text_y}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _group(x: float, row: int, text: str) -> str:
    y = BAR_TOP + BAR_HEIGHT + 44 + GROUP_ROW * row
    anchor, shift = ("end", -8) if x > WIDTH * 0.6 else ("start", 8)
    return (
        f'<path d="M{x} {BAR_TOP + BAR_HEIGHT} L{x} {y}" class="reader"/>'
        f'<circle cx="{x}" cy="{y - 4}" r="4" class="dot"/>'
        f'<text x="{x + shift}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
    )
