"""One frame of ``metrics watch``: each metric's worst value now, with its course, what is bad first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import Final

import msgspec

from eosctl.model.metric_reading import MetricMoment, Watched
from eosctl.render.formats import OutputFormat
from eosctl.render.live import row_count
from eosctl.render.machine import render_json_line
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.watch import sparkline
from eosctl.text import count_text, time_text

WIDE: Final = 110
NARROW: Final = 72
_HEAD_LINES: Final = 6
_ROWS_WITHOUT_TERMINAL: Final = 40
_STATUS: Final = {True: "bad", False: "ok", None: "-"}


class WatchedItem(msgspec.Struct, frozen=True):
    """A metric at a moment. ``endpoint`` is ``all`` of derived values, else the program that has the worst."""

    metric: str
    status: str
    value: float | None
    unit: str
    where: dict[str, str]
    endpoint: str


class MetricMomentItem(msgspec.Struct, frozen=True):
    """One moment as a line of JSON."""

    at: str
    program_count: int
    metrics: tuple[WatchedItem, ...]
    unread: tuple[str, ...]


def metric_moment_item(moment: MetricMoment) -> MetricMomentItem:
    """Shape a moment."""
    return MetricMomentItem(
        at=time_text(moment.at_ms),
        program_count=moment.program_count,
        metrics=tuple(
            WatchedItem(
                metric=one.name,
                status=_STATUS[one.is_bad],
                value=one.value,
                unit=one.unit,
                where=dict(one.where),
                endpoint=one.source or "all",
            )
            for one in moment.values
        ),
        unread=tuple(gap.subject for gap in moment.gaps),
    )


def render_metric_look(moments: Sequence[MetricMoment], output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the newest look: a line of JSON, or a frame with the course of each value that fits the terminal."""
    if output is OutputFormat.JSON:
        return render_json_line(metric_moment_item(moments[-1]))
    return render_metric_frame(moments, row_count(_HEAD_LINES, _ROWS_WITHOUT_TERMINAL), style)


def render_metric_frame(moments: Sequence[MetricMoment], rows: int, style: Style = PLAIN) -> str:
    """Render the newest of some moments, with the course of all of them.

    Args:
        moments: Oldest first; at least one.
        rows: How many metrics to show at most.
        style: Width and color; a narrow page omits units, places, and the older part of the history.
    """
    now = moments[-1]
    bad = sum(one.is_bad is True for one in now.values)
    programs = count_text(now.program_count, "program")
    verdict = f"{bad} beyond {'its limit' if bad == 1 else 'their limits'}" if bad else "all within their limits"
    blocks: list[Block] = [Line(f"{time_text(now.at_ms)}  {programs}, {verdict}", "bold red" if bad else "bold")]
    blocks += [Field("unread", f"{gap.subject}: {gap.detail}", "yellow") for gap in now.gaps[:3]]
    width = style.width or WIDE
    shown = now.values[: max(1, rows - min(3, len(now.gaps)))]
    if shown:
        blocks.append(_grid(shown, moments, width))
    if len(now.values) > len(shown):
        blocks.append(Line(f"and {len(now.values) - len(shown)} more, none of them bad" if bad <= len(shown) else
                           f"and {len(now.values) - len(shown)} more"))  # fmt: skip
    return render_page(blocks, style._replace(fold=True))


def _grid(shown: Sequence[Watched], moments: Sequence[MetricMoment], width: int) -> Grid:
    course = 24 if width >= WIDE else 12 if width >= NARROW else 6
    header = ["STATUS", "METRIC", "VALUE", "COURSE"]
    if width >= WIDE:
        header += ["UNIT", "WHERE"]
    twice = {name for name, count in Counter(one.name for one in moments[-1].values).items() if count > 1}
    rows = []
    for one in shown:
        line = sparkline([moment.value_of(one.key) for moment in moments], course)
        row = [_STATUS[one.is_bad], _title(one, twice), "NaN" if one.value is None else f"{one.value:,.4g}", line]
        if width >= WIDE:
            row += [one.unit, _place(one, moments[-1].program_count)]
        rows.append(tuple(row))
    return Grid(tuple(rows), tuple(header))


def _title(one: Watched, twice: Container[str]) -> str:
    """Two beans have a partition-load-time-max: then the bean's type goes before the name."""
    bean_type = one.bean.partition("type=")[2].partition(",")[0].removesuffix("-metrics")
    return f"{bean_type} {one.name}" if one.name in twice else one.name


def _place(one: Watched, program_count: int) -> str:
    labels = ",".join(f"{key}={value}" for key, value in one.where)
    return " ".join(part for part in (labels, one.source if program_count > 1 else "") if part) or "-"
