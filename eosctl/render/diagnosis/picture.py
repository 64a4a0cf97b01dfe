"""The blast radius of an open transaction as a static SVG: what readers still get, and what is hidden."""

from __future__ import annotations

from html import escape
from typing import Final

from eosctl.model.hang import BlastRadius, HangVerdict
from eosctl.text import count_text

BAR_TOP: Final = 46
BAR_HEIGHT: Final = 26
BAR_END: Final = BAR_TOP + BAR_HEIGHT
GROUP_ROW: Final = 20
GROUPS_DRAWN: Final = 6
#: A text right of this share of the width ends at its mark, so that it stays in the drawing.
_TURNS_AT: Final = 0.6


class _Axis:
    """Offsets to shares of the width. It shows the hidden records and about as much of the log before them."""

    def __init__(self, radius: BlastRadius, first_offset: int, high_watermark: int) -> None:
        span = max(1, high_watermark - first_offset)
        self.low = max(0, first_offset - max(1, span * 3 // 4))
        self.high = max(high_watermark, self.low + 1)
        self.radius = radius

    def x(self, offset: int) -> float:
        return min(1.0, max(0.0, (offset - self.low) / (self.high - self.low)))


def draw_blast_radius(verdict: HangVerdict) -> str:
    """Draw one transaction's partition; empty when its offsets are not known.

    Widths are shares of the screen, so that texts keep their size on a narrow one.

    Returns:
        An ``svg`` element without scripts or references; every text in it is escaped.
    """
    radius = verdict.blast_radius
    if radius is None or radius.high_watermark is None or radius.last_stable_offset is None:
        return ""
    axis = _Axis(radius, verdict.transaction.first_offset, radius.high_watermark)
    groups = radius.groups[:GROUPS_DRAWN]
    height = BAR_END + 34 + GROUP_ROW * len(groups)
    hidden = count_text(radius.high_watermark - radius.last_stable_offset, "offset")
    label = f"{radius.partition}: {hidden} hidden from read_committed readers"
    parts = [
        f'<svg height="{height}" role="img" aria-label="{escape(label)}" class="radius">',
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
    width = max(0.0, end - start)
    return f'<rect x="{start:.2%}" y="{BAR_TOP}" width="{width:.2%}" height="{BAR_HEIGHT}" class="{kind}"/>'


def _marks(axis: _Axis, verdict: HangVerdict, last_stable_offset: int, high_watermark: int) -> list[str]:
    transaction = verdict.transaction
    since = f"open since {transaction.first_offset:,}"
    if transaction.first_offset == last_stable_offset:
        since += f" by {transaction.transactional_id or f'producer id {transaction.producer_id}'}"
    end, stable, first = map(axis.x, (high_watermark, last_stable_offset, transaction.first_offset))
    return [
        # The two texts above the bar have a line each: on a narrow screen they would overlap on one.
        _line(end, BAR_TOP - 28, BAR_END) + _text(1.0, 14, f"high watermark {high_watermark:,}"),
        _line(stable, BAR_TOP - 8, BAR_END) + _text(stable, BAR_TOP - 12, f"LSO {last_stable_offset:,}"),
        # An id may be long, so this text has the whole width.
        _line(first, BAR_TOP, BAR_END + 8) + _text(0.0, BAR_END + 22, since),
    ]


def _line(x: float, top: int, bottom: int) -> str:
    return f'<line x1="{x:.2%}" y1="{top}" x2="{x:.2%}" y2="{bottom}" class="tick"/>'


def _text(x: float, y: int, text: str) -> str:
    anchor = "end" if x > _TURNS_AT else "start"
    return f'<text x="{x:.2%}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _group(x: float, row: int, text: str) -> str:
    y = BAR_END + 44 + GROUP_ROW * row
    anchor, shift = ("end", -8) if x > _TURNS_AT else ("start", 8)
    return (
        f'<svg x="{x:.2%}" overflow="visible">'
        f'<path d="M0 {BAR_END} L0 {y}" class="reader"/>'
        f'<circle cx="0" cy="{y - 4}" r="4" class="dot"/>'
        f'<text x="{shift}" y="{y}" text-anchor="{anchor}">{escape(text)}</text></svg>'
    )
