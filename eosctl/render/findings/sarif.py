"""Findings as SARIF 2.1.0, for code scanning.

Findings of a live cluster have no file. Code scanning matches alerts by rule, path and fingerprint, so every resource
gets a path that stays the same: ``kafka/<cluster>/<kind>/<name>``.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from eosctl import __version__
from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.read_as import ReadAs, sentence
from eosctl.model.severity import Severity
from eosctl.render.escaping import sarif_message
from eosctl.render.findings.report import FindingReport, Note, Rule
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


def render_sarif(report: FindingReport) -> str:
    """Render a report; checks that were not evaluated, and input that was not read, are notifications."""
    index = {rule.id: number for number, rule in enumerate(report.rules)}
    diagnosis = report.diagnosis
    skipped = [r for r in diagnosis.results if r.status is CheckStatus.SKIPPED]
    run = {
        # First, because a file's beginning shows whose result it is: see `whole_file`.
        "automationDetails": {
            "id": "/".join(("eosctl", *(part for part in (report.command, report.scope) if part), ""))
        },
        "tool": {
            "driver": {
                "name": "eosctl",
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in report.rules],
            }
        },
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
                + [_note(one) for one in report.notes]
                + [{"level": "note", "message": {"text": sarif_message(one)}} for one in diagnosis.remarks]
                + [_read_as(one) for one in report.read_as],
            }
        ],
        "results": [_result(finding, index, report.scope) for finding in diagnosis.findings]
        + [
            _result(finding, index, report.scope) | {"suppressions": [{"kind": "external", "justification": reason}]}
            for finding, reason in diagnosis.suppressed
        ],
    }
    # Only messages can hold links, and theirs are escaped already. Names keep their value: their ``](`` is written as
    # ``]\u0028``, which is the same JSON, and no link either for a reader that takes the file for text.
    return render_json({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}).replace("](", "]\\u0028")


def _note(note: Note) -> dict[str, Any]:
    region = {"region": {"startLine": note.line}} if note.line else {}
    place = {"artifactLocation": {"uri": quote(note.file, errors="surrogateescape")}} | region
    return {
        "level": note.level.value,
        "message": {"text": sarif_message(note.text)},
        "locations": [{"physicalLocation": place}],
    }


def _read_as(part: ReadAs) -> dict[str, Any]:
    return {
        "level": "note",
        "message": {"text": sarif_message(f"read as: {sentence(part)}")},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(part.file, errors="surrogateescape")}}}],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": list(rule.tags)},
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
    if not finding.is_in_file:
        return {"artifactLocation": {"uri": resource_path(finding, cluster_id)}}
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(str(facts["file"]), errors="surrogateescape")}}
    if "line" in facts:
        return place | {"region": {"startLine": max(1, int(facts["line"]))}}
    if "position" in facts:
        return place | {"region": {"byteOffset": int(facts["position"])}}
    return place


def resource_path(finding: Finding, cluster_id: str) -> str:
    """Return the path that stands for the finding's resource."""
    parts = ("kafka", cluster_id or "unknown", finding.resource.kind, finding.resource.name or "unnamed")
    return "/".join(quote(part, safe="", errors="surrogateescape") for part in parts)
