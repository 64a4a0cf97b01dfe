"""What linting configuration files found: its machine-readable shape, and its page for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from eosctl.analysis.read_as import ReadAs, sentence
from eosctl.analysis.wording import time_text
from eosctl.checks.configuration.judge import Undecided, findings_of
from eosctl.model.finding import CheckResult, CheckStatus, Finding
from eosctl.render.configuration.formats import LintFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.settings.deployment_files import Unreadable
from eosctl.settings.sources import shown

SCHEMA = "eosctl.config-lint"
_TONES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}


class Linted(NamedTuple):
    """Everything that a lint run has to tell."""

    results: tuple[CheckResult, ...]
    undecided: tuple[Undecided, ...]
    unreadable: tuple[Unreadable, ...]
    read: tuple[str, ...]
    without_settings: tuple[str, ...]
    generated_at_ms: int
    read_as: tuple[ReadAs, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings by file and line."""
        return findings_of(self.results)


class LintItem(msgspec.Struct, frozen=True):
    """One finding: ``keys`` are the settings of the relation, ``value`` that of the first; secrets are masked."""

    id: str
    severity: str
    title: str
    file: str
    line: int
    keys: tuple[str, ...]
    value: str
    message: str
    impact: str
    remedy: str
    confidence: str
    role: str
    fingerprint: str


class UndecidedItem(msgspec.Struct, frozen=True):
    """A setting that was not judged, as its value lies outside of the files."""

    file: str
    line: int
    key: str
    value: str


class UnreadableItem(msgspec.Struct, frozen=True):
    """A file that could not be read, with the reason."""

    file: str
    reason: str


class LintCounts(msgspec.Struct, frozen=True):
    """How many files were read, and how many rules ended how."""

    files: int
    files_without_settings: int
    passed: int
    failed: int
    skipped: int
    not_applicable: int
    findings: int


class LintView(msgspec.Struct, frozen=True):
    """The whole run as JSON and YAML show it; ``read_as`` is what each file was taken for."""

    schema: str
    schema_version: int
    command: str
    generated_at: str
    counts: LintCounts
    read_as: tuple[ReadAs, ...]
    items: tuple[LintItem, ...]
    unresolved: tuple[UndecidedItem, ...]
    unreadable: tuple[UnreadableItem, ...]


def lint_view(linted: Linted) -> LintView:
    """Shape a run for machines."""
    tally = {status: sum(1 for result in linted.results if result.status is status) for status in CheckStatus}
    items = tuple(lint_item(finding) for finding in linted.findings)
    return LintView(
        schema=SCHEMA,
        schema_version=1,
        command="config lint",
        generated_at=time_text(linted.generated_at_ms),
        counts=LintCounts(
            len(linted.read),
            len(linted.without_settings),
            tally[CheckStatus.PASSED],
            tally[CheckStatus.FAILED],
            tally[CheckStatus.SKIPPED],
            tally[CheckStatus.NOT_APPLICABLE],
            len(items),
        ),
        read_as=linted.read_as,
        items=items,
        unresolved=tuple(_undecided_item(one) for one in linted.undecided),
        unreadable=tuple(UnreadableItem(one.file, one.error.what) for one in linted.unreadable),
    )


def lint_item(finding: Finding) -> LintItem:
    """Shape one finding."""
    facts = dict(finding.facts)
    keys = tuple(str(facts["keys"]).split(","))
    return LintItem(
        id=finding.check_id,
        severity=finding.severity.value,
        title=finding.title,
        file=str(facts["file"]),
        line=int(facts["line"]),
        keys=keys,
        value=shown(keys[0], str(facts["value"])),
        message=finding.message,
        impact=finding.impact,
        remedy=" ".join(finding.remedy),
        confidence=finding.confidence.value,
        role=str(facts["role"]),
        fingerprint=finding.fingerprint,
    )


def _undecided_item(one: Undecided) -> UndecidedItem:
    value, place = one.value, one.value.place or one.component.place
    return UndecidedItem(place.file, place.line, value.key, shown(value.key, value.text))


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
            from eosctl.render.configuration.sarif import render_lint_sarif

            return render_lint_sarif(lint_view(linted))
        case LintFormat.GITHUB:
            from eosctl.render.configuration.github import render_annotations

            return render_annotations(lint_view(linted))
        case LintFormat.MARKDOWN:
            from eosctl.render.markdown import render_lint_markdown

            return render_lint_markdown(lint_view(linted))
        case LintFormat.PROMETHEUS:
            from eosctl.render.prometheus import render_lint_metrics

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
