"""Verdicts as Prometheus text, for a file that the node exporter's textfile collector reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.report import Report
from eosctl.model.severity import Severity
from eosctl.render.configuration.lint_view import LintView

Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """One value with its labels."""

    labels: Labels
    value: float


def render_diagnosis_metrics(report: Report) -> str:
    """Render a report: grade, findings by check and severity, checks by outcome, and the age of the evidence.

    Findings carry no resource as a label: topics and transactional ids would make a series each.
    """
    diagnosis = report.diagnosis
    cluster = (("cluster", diagnosis.cluster_id or "unknown"),)
    findings = Counter((finding.check_id, finding.severity.value) for finding in diagnosis.findings)
    totals = Counter(finding.severity for finding in diagnosis.findings)
    return "".join(
        (
            gauge("eosctl_score", "Score of the last diagnosis, 0 to 100.", [Sample(cluster, diagnosis.grade.score)]),
            gauge(
                "eosctl_findings",
                "Findings by severity.",
                [Sample((*cluster, ("severity", one.value)), totals[one]) for one in Severity],
            ),
            gauge(
                "eosctl_check_findings",
                "Findings by check, of checks that found something.",
                [
                    Sample((*cluster, ("check", check_id), ("severity", severity)), number)
                    for (check_id, severity), number in sorted(findings.items())
                ],
            ),
            gauge(
                "eosctl_checks",
                "Checks by outcome.",
                [Sample((*cluster, ("status", one.value)), diagnosis.count(one)) for one in CheckStatus],
            ),
            gauge(
                "eosctl_suppressed_findings",
                "Findings that do not count.",
                [Sample(cluster, len(diagnosis.suppressed))],
            ),
            gauge(
                "eosctl_evidence_gaps",
                "Pieces of evidence that could not be had.",
                [Sample(cluster, len(diagnosis.gaps))],
            ),
            gauge(
                "eosctl_captured_timestamp_seconds",
                "When the evidence was taken, seconds since the epoch.",
                [Sample(cluster, diagnosis.captured_at_ms // 1000)],
            ),
        )
    )


def render_lint_metrics(view: LintView) -> str:
    """Render a lint run: findings by rule and severity, files read and not readable."""
    findings = Counter((item.id, item.severity) for item in view.items)
    parts: Counter[tuple[str, str, bool]] = Counter()
    for one in view.read_as:
        parts[one.role, f"{one.software} {one.release}", one.is_release_assumed] += one.count
    return "".join(
        (
            gauge(
                "eosctl_lint_findings",
                "Findings in configuration files by severity.",
                [
                    Sample((("severity", one.value),), sum(item.severity == one for item in view.items))
                    for one in Severity
                ],
            ),
            gauge(
                "eosctl_lint_rule_findings",
                "Findings by rule, of rules that found something.",
                [
                    Sample((("check", check_id), ("severity", severity)), number)
                    for (check_id, severity), number in sorted(findings.items())
                ],
            ),
            gauge(
                "eosctl_lint_read_as",
                "Parts of files by the component that they were read as.",
                [
                    Sample((("role", role), ("release", release), ("assumed", str(assumed).lower())), number)
                    for (role, release, assumed), number in sorted(parts.items())
                ],
            ),
            gauge("eosctl_lint_files", "Files that were read.", [Sample((), view.counts.files)]),
            gauge("eosctl_lint_unreadable_files", "Files that could not be read.", [Sample((), len(view.unreadable))]),
        )
    )


def gauge(name: str, help_text: str, samples: Iterable[Sample]) -> str:
    """Render one gauge in the text exposition format; nothing without a sample."""
    return _family(name, "gauge", help_text, samples)


def counter(name: str, help_text: str, samples: Iterable[Sample]) -> str:
    """Render one counter in the text exposition format; nothing without a sample."""
    return _family(name, "counter", help_text, samples)


def _family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> str:
    lines = [f"{name}{_labels(sample.labels)} {sample.value}\n" for sample in samples]
    return f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n{''.join(lines)}" if lines else ""


def _labels(labels: Labels) -> str:
    text = ",".join(f'{name}="{_escape(value)}"' for name, value in labels)
    return f"{{{text}}}" if text else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
