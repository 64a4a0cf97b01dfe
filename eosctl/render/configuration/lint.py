"""A lint run in each of its formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.findings.linted import Linted
from eosctl.model.read_as import sentence
from eosctl.render.configuration.lint_report import lint_report
from eosctl.render.configuration.lint_view import LintItem, LintView, lint_view
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.sections import first_blocks, suppressed_blocks
from eosctl.render.formats import FindingFormat
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import count_text

_NAMES = ("file", "line", "id", "severity", "keys", "value", "message", "remedy")
FILES_NAMED = 20
_TONES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}


def render_lint(linted: Linted, output: FindingFormat, style: Style = PLAIN, *, header: bool | None = None) -> str:
    """Render a run in any of its formats; ``header`` is that of `render_rows`."""
    shapes = Shapes(
        view=lambda: lint_view(linted),
        names=_NAMES,
        rows=lambda: _rows(lint_view(linted)),
        text=lambda wide: render_page(_blocks(linted, wide=wide), style),
        report=lambda: lint_report(linted),
    )
    return render_shapes(shapes, output, header)


def _rows(view: LintView) -> Iterator[Sequence[str]]:
    """Yield a row for each finding, then one for each part of a file; ``read-as`` is the id of those."""
    yield from (_row(item) for item in view.items)
    for one in view.read_as:
        yield one.file, str(one.line), "read-as", "none", one.recognized_by, one.role, f"read as: {sentence(one)}", ""


def _row(item: LintItem) -> Sequence[str]:
    return (
        item.file,
        str(item.line),
        item.id,
        item.severity,
        ",".join(item.keys),
        item.value,
        item.message,
        item.remedy,
    )


def _blocks(linted: Linted, *, wide: bool) -> list[Block]:
    view = lint_view(linted)
    blocks: list[Block] = []
    for item in view.items:
        blocks.append(
            Line(f"{item.file}:{item.line}: {item.severity}: {item.message} [{item.id}]", _TONES[item.severity])
        )
        if item.cause:
            blocks.append(Field("cause", item.cause))
        if item.impact:
            blocks.append(Field("impact", item.impact))
        blocks.append(Field("do", item.remedy))
        if wide:
            blocks += [Field("keys", ", ".join(item.keys)), Field("sure", item.confidence), Field("role", item.role)]
        blocks.append(Line(""))
    if view.unresolved:
        blocks.append(Line("Not judged, as the files do not have the value:", "yellow"))
        blocks += [Line(f"  {one.file}:{one.line}: {one.key}={one.value}") for one in view.unresolved]
        blocks.append(Line(""))
    if view.unreadable:
        blocks.append(Line("Could not be read:", "red"))
        blocks += [Line(f"  {one.reason}") for one in view.unreadable]
        blocks.append(Line(""))
    if view.not_understood:
        blocks.append(Line("About Kafka, and not understood; no rule has judged them:", "yellow"))
        shown = view.not_understood if wide else view.not_understood[:FILES_NAMED]
        blocks += [Line(f"  {file}") for file in shown]
        hidden = len(view.not_understood) - len(shown)
        blocks += [Line(f"  and {count_text(hidden, 'other file')} (-o wide lists all)")] if hidden else []
        advice = "--role FILE=ROLE says what a file is. One with an unknown ending needs another, such as .properties."
        blocks += [Line(f"  {advice}"), Line("")]
    if view.unseen:
        blocks.append(Line("Read or included, and not among the files; no rule has judged them:", "yellow"))
        blocks += [Line(f"  {one.file}:{one.line}: {one.reads}") for one in view.unseen]
        blocks.append(Line(""))
    blocks += [Line(f"{one.file}: read as: {sentence(one)}", "dim") for one in view.read_as]
    marked = [*first_blocks(linted.actions), *suppressed_blocks(linted.diagnosis)]
    blocks += [*marked, Line("")] if marked else []
    counts = view.counts
    suppressed = f", {counts.suppressed} suppressed" if counts.suppressed else ""
    read = f"{count_text(counts.files, 'file')} ({counts.files_without_settings} without Kafka settings)"
    if not view.read_as:
        blocks.append(Line(f"Nothing was judged: no settings of Kafka were recognized in {read}."))
        return blocks
    if linted.is_unjudged:
        is_output = linted.is_tool_output
        what, then = ("the output of tools", " Run eosctl doctor.") if is_output else ("what was read", "")
        blocks.append(Line(f"Nothing was judged: no rule applies to {what} in {read}.{then}"))
        return blocks
    blocks.append(
        Line(
            f"{count_text(counts.findings, 'finding')}{suppressed} in {read}; rules: {counts.passed} passed, "
            f"{counts.failed} failed, {counts.skipped} skipped, {counts.not_applicable} not applicable."
        )
    )
    return blocks
