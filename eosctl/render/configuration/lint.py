"""A lint run in each of its formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.model.read_as import sentence
from eosctl.render.configuration.formats import LintFormat
from eosctl.render.configuration.github import render_annotations
from eosctl.render.configuration.lint_view import Linted, LintItem, LintView, lint_view
from eosctl.render.configuration.sarif import render_lint_sarif
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.markdown import render_lint_markdown
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.render.prometheus import render_lint_metrics

_TONES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}


def render_lint(linted: Linted, output: LintFormat, style: Style = PLAIN) -> str:
    """Render a run in any of its formats."""
    match output:
        case LintFormat.JSON:
            return render_json(lint_view(linted))
        case LintFormat.YAML:
            return render_yaml(lint_view(linted))
        case LintFormat.TSV:
            return render_tsv(_rows(lint_view(linted)))
        case LintFormat.SARIF:
            return render_lint_sarif(lint_view(linted))
        case LintFormat.GITHUB:
            return render_annotations(lint_view(linted))
        case LintFormat.MARKDOWN:
            return render_lint_markdown(lint_view(linted))
        case LintFormat.PROMETHEUS:
            return render_lint_metrics(lint_view(linted))
        case LintFormat.TABLE | LintFormat.WIDE:
            return render_page(_blocks(lint_view(linted), wide=output is LintFormat.WIDE), style)


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


def _blocks(view: LintView, *, wide: bool) -> list[Block]:
    blocks: list[Block] = []
    for item in view.items:
        blocks.append(
            Line(f"{item.file}:{item.line}: {item.severity}: {item.message} [{item.id}]", _TONES[item.severity])
        )
        if item.impact:
            blocks.append(Field("impact", item.impact))
        blocks.append(Field("do", item.remedy))
        if wide:
            blocks += [Field("keys", ", ".join(item.keys)), Field("sure", item.confidence), Field("role", item.role)]
        blocks.append(Line(""))
    if view.unresolved:
        blocks.append(Line("Not judged, as the value lies outside of the files:", "yellow"))
        blocks += [Line(f"  {one.file}:{one.line}: {one.key}={one.value}") for one in view.unresolved]
        blocks.append(Line(""))
    if view.unreadable:
        blocks.append(Line("Could not be read:", "red"))
        blocks += [Line(f"  {one.reason}") for one in view.unreadable]
        blocks.append(Line(""))
    blocks += [Line(f"{one.file}: read as: {sentence(one)}", "dim") for one in view.read_as]
    counts = view.counts
    noun = "file" if counts.files == 1 else "files"
    blocks.append(
        Line(
            f"{counts.findings} findings in {counts.files} {noun} ({counts.files_without_settings} without Kafka "
            f"settings); rules: {counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped, "
            f"{counts.not_applicable} not applicable."
        )
    )
    return blocks
