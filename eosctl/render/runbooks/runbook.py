"""Runbooks and their runs, for people and for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from shlex import quote
from typing import Any, Final, NamedTuple

import msgspec

from eosctl.render.listing import Column
from eosctl.render.page import Block, Field, Line
from eosctl.render.wrapping import wrap
from eosctl.runbooks.book import Action, Assert, Confirm, Manual, Notify, Outcome, Probe, Runbook, Step, Wait
from eosctl.runbooks.changes import find_change
from eosctl.runbooks.journal import Entry
from eosctl.runbooks.scene import StepReport
from eosctl.text import time_text

_HOLE: Final = re.compile(r"\{\{\s*([^}]*?)\s*\}\}")


class ShowFormat(StrEnum):
    """How ``runbook show`` can draw."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    MERMAID = "mermaid"
    HTML = "html"


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
    return BookItem(book.id, book.title, book.symptoms, book.findings, tuple(book.inputs), tuple(changes))


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


def run_blocks(item: RunItem, connection: str) -> list[Block]:
    """Show how a run ended; ``connection`` is the options that reach its cluster, quoted for the shell."""
    blocks: list[Block] = [Line(f"{item.outcome.upper()}: {item.runbook}", "bold"), Field("cluster", item.cluster_id)]
    blocks.append(Field("at", item.step))
    blocks.append(Field("because", item.message))
    if item.journal:
        blocks.append(Field("journal", item.journal))
    if item.resumable:
        command = f"eosctl runbook run {quote(item.runbook)} --resume {quote(item.run)} --yes {connection}"
        blocks.append(Field("go on", command.rstrip()))
    if not item.acted:
        blocks.append(Line("Nothing was changed.", "bold"))
    return blocks


def show_blocks(book: Runbook, width: int | None = None) -> list[Block]:
    """Draw a runbook as a decision tree, wrapped within its branches to ``width`` columns."""
    blocks: list[Block] = [Line(f"{book.id}  {book.title}", "bold"), Line(" ".join(book.about.split())), Line("")]
    blocks += [
        Field("input", f"{name}: {spec.about}" + ("" if spec.default is None else f" (default {spec.default!r})"))
        for name, spec in book.inputs.items()
    ]
    if book.findings:
        blocks.append(Field("findings", ", ".join(book.findings)))
    blocks += [Field("never", text, "yellow") for text in book.never]
    blocks.append(Line(""))
    for twig in _tree(book):
        blocks += [Line(line) for line in twig.lines(width)]
    return blocks


def edges(book: Runbook, step: Step) -> tuple[tuple[str, str], ...]:
    """Return where a step leads, each with the condition (empty for the way that is taken otherwise)."""
    following = book.after(step)
    match step:
        case Probe(branch=branches):
            return (*((branch.when, branch.goto) for branch in branches), ("else" if branches else "", following))
        case Assert():
            return ((step.that, following), ("else", step.otherwise))
        case Wait():
            return ((step.until, following), (f"not within {step.within}", step.otherwise))
        case Notify():
            return ()
        case Manual():
            return (("when resumed", following),) if step.next else ()
        case _:
            return (("", following),)


def step_text(step: Step) -> str:
    """Tell a step in one line: its type, what it runs, what it says."""
    match step:
        case Probe() | Wait():
            what = f" {step.run}"
        case Action():
            kind = find_change(step.run)
            what = f" {step.run}, {kind.risk.value}, {'reversible' if kind.reversible else 'irreversible'}"
        case Confirm():
            what = f" by typing {step.expect}"
        case _:
            what = ""
    name = type(step).__name__.lower()
    # What is known only when it runs stands in angle brackets.
    text = f"{step.id} [{name}{what}] {' '.join(step.say.split())}"
    return _HOLE.sub(r"<\1>", text)


class _Twig(NamedTuple):
    """A line of the tree: ``margin`` before its first line, ``below`` before those that it is wrapped to."""

    margin: str
    below: str
    text: str

    def lines(self, width: int | None) -> list[str]:
        if width is None:
            return [self.margin + self.text]
        # However deep the tree, a few words stand on a line.
        room = max(width - len(self.below), 24)
        first, *rest = wrap(self.text, room)
        return [self.margin + first, *(self.below + line for line in rest)]


def _tree(book: Runbook) -> Iterator[_Twig]:
    seen: set[str] = set()

    def draw(target: str, condition: str, margin: str, branch: str) -> Iterator[_Twig]:
        lead = f"{condition}: " if condition else ""
        inner = margin + _under(branch)
        if target in set(Outcome):
            yield _Twig(margin + branch, inner, f"{lead}=> {target.upper()}")
            return
        if target in seen:
            yield _Twig(margin + branch, inner, f"{lead}-> {target} (above)")
            return
        seen.add(target)
        step = book.step(target)
        ways = edges(book, step)
        decides = len(ways) != 1 or bool(ways[0][0])
        yield _Twig(margin + branch, inner + ("│  " if decides and ways else "  "), f"{lead}{step_text(step)}")
        if not decides:
            # A step with one way on continues the line; only decisions indent.
            yield from draw(ways[0][1], "", inner, "")
            return
        for index, (when, goto) in enumerate(ways):
            yield from draw(goto, when, inner, "└─ " if index == len(ways) - 1 else "├─ ")

    yield from draw(book.steps[0].id, "", "", "")


def _under(branch: str) -> str:
    return {"": "", "├─ ": "│  "}.get(branch, "   ")
