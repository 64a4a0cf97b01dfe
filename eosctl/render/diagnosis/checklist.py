"""Checklists and the records of runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from eosctl.model.checklist import Checklist, ChecklistRecord, ItemState, Signature
from eosctl.render.escaping import html_text, markdown_code, markdown_text
from eosctl.render.listing import Column
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page

_TONES: Final = {"done": "green", "failed": "bold red", "open": "yellow", "not-applicable": "dim"}
_MARKS: Final = {"done": "x", "failed": "!", "open": " ", "not-applicable": "-"}


class ChecklistFormat(StrEnum):
    """What ``-o`` accepts for a run."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    MARKDOWN = "markdown"
    HTML = "html"


class ChecklistSummary(msgspec.Struct, frozen=True):
    """A checklist in a list of them."""

    id: str
    title: str
    purpose: str
    version: int
    automatic: int
    measured: int
    manual: int


SUMMARY_COLUMNS: Final[tuple[Column[ChecklistSummary], ...]] = (
    Column("ID", lambda one: one.id),
    Column("ITEMS", lambda one: str(one.automatic + one.measured + one.manual)),
    Column("AUTOMATIC", lambda one: str(one.automatic)),
    Column("TITLE", lambda one: one.title),
    Column("PURPOSE", lambda one: one.purpose, wide=True),
)


def checklist_summary(checklist: Checklist) -> ChecklistSummary:
    """Shape one checklist."""
    kinds = [item.kind.value for item in checklist.items]
    counts = {kind: kinds.count(kind) for kind in ("automatic", "measured", "manual")}
    return ChecklistSummary(checklist.id, checklist.title, checklist.purpose, checklist.version, **counts)


class RunItem(msgspec.Struct, frozen=True):
    """An item with its answer; ``who`` and ``at`` are empty while nobody has answered."""

    id: str
    kind: str
    title: str
    state: str
    evidence: str
    who: str
    at: str
    why: str
    fix: str
    checks: tuple[str, ...]
    limit: str


class RunCounts(msgspec.Struct, frozen=True):
    """How many items are in which state."""

    done: int
    failed: int
    open: int
    not_applicable: int


class RunView(msgspec.Struct, frozen=True):
    """A run as JSON and YAML show it."""

    schema: str
    schema_version: int
    command: str
    generated_at: str
    checklist: str
    title: str
    purpose: str
    version: int
    cluster: str
    started_at: str
    counts: RunCounts
    items: tuple[RunItem, ...]
    signatures: tuple[Signature, ...]


class Run(NamedTuple):
    """What the renderers of a run are given."""

    command: str
    checklist: Checklist
    record: ChecklistRecord
    generated_at: str


def run_view(run: Run) -> RunView:
    """Shape a run for machines."""
    items = tuple(_items(run))
    states = [item.state for item in items]
    return RunView(
        schema="eosctl.checklist-run",
        schema_version=1,
        command=run.command,
        generated_at=run.generated_at,
        checklist=run.checklist.id,
        title=run.checklist.title,
        purpose=run.checklist.purpose,
        version=run.checklist.version,
        cluster=run.record.cluster,
        started_at=run.record.started_at,
        counts=RunCounts(*(states.count(state.value) for state in ItemState)),
        items=items,
        signatures=run.record.signatures,
    )


def _items(run: Run) -> Iterator[RunItem]:
    for item in run.checklist.items:
        answer = run.record.answer(item.id)
        yield RunItem(
            id=item.id,
            kind=item.kind.value,
            title=item.title,
            state=ItemState.OPEN.value if answer is None else answer.state.value,
            evidence="" if answer is None else answer.evidence,
            who="" if answer is None else answer.who,
            at="" if answer is None else answer.at,
            why=item.why,
            fix=item.fix,
            checks=(*item.checks, *item.also),
            limit="" if item.limit is None else str(item.limit),
        )


def render_run(run: Run, output: ChecklistFormat, style: Style = PLAIN) -> str:
    """Render a run in any of its formats."""
    view = run_view(run)
    match output:
        case ChecklistFormat.JSON:
            return render_json(view)
        case ChecklistFormat.YAML:
            return render_yaml(view)
        case ChecklistFormat.TSV:
            return render_tsv((i.id, i.kind, i.state, i.title, i.evidence, i.who, i.at) for i in view.items)
        case ChecklistFormat.MARKDOWN:
            return "\n".join(_markdown(view)) + "\n"
        case ChecklistFormat.HTML:
            return _html(view)
        case ChecklistFormat.TABLE:
            return render_page(list(_blocks(view)), style)


def _head(view: RunView) -> str:
    counts = view.counts
    return f"{counts.done} done, {counts.failed} failed, {counts.open} open, {counts.not_applicable} not applicable"


def _signed(one: Signature) -> str:
    return f"{one.who}, {one.at}{f': {one.note}' if one.note else ''}"


def _blocks(view: RunView) -> Iterator[Block]:
    yield Line(f"{view.title}: {_head(view)}.", "bold")
    yield Line(f"{view.purpose} Cluster {view.cluster or 'none'}, begun {view.started_at}.", "dim")
    for item in view.items:
        yield Line("")
        limit = f" ({item.limit})" if item.limit else ""
        yield Line(f"[{_MARKS[item.state]}] {item.id}  {item.title}{limit}  {item.state}", _TONES[item.state])
        if item.evidence:
            yield Field("evidence", item.evidence)
        if item.who:
            yield Field("by", f"{item.who}, {item.at}")
        if item.state in ("open", "failed"):
            yield Field("why", item.why)
            yield Field("do", item.fix)
            yield Field("answer", _how(item))
    for one in view.signatures:
        yield Line("")
        yield Line(f"SIGNED  {_signed(one)}", "bold green")


def _how(item: RunItem) -> str:
    match item.kind:
        case "automatic":
            return f"by {', '.join(item.checks)}, with a cluster, a snapshot or configuration files"
        case "measured":
            return f"--measure {item.id}=NUMBER"
        case _:
            return f"--answer '{item.id}=yes: NOTE', no or n/a"


def _markdown(view: RunView) -> Iterator[str]:
    yield f"# {markdown_text(view.title)}"
    yield from ("", f"{markdown_text(view.purpose)} {_head(view)}.")
    yield f"Cluster {markdown_text(view.cluster or 'none')}, begun {view.started_at}."
    yield from ("", "| State | Item | Evidence | By |", "|---|---|---|---|")
    for item in view.items:
        by = f"{item.who}, {item.at}" if item.who else ""
        limit = f" ({item.limit})" if item.limit else ""
        cells = (item.state, f"{item.title}{limit}", item.evidence, by)
        yield f"| {' | '.join(markdown_text(cell) for cell in cells)} |"
    left = [item for item in view.items if item.state in ("open", "failed")]
    if left:
        yield from ("", "## To do", "")
    for item in left:
        yield f"- **{item.id}**: {markdown_text(item.fix)} {markdown_text(item.why)}"
    if view.signatures:
        yield from ("", "## Signed", "")
    for one in view.signatures:
        yield f"- {markdown_text(_signed(one))} ({markdown_code(one.digest)})"


def _html(view: RunView) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("eosctl.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    page: str = environment.get_template("checklist.html.j2").render(view=view, head=_head(view), signed=_signed)
    return html_text(page)
