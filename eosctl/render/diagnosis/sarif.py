"""A diagnosis as SARIF 2.1.0, for code scanning.

Findings of a live cluster have no file. Code scanning matches alerts by rule, path and fingerprint, so every resource
gets a path that stays the same: ``kafka/<cluster>/<kind>/<name>``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from eosctl import __version__
from eosctl.checks.declaration import Check
from eosctl.checks.manual import manual_of
from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.report import Report
from eosctl.model.read_as import ReadAs, sentence
from eosctl.model.severity import Severity
from eosctl.render.escaping import sarif_message
from eosctl.render.machine import render_json
from eosctl.text import time_text

SCHEMA_URI: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT: Final = "eosctl/v1"
_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def render_sarif(report: Report, checks: Iterable[Check]) -> str:
    """Render a report.

    Args:
        report: The report.
        checks: The checks that ran, for the rules' texts.
    """
    rules = sorted(checks, key=lambda check: check.id)
    index = {check.id: number for number, check in enumerate(rules)}
    diagnosis = report.diagnosis
    skipped = [r for r in diagnosis.results if r.status is CheckStatus.SKIPPED]
    run = {
        "tool": {
            "driver": {
                "name": "eosctl",
                "semanticVersion": __version__,
                "rules": [_rule(check) for check in rules],
            }
        },
        "automationDetails": {"id": f"eosctl/{report.command}/{report.snapshot.cluster_id or 'unknown'}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "endTimeUtc": time_text(report.generated_at_ms),
                "toolExecutionNotifications": [
                    {
                        "level": "warning",
                        "message": {"text": sarif_message(f"{result.check_id} was not evaluated: {result.reason}")},
                        "associatedRule": {"id": result.check_id, "index": index[result.check_id]},
                    }
                    for result in skipped
                ]
                + read_as_notifications(report.read_as),
            }
        ],
        "results": [_result(finding, index, report.snapshot.cluster_id) for finding in diagnosis.findings]
        + [
            _result(finding, index, report.snapshot.cluster_id)
            | {"suppressions": [{"kind": "external", "justification": reason}]}
            for finding, reason in diagnosis.suppressed
        ],
    }
    return render_sarif_log(run)


def render_sarif_log(run: dict[str, Any]) -> str:
    r"""Render a run as a log file.

    Only messages can hold links, and theirs are escaped already. Names keep their value: their ``](`` is written as
    ``]\u0028``, which is the same JSON, and no link either for a reader that takes the file for text.
    """
    return render_json({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}).replace("](", "]\\u0028")


def read_as_notifications(parts: tuple[ReadAs, ...]) -> list[dict[str, Any]]:
    """Return a note for each part of a file: what it was read as."""
    return [
        {
            "level": "note",
            "message": {"text": sarif_message(f"read as: {sentence(one)}")},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(one.file)}}}],
        }
        for one in parts
    ]


def _uri(file: str) -> str:
    return quote(file, errors="surrogateescape")


def _rule(check: Check) -> dict[str, Any]:
    summary, sections = manual_of(check)
    return {
        "id": check.id,
        "name": "".join(word.capitalize() for word in check.name.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": summary},
        "help": {"text": "\n\n".join(f"{title}\n{text}" for title, text in sections.items())},
        "defaultConfiguration": {"level": _LEVELS[check.severity]},
        "properties": {"tags": [check.area.value, *check.tags]},
    }


def _result(finding: Finding, index: dict[str, int], cluster_id: str) -> dict[str, Any]:
    sentences = [finding.message, finding.cause, finding.impact, *finding.remedy]
    sentences += [command.line for command in finding.commands]
    return {
        "ruleId": finding.check_id,
        "ruleIndex": index[finding.check_id],
        "level": _LEVELS[finding.severity],
        "message": {"text": sarif_message("\n".join(sentence for sentence in sentences if sentence))},
        "locations": [
            {
                "physicalLocation": _place(finding, cluster_id),
                "logicalLocations": [{"name": finding.resource.name, "kind": finding.resource.kind}],
            }
        ],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {
            "severity": finding.severity.value,
            "confidence": finding.confidence.value,
            "incident": finding.incident,
            "facts": dict(finding.facts),
            "evidence": [f"{e.name}: {e.value} [{e.source}]" for e in finding.evidence],
        },
    }


def _place(finding: Finding, cluster_id: str) -> dict[str, Any]:
    facts = dict(finding.facts)
    if finding.resource.kind != "file":
        return {"artifactLocation": {"uri": resource_path(finding, cluster_id)}}
    return {
        "artifactLocation": {"uri": _uri(str(facts["file"]))},
        "region": {"startLine": max(1, int(facts["line"]))},
    }


def resource_path(finding: Finding, cluster_id: str) -> str:
    """Return the path that stands for the finding's resource."""
    parts = ("kafka", cluster_id or "unknown", finding.resource.kind, finding.resource.name or "unnamed")
    return "/".join(quote(part, safe="", errors="surrogateescape") for part in parts)
