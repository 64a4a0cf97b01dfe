"""Open transactions for people: the table, then what to know and to do about each that asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.findings.bootstrap import marker_line, own_bootstrap_of
from eosctl.findings.impact import impact_text
from eosctl.model.hang import HangStatus, HangVerdict, OpenTransaction
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.envelope import listing
from eosctl.render.formats import FOR_PEOPLE, OutputFormat
from eosctl.render.listing import render_listing
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.transactions.listing import HANG_COLUMNS, hang_items
from eosctl.text import count_text, duration_text, time_text


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
    result = listing(
        "open-transactions", "txn hanging", now_ms, hang_items(verdicts, snapshot.captured_at_ms), snapshot
    )
    text = render_listing(result, HANG_COLUMNS, output, style, empty=empty, scope="" if verdicts else _read(snapshot))
    return text + _verdicts(verdicts, snapshot, style) if output in FOR_PEOPLE else text


def _read(snapshot: ClusterSnapshot) -> str:
    """Say what was read, since an empty cluster, such as a wrong one, has nothing that hangs either."""
    partitions, ids = len(snapshot.producers), len(snapshot.transactions)
    return f"Read: {count_text(partitions, 'partition')} and {count_text(ids, 'transactional id')}."


def _verdicts(verdicts: Sequence[HangVerdict], snapshot: ClusterSnapshot, style: Style) -> str:
    bootstrap = own_bootstrap_of(snapshot)
    blocks: list[Block] = []
    for verdict in verdicts:
        if verdict.status is not HangStatus.OPEN:
            blocks += [Line(""), *_blocks(verdict, bootstrap, snapshot.captured_at_ms)]
    return render_page(blocks, style)


def _blocks(verdict: HangVerdict, bootstrap: str, captured_at_ms: int) -> list[Block]:
    transaction = verdict.transaction
    sure = "" if verdict.confidence.value == "certain" else f" ({verdict.confidence.value})"
    blocks: list[Block] = [
        Line(f"{transaction.partition}, producer id {transaction.producer_id}: {verdict.status.value}{sure}", "bold"),
        Field("cause", verdict.explanation),
    ]
    open_for = _open_for(transaction, captured_at_ms)
    if open_for:
        blocks.append(Field("open", open_for))
    impact = impact_text(verdict)
    if impact:
        blocks.append(Field("impact", impact))
    command = marker_line(verdict, bootstrap)
    if command:
        blocks.append(Field("do", f"$ {command}", "bold"))
    if verdict.abort_refusal:
        blocks.append(Field("do not", f"abort it: {verdict.abort_refusal}"))
    return blocks


def _open_for(transaction: OpenTransaction, captured_at_ms: int) -> str:
    """Say for how long it has been open: by its coordinator, or else by its newest record."""
    if transaction.age_ms is not None:
        return f"For {duration_text(transaction.age_ms)}."
    idle_ms = transaction.idle_ms(captured_at_ms)
    if idle_ms is None:
        return ""
    newest = time_text(transaction.last_timestamp_ms)
    return f"For more than {duration_text(idle_ms)}: its newest record is of {newest}, by the producer's clock."
