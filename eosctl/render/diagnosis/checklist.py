"""Render checklists and the records of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from eosctl.findings.judged import Judged
from eosctl.model.checklist import AREA, Checklist, ChecklistRecord, ItemState, Signature, check_id
from eosctl.model.severity import Severity
from eosctl.render.envelope import Envelope, envelope
from eosctl.render.escaping import markdown_code, markdown_text
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.markdown import suppressed_lines
from eosctl.render.findings.report import FindingReport, Rule
from eosctl.render.findings.rows import cells_of, column_names
from eosctl.render.findings.sections import first_blocks, suppressed_blocks
from eosctl.render.findings.views import ActionView, SuppressedView, action_views, suppressed_views
from eosctl.render.formats import FindingFormat
from eosctl.render.listing import Column
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.templating import render_template

_TONES: Final = {"done": "green", "failed": "bold red", "open": "yellow", "not-applicable": "dim"}
_MARKS: Final = {"done": "x", "failed": "!", "open": " ", "not-applicable": "-"}


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
    """An item with its answer; ``who`` and ``at`` are empty until it is answered."""

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
    """The number of items in each state."""

    done: int
    failed: int
    open: int
    not_applicable: int


class RunView(Envelope, frozen=True):
    """A run as JSON and YAML show it."""

    checklist: str
    title: str
    purpose: str
    version: int
    cluster: str
    started_at: str
    counts: RunCounts
    items: tuple[RunItem, ...]
    signatures: tuple[Signature, ...]
    actions: tuple[ActionView, ...]
    suppressed: tuple[SuppressedView, ...]
    remarks: tuple[str, ...]


class Run(NamedTuple):
    """The input of a run's renderers."""

    command: str
    checklist: Checklist
    record: ChecklistRecord
    judged: Judged


def run_view(run: Run) -> RunView:
    """Return a run for machine formats."""
    items = tuple(_items(run))
    states = [item.state for item in items]
    return RunView(
        *envelope("checklist-run", run.command, run.judged.at_ms),
        checklist=run.checklist.id,
        title=run.checklist.title,
        purpose=run.checklist.purpose,
        version=run.checklist.version,
        cluster=run.record.cluster,
        started_at=run.record.started_at,
        counts=RunCounts(*(states.count(state.value) for state in ItemState)),
        items=items,
        signatures=run.record.signatures,
        actions=action_views(run.judged.actions),
        suppressed=suppressed_views(run.judged.diagnosis.suppressed),
        remarks=run.judged.diagnosis.remarks,
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


ITEM_COLUMNS: Final[tuple[Column[RunItem], ...]] = (
    Column("ID", lambda item: item.id),
    Column("KIND", lambda item: item.kind),
    Column("STATE", lambda item: item.state),
    Column("TITLE", lambda item: item.title),
    Column("EVIDENCE", lambda item: item.evidence),
    Column("WHO", lambda item: item.who),
    Column("AT", lambda item: item.at),
)


def render_run(run: Run, output: FindingFormat, style: Style = PLAIN, header: bool | None = None) -> str:
    """Render a run in any of its formats; ``header`` is that of `render_rows`."""
    view = run_view(run)
    diagnosis = run.judged.diagnosis
    parts = (*first_blocks(run.judged.actions), *suppressed_blocks(diagnosis))
    page = {"view": view, "head": _head(view), "signed": _signed, "diagnosis": diagnosis}
    shapes = Shapes(
        view=lambda: view,
        names=column_names(ITEM_COLUMNS),
        rows=lambda: cells_of(ITEM_COLUMNS, view.items),
        text=lambda _: render_page([*_blocks(view), *parts], style),
        report=lambda: _report(run),
        markdown=lambda: "\n".join([*_markdown(view), *suppressed_lines(diagnosis)]) + "\n",
        html=lambda: render_template("checklist.html.j2", **page),
    )
    return render_shapes(shapes, output, header)


def _report(run: Run) -> FindingReport:
    judged = run.judged
    return FindingReport(
        command=run.command,
        diagnosis=judged.diagnosis,
        generated_at_ms=judged.at_ms,
        groups=judged.groups,
        actions=judged.actions,
        rules=tuple(sorted(_rules(run.checklist))),
        metric_prefix="eosctl_checklist",
        is_graded=False,
        scope=run.record.cluster,
        about=(f"{run.checklist.title}.",),
    )


def _rules(checklist: Checklist) -> Iterator[Rule]:
    for item in checklist.items:
        name = "".join(word.capitalize() for word in item.id.replace("_", "-").split("-"))
        texts = (item.title, Severity.ERROR, item.why, f"{item.why}\n\n{item.fix}", (AREA,))
        yield Rule(check_id(checklist, item), name, *texts)


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
