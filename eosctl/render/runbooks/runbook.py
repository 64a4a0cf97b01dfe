"""Runbooks and their runs, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any, Final

import msgspec

from eosctl.model.runbook import Action, Outcome, Runbook
from eosctl.model.runbook_run import Entry, RunResult, StepReport
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import time_text


class BookItem(msgspec.Struct, frozen=True):
    """A runbook of the library."""

    id: str
    title: str
    symptoms: tuple[str, ...]
    findings: tuple[str, ...]
    inputs: tuple[str, ...]
    changes: tuple[str, ...]


class ToldItem(msgspec.Struct, frozen=True):
    """One thing that a run said."""

    step: str
    type: str
    text: str
    detail: str


class RunItem(msgspec.Struct, frozen=True):
    """How a run ended; ``journal`` and ``run`` are empty for a dry run."""

    runbook: str
    run: str
    cluster_id: str
    outcome: str
    step: str
    message: str
    acted: bool
    resumable: bool
    journal: str
    steps: tuple[ToldItem, ...]


class JournalItem(msgspec.Struct, frozen=True):
    """A run that has a journal, or, of one run, an event of it."""

    run: str
    time: str
    event: str
    step: str
    data: dict[str, Any]


BOOK_COLUMNS: Final = (
    Column[BookItem]("RUNBOOK", lambda item: item.id),
    Column[BookItem]("TITLE", lambda item: item.title),
    Column[BookItem]("CHANGES", lambda item: ", ".join(item.changes) or "nothing"),
    Column[BookItem]("INPUTS", lambda item: ", ".join(item.inputs), wide=True),
    Column[BookItem]("FINDINGS", lambda item: ", ".join(item.findings), wide=True),
)
JOURNAL_COLUMNS: Final = (
    Column[JournalItem]("RUN", lambda item: item.run),
    Column[JournalItem]("TIME", lambda item: item.time),
    Column[JournalItem]("EVENT", lambda item: item.event),
    Column[JournalItem]("STEP", lambda item: item.step),
    Column[JournalItem](
        "DATA", lambda item: ", ".join(f"{key}={value}" for key, value in item.data.items()), wide=True
    ),
)


def book_item(book: Runbook) -> BookItem:
    """Shape a runbook for the list."""
    changes = dict.fromkeys(step.run for step in book.steps if isinstance(step, Action))
    return BookItem(
        id=book.id,
        title=book.title,
        symptoms=book.symptoms,
        findings=book.findings,
        inputs=tuple(book.inputs),
        changes=tuple(changes),
    )


def journal_items(run: str, entries: Sequence[Entry]) -> tuple[JournalItem, ...]:
    """Shape the events of a run."""
    return tuple(JournalItem(run, time_text(e.time_ms), e.event, e.step, e.data) for e in entries)


def step_item(report: StepReport) -> ToldItem:
    """Shape what a run said."""
    return ToldItem(report.step, report.kind, report.text, report.detail)


def report_text(report: StepReport) -> str:
    """Write what a run says as it goes."""
    detail = f"\n{'':12}{report.detail}" if report.detail and report.kind != "end" else ""
    return f"{report.kind:<10}  {report.text}{detail}" if report.kind != "end" else ""


def run_item(ended: RunResult) -> RunItem:
    """Shape a run that is over."""
    fields = ended._asdict() | {"outcome": ended.outcome.value}
    reports, _ = fields.pop("reports"), fields.pop("lacked_right")
    return RunItem(**fields, steps=tuple(map(step_item, reports)))


def render_run(ended: RunResult, connection: str, now_ms: int, output: OutputFormat, style: Style = PLAIN) -> str:
    """Render how a run ended; ``connection`` is the options that reach its cluster, quoted for the shell."""
    item = run_item(ended)
    match output:
        case OutputFormat.JSON:
            return render_json(listing("runbook-run", "runbook run", now_ms, (item,)))
        case OutputFormat.YAML:
            return render_yaml(listing("runbook-run", "runbook run", now_ms, (item,)))
        case OutputFormat.TSV:
            return render_tsv([[item.runbook, item.run, item.outcome, item.step, item.message]])
        case _:
            return render_page(run_blocks(item, connection), style)


def _needs_journal(item: RunItem) -> bool:
    """Return whether the next step is manual, and the run has no journal with which it could be resumed."""
    return item.outcome == Outcome.MANUAL and not item.journal


def run_blocks(item: RunItem, connection: str) -> list[Block]:
    """Show how a run ended; ``connection`` is the options that reach its cluster, quoted for the shell."""
    blocks: list[Block] = [Line(f"{item.outcome.upper()}: {item.runbook}", "bold"), Field("cluster", item.cluster_id)]
    blocks.append(Field("at", item.step))
    blocks.append(Field("because", item.message))
    if item.journal:
        blocks.append(Field("journal", item.journal))
    if item.resumable:
        command = f"eosctl runbook run {quote(item.runbook)} --resume {quote(item.run)} --yes {connection}"
        blocks.append(Field("resume", command.rstrip()))
    if not item.acted:
        hint = " A dry run cannot be resumed: start it again with --yes." if _needs_journal(item) else ""
        blocks.append(Line(f"Nothing was changed.{hint}", "bold"))
    return blocks
