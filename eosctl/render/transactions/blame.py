"""Who fenced whom, for people and programs."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.blame import Blame, BlameVerdict, Tenure
from eosctl.model.verdict import Evidence
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column
from eosctl.render.one import render_one
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.render.transactions.listing import PartitionItem
from eosctl.text import time_text


class TenureItem(msgspec.Struct, frozen=True):
    """The time in which one instance owned the id; ``began_at_ms`` is None when the log begins later."""

    producer_id: int
    first_epoch: int
    last_epoch: int
    timeout_ms: int
    began_at_ms: int | None
    ended_at_ms: int
    transaction_count: int
    partitions: tuple[PartitionItem, ...]
    client_id: str
    application: str
    file: str


class BlameItem(msgspec.Struct, frozen=True):
    """The end of one tenure; ``winner`` is None without a successor."""

    transactional_id: str
    cause: str
    confidence: str
    at_ms: int
    explanation: str
    advice: str
    loser: TenureItem
    winner: TenureItem | None
    evidence: tuple[Evidence, ...]


class MomentItem(msgspec.Struct, frozen=True):
    """One line of the timeline."""

    at_ms: int
    source: str
    actor: str
    what: str


class BlameView(Envelope, frozen=True):
    """The verdicts on one transactional id in their envelope, oldest first, with tenures and timeline."""

    transactional_id: str
    items: tuple[BlameItem, ...]
    tenures: tuple[TenureItem, ...]
    timeline: tuple[MomentItem, ...]


def blame_view(blame: Blame, command: str, generated_at_ms: int) -> BlameView:
    """Shape everything about one id."""
    return BlameView(
        *envelope("blame", command, generated_at_ms),
        transactional_id=blame.transactional_id,
        items=tuple(_item(blame.transactional_id, verdict) for verdict in blame.verdicts),
        tenures=tuple(tenure_item(tenure) for tenure in blame.tenures),
        timeline=tuple(MomentItem(m.at_ms, m.source, m.actor, m.what) for m in blame.timeline),
    )


def _item(transactional_id: str, verdict: BlameVerdict) -> BlameItem:
    return BlameItem(
        transactional_id=transactional_id,
        cause=verdict.cause.value,
        confidence=verdict.confidence.value,
        at_ms=verdict.at_ms,
        explanation=verdict.explanation,
        advice=verdict.advice,
        loser=tenure_item(verdict.loser),
        winner=None if verdict.winner is None else tenure_item(verdict.winner),
        evidence=verdict.evidence,
    )


def tenure_item(tenure: Tenure) -> TenureItem:
    """Shape one tenure."""
    return TenureItem(
        producer_id=tenure.producer_id,
        first_epoch=tenure.first_epoch,
        last_epoch=tenure.last_epoch,
        timeout_ms=tenure.timeout_ms,
        began_at_ms=tenure.began_at_ms,
        ended_at_ms=tenure.ended_at_ms,
        transaction_count=tenure.transaction_count,
        partitions=tuple(PartitionItem(p.topic, p.partition) for p in tenure.partitions),
        client_id=tenure.instance.client_id,
        application=tenure.instance.application,
        file=tenure.instance.file,
    )


BLAME_COLUMNS: Final[tuple[Column[BlameItem], ...]] = (
    Column("TIME", lambda item: time_text(item.at_ms)),
    Column("CAUSE", lambda item: item.cause),
    Column("CONFIDENCE", lambda item: item.confidence),
    Column("LOSER", lambda item: _identity(item.loser)),
    Column("WINNER", lambda item: "-" if item.winner is None else _identity(item.winner)),
    Column("EXPLANATION", lambda item: item.explanation),
)


def _identity(item: TenureItem) -> str:
    epochs = str(item.first_epoch) if item.first_epoch == item.last_epoch else f"{item.first_epoch}-{item.last_epoch}"
    name = item.client_id or item.application
    return f"{item.producer_id}/{epochs}" + (f" {name}" if name else "")


def render_blame(blame: Blame, last: int, now_ms: int, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render the history of one id; ``last`` is the number of timeline steps to show."""
    view = blame_view(blame, "txn blame", now_ms)
    rows = ([column.cell(item) for column in BLAME_COLUMNS] for item in view.items)
    return render_one(view, output, lambda: rows, lambda: _page(view, last, style))


def _page(view: BlameView, last: int, style: Style) -> str:
    """Render owners, verdicts (the newest first), and the last steps of the timeline as text."""
    blocks: list[Block] = [Line(view.transactional_id, "bold")]
    if view.tenures:
        rows = tuple(_tenure_row(tenure) for tenure in view.tenures)
        blocks.append(Grid(rows, ("OWNED-FROM", "PRODUCER-ID/EPOCH", "TRANSACTIONS", "TIMEOUT-MS", "TOPICS"), indent=2))
    if not view.items:
        blocks.append(Line("No producer took over the id within the period of the log."))
    for item in reversed(view.items):
        winner = "no successor" if item.winner is None else f"then {_identity(item.winner)}"
        blocks += [
            Line(""),
            Line(f"{time_text(item.at_ms)}  {item.cause} ({item.confidence})", "bold"),
            Field("who", f"{_identity(item.loser)}, {winner}"),
            Field("why", item.explanation),
            Field("change", item.advice),
            *(Field("evidence", f"{fact.name}: {fact.value} ({fact.source})") for fact in item.evidence),
        ]
    if view.timeline and last:
        shown = view.timeline[-last:]
        rows = tuple((time_text(m.at_ms), m.actor, m.what, m.source) for m in shown)
        blocks += [Line(""), Grid(rows, ("TIME", "WHO", "WHAT", "WHERE"), indent=2)]
    return render_page(blocks, style)


def _tenure_row(item: TenureItem) -> tuple[str, ...]:
    began = "before the log" if item.began_at_ms is None else time_text(item.began_at_ms)
    topics = sorted({partition.topic for partition in item.partitions})
    return (began, _identity(item), str(item.transaction_count), str(item.timeout_ms), ", ".join(topics) or "-")
