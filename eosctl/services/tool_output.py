"""What Kafka's own tools printed, as evidence: files for a diagnosis, and text that was pasted."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.checks.declaration import Case, Check
from eosctl.checks.files_with_cluster import masked
from eosctl.checks.judge import judge
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose as run_checks
from eosctl.collect.printed.evidence import PrintedEvidence, ToolOutput, is_tool_output, read_printed
from eosctl.collect.printed.lines import line_about
from eosctl.errors import ConfigFileError
from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.model.evidence import EvidenceKind
from eosctl.model.read_as import TOOL_OUTPUT, ReadAs
from eosctl.model.severity import Severity
from eosctl.services.printed_components import OUTPUTS_OF_SETTINGS, printed_components, printed_rules
from eosctl.settings.files.file_texts import read_text
from eosctl.settings.files.files_read import FilesRead
from eosctl.settings.programs.unread_lines import lines_not_read
from eosctl.settings.releases.named_releases import release_in_text

_ENDINGS: Final = (".txt", ".out")
_OF_SETTINGS: Final = frozenset({EvidenceKind.BROKER_CONFIGS, EvidenceKind.TOPIC_CONFIGS})
_LASTING: Final = frozenset({EvidenceKind.FEATURES, EvidenceKind.PRODUCERS})
"""What does not change by itself: features, and the transaction of a producer that is gone."""
_SERIOUS: Final = (Severity.CRITICAL, Severity.ERROR, Severity.WARNING)


class PrintedVerdict(NamedTuple):
    """What the checks of clusters find in outputs, and what these were read as."""

    results: tuple[CheckResult, ...]
    checks: tuple[Check, ...]
    read_as: tuple[ReadAs, ...]


class SortedPaths(NamedTuple):
    """Paths without the files that Kafka's tools printed, and what those show together.

    ``notes`` are lines of other texts in folders that set what exactly-once depends on: no rule judges them.
    ``releases`` are those of brokers that texts show, each behind its file.
    """

    others: tuple[Path, ...]
    printed: PrintedEvidence
    texts: Mapping[str, str]
    notes: tuple[str, ...] = ()
    releases: tuple[tuple[str, str], ...] = ()


def sort_paths(paths: Sequence[Path], now_ms: int, replaced: Mapping[str, str] | None = None) -> SortedPaths:
    """Take the output of Kafka's tools out of paths: files that are named, and .txt and .out files of folders.

    Args:
        paths: Files and folders.
        now_ms: The time of the evidence where the outputs do not show theirs, in milliseconds since the epoch.
        replaced: Texts that replace the contents of files, by path.
    """
    found = {path: _text(path, replaced or {}) for path in _candidates(paths, replaced or {})}
    texts = {str(path): text for path, text in found.items() if is_tool_output(text)}
    named = {path for path in paths if not path.is_dir()}
    notes = tuple(
        f"{path}:{line}"
        for path, text in found.items()
        if path not in named and str(path) not in texts
        for line in lines_not_read(text, ())[:1]
    )
    others = tuple(path for path in paths if path.is_dir() or str(path) not in texts)
    releases = tuple((str(path), shown) for path, text in found.items() if (shown := release_in_text(path.name, text)))
    return SortedPaths(others, read_printed(texts, now_ms), texts, notes, releases)


def judge_text(text: str, now_ms: int) -> tuple[tuple[Finding, ...], tuple[ToolOutput, ...]]:
    """Return the findings in a pasted text, and the outputs of Kafka's tools in it."""
    texts = {"the text": text}
    printed = read_printed(texts, now_ms)
    if printed.snapshot is None:
        return (), printed.outputs
    checks = tuple(check for check in ALL_CHECKS if check.needs and check.needs <= printed.snapshot.collected)
    found = run_checks(checks, Case(printed.snapshot)).findings
    settings = judge(Deployment(printed_components(printed, texts), load_tables()))
    return (*found, *(finding for result in settings for finding in masked(result).findings)), printed.outputs


def judge_printed(printed: PrintedEvidence, texts: Mapping[str, str]) -> PrintedVerdict:
    """Judge the cluster's state that outputs show, with the file and line of each finding.

    The rules of configurations judge the settings in them. Information about a state that may have passed since is left
    to a diagnosis.

    Args:
        printed: The outputs.
        texts: The text of each file with output.
    """
    shown = [one for one in printed.outputs if one.is_evidence]
    if printed.snapshot is None or not shown:
        return PrintedVerdict((), (), ())
    case = Case(printed.snapshot)
    checks = tuple(
        check for check in ALL_CHECKS if check.needs <= printed.snapshot.collected and not check.needs <= _OF_SETTINGS
    )
    lasting = {check.id for check in checks if check.needs <= _LASTING}
    shown_findings = (
        replace(
            result,
            findings=tuple(
                _placed(finding, shown, texts)
                for finding in result.findings
                if finding.severity in _SERIOUS or finding.check_id in lasting
            ),
        )
        for result in run_checks(checks, case).results
    )
    results = tuple(one for one in shown_findings if one.findings or one.status is CheckStatus.PASSED)
    failed = {result.check_id for result in results}
    return PrintedVerdict(
        results,
        tuple(check for check in checks if check.id in failed),
        tuple(
            ReadAs(
                file=one.file,
                line=one.line,
                role=TOOL_OUTPUT,
                title=f"output of {one.tool}",
                recognized_by=one.tool,
                software="",
                release="",
                is_release_assumed=False,
            )
            for one in shown
            if one.tool not in OUTPUTS_OF_SETTINGS
        ),
    )


def _placed(finding: Finding, outputs: Sequence[ToolOutput], texts: Mapping[str, str]) -> Finding:
    """Return a finding with the line that prints most of what it names, or the first line of the outputs."""
    subject = finding.resource.name
    file, line = line_about(subject, finding.message, outputs, texts) or (outputs[0].file, outputs[0].line)
    facts = {
        **dict(finding.facts),
        "file": file,
        "line": line,
        "keys": finding.resource.kind,
        "value": subject,
        "role": "tool-output",
    }
    return replace(finding, facts=tuple(facts.items()), files=(file,))


def reading_of(printed: PrintedEvidence) -> str:
    """Return which outputs were read, in words; empty without any."""
    return "; ".join(f"{one.file}:{one.line} is the output of {one.tool}" for one in printed.outputs if one.is_evidence)


def without_evidence(printed: PrintedEvidence) -> tuple[str, ...]:
    """Return a sentence for each output that no check judges."""
    return tuple(
        f"{one.file}:{one.line} is the output of {one.tool}: no check judges it. "
        f"Find a runbook for it: eosctl diagnose {shlex.quote(one.file)}"
        for one in printed.outputs
        if not one.is_evidence
    )


def with_printed(files: FilesRead, printed: PrintedEvidence, texts: Mapping[str, str]) -> FilesRead:
    """Return what files configure, with the brokers and topics that kafka-configs.sh and kafka-topics.sh printed.

    A file with output that no check judges is one that was not understood.

    Args:
        files: What was read otherwise.
        printed: The outputs.
        texts: The text of each file with output.
    """
    others = dict.fromkeys(one.file for one in printed.outputs if not one.is_evidence)
    read = (*files.read, *dict.fromkeys(one.file for one in printed.outputs))
    components = (
        *printed_components(printed, texts),
        *(printed_rules(printed, texts) if files.deployment.components else ()),
    )
    deployment = files.deployment.joined_by(components)
    return files._replace(deployment=deployment, read=read, not_understood=(*files.not_understood, *others))


def with_settings(files: FilesRead | None, printed: PrintedEvidence, texts: Mapping[str, str]) -> FilesRead | None:
    """Return what files configure with the settings that Kafka's tools printed, for a diagnosis of the outputs.

    Args:
        files: What was read otherwise; None if no other file was named.
        printed: The outputs.
        texts: The text of each file with output.

    Returns:
        The files; `files` itself if the outputs show no setting.
    """
    components = printed_components(printed, texts)
    if not components:
        return files
    before = FilesRead(Deployment((), load_tables()), (), (), ()) if files is None else files
    deployment = before.deployment.joined_by(components)
    read = dict.fromkeys((*before.read, *(one.place.file for one in components)))
    return before._replace(deployment=deployment, read=tuple(read))


def _candidates(paths: Sequence[Path], replaced: Mapping[str, str]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            named = (Path(top, name) for top, _, names in os.walk(path) for name in names if name.endswith(_ENDINGS))
            yield from (one for one in sorted(named) if one.is_file())
        elif str(path) in replaced or path.is_file():
            yield path


def _text(path: Path, replaced: Mapping[str, str]) -> str:
    try:
        return replaced[str(path)] if str(path) in replaced else read_text(path)
    except ConfigFileError:
        return ""  # reported where files are read as configurations
