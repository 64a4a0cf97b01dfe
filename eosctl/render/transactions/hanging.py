"""Open transactions for people: the table, then what to know and to do about each that asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.analysis.bootstrap import abort_line
from eosctl.checks.impact import impact_text
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page


def render_verdicts(verdicts: Sequence[HangVerdict], bootstrap: str, style: Style = PLAIN) -> str:
    """Render cause, impact and next command of every verdict that is not simply open."""
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
    if verdict.can_abort:
        blocks.append(Field("do", f"$ {abort_line(transaction, bootstrap)}", "bold"))
    elif verdict.abort_refusal:
        blocks.append(Field("do not", f"abort it: {verdict.abort_refusal}"))
    return blocks
