"""Open transactions for people: the table, then what to know and to do about each that asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.findings.bootstrap import bootstrap_of, marker_line
from eosctl.findings.impact import impact_text
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import render_listing
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.transactions.listing import HANG_COLUMNS, hang_items


def render_hanging(
    snapshot: ClusterSnapshot,
    verdicts: Sequence[HangVerdict],
    now_ms: int,
    output: OutputFormat,
    style: Style = PLAIN,
    *,
    empty: str,
) -> str:
    """Render a list of open transactions; for people also cause, impact and next command of what is not simply open."""
    result = listing("open-transactions", "txn hanging", now_ms, hang_items(verdicts), snapshot)
    text = render_listing(result, HANG_COLUMNS, output, style, empty=empty)
    return text + _verdicts(verdicts, bootstrap_of(snapshot), style) if output in FOR_PEOPLE else text


def _verdicts(verdicts: Sequence[HangVerdict], bootstrap: str, style: Style) -> str:
    blocks: list[Block] = []
    for verdict in verdicts:
        if verdict.status is not HangStatus.OPEN:
            blocks += [Line(""), *_blocks(verdict, bootstrap)]
    return render_page(blocks, style)


def _blocks(verdict: HangVerdict, bootstrap: str) -> list[Block]:
    transaction = verdict.transaction
    sure = "" if verdict.confidence.value == "certain" else f" ({verdict.confidence.value})"
    blocks: list[Block] = [
        Line(f"{transaction.partition}, producer id {transaction.producer_id}: {verdict.status.value}{sure}", "bold"),
        Field("cause", verdict.explanation),
    ]
    impact = impact_text(verdict)
    if impact:
        blocks.append(Field("impact", impact))
    command = marker_line(verdict, bootstrap)
    if command:
        blocks.append(Field("do", f"$ {command}", "bold"))
    if verdict.abort_refusal:
        blocks.append(Field("do not", f"abort it: {verdict.abort_refusal}"))
    return blocks
