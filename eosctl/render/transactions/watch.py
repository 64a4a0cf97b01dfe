"""One frame of ``txn watch``: counts with their recent course, and the open transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from eosctl.model.transaction_life import Moment, WatchedTransaction
from eosctl.render.formats import OutputFormat
from eosctl.render.live import row_count
from eosctl.render.machine import render_json_line
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.listing import age_text
from eosctl.text import count_text, duration_text, time_text

_BARS: Final = "▁▂▃▄▅▆▇█"
SPARK_WIDTH: Final = 30
_HEAD_LINES: Final = 9
_ROWS_WITHOUT_TERMINAL: Final = 20


class WatchItem(msgspec.Struct, frozen=True):
    """One moment as a line of JSON."""

    at: str
    transactional_id_count: int
    open_count: int
    unowned_open_count: int
    hidden_offsets: int
    oldest_age_ms: int | None
    evidence_gap_count: int
    transactions: tuple[dict[str, Any], ...]


def watch_item(moment: Moment) -> WatchItem:
    """Shape a moment."""
    return WatchItem(
        at=time_text(moment.at_ms),
        transactional_id_count=moment.id_count,
        open_count=len(moment.transactions),
        unowned_open_count=moment.unowned_count,
        hidden_offsets=moment.hidden_offsets,
        oldest_age_ms=max((t.age_ms for t in moment.transactions if t.age_ms is not None), default=None),
        evidence_gap_count=moment.gap_count,
        transactions=tuple(
            {
                "transactional_id": t.transactional_id,
                "state": t.state,
                "producer_id": t.producer_id,
                "producer_epoch": t.producer_epoch,
                "age_ms": t.age_ms,
                "idle_ms": t.idle_ms,
                "timeout_ms": t.timeout_ms,
                "partitions": [str(partition) for partition in t.partitions],
                "hidden_offsets": t.hidden_offsets,
                "groups": list(t.groups),
                "status": t.status,
            }
            for t in moment.transactions
        ),
    )


def sparkline(values: Sequence[float | None], width: int = SPARK_WIDTH) -> str:
    """Draw the last values as bars, from zero to the largest of them; a blank where there was no value.

    >>> sparkline([0, 1, 2, None, 4, 8])
    '▁▁▂ ▄█'
    """
    shown = values[-width:]
    most = max((value for value in shown if value is not None), default=0)
    return "".join(" " if value is None else _bar(value, most) for value in shown)


def _bar(value: float, most: float) -> str:
    return _BARS[max(0, int(value * (len(_BARS) - 1) / most))] if most > 0 else _BARS[0]


def render_look(moments: Sequence[Moment], output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the newest of some moments: a line of JSON, or a frame that fits the terminal."""
    if output is OutputFormat.JSON:
        return render_json_line(watch_item(moments[-1]))
    return render_frame(moments, row_count(_HEAD_LINES, _ROWS_WITHOUT_TERMINAL), style)


def render_frame(moments: Sequence[Moment], rows: int, style: Style = PLAIN) -> str:
    """Render the newest of some moments, with the course of all of them.

    Args:
        moments: Oldest first; at least one.
        rows: How many transactions to show at most.
        style: Width and color.
    """
    now = moments[-1]
    opens, hidden = [len(m.transactions) for m in moments], [m.hidden_offsets for m in moments]
    blocks: list[Block] = [
        Line(f"{time_text(now.at_ms)}  {count_text(now.id_count, 'transactional id')}", "bold"),
        Field("open", f"{opens[-1]:>8}  {sparkline(opens)}"),
        Field("LSO lag", f"{hidden[-1]:>8}  {sparkline(hidden)}  offsets that read_committed does not see"),
    ]
    if now.unowned_count:
        text = f"{now.unowned_count:>8}  open on leaders, in no coordinator: eosctl txn hanging"
        blocks.append(Field("unowned", text, "yellow"))
    if now.gap_count:
        blocks.append(Field("gaps", f"{now.gap_count:>8}  not everything answered: eosctl txn list", "yellow"))
    shown = now.transactions[:rows]
    if shown:
        course = {_key(t): sparkline([_hidden_of(m, t) for m in moments], 12) for t in shown}
        table = tuple(
            (
                t.transactional_id or f"(producer id {t.producer_id})",
                t.state or "-",
                age_text(t.age_ms, t.idle_ms),
                duration_text(t.timeout_ms) if t.timeout_ms > 0 else "-",
                str(len(t.partitions)),
                f"{t.hidden_offsets} {course[_key(t)]}",
                t.status,
            )
            for t in shown
        )
        blocks.append(Grid(table, ("TRANSACTIONAL-ID", "STATE", "AGE", "TIMEOUT", "PARTITIONS", "LSO-LAG", "STATUS")))
    if len(now.transactions) > len(shown):
        blocks.append(Line(f"and {len(now.transactions) - len(shown)} more"))
    return render_page(blocks, style._replace(fold=True))


def _key(one: WatchedTransaction) -> tuple[int, int | None]:
    return one.producer_id, one.first_offset


def _hidden_of(moment: Moment, one: WatchedTransaction) -> int:
    return next((t.hidden_offsets for t in moment.transactions if _key(t) == _key(one)), 0)
