"""A lint run as SARIF 2.1.0: results with the file and line that code scanning annotates."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from eosctl import __version__
from eosctl.checks.declaration import Check
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.render.configuration.lint_view import LintItem, LintView
from eosctl.render.diagnosis.sarif import FINGERPRINT, read_as_notifications, render_sarif_log
from eosctl.render.escaping import sarif_message

_LEVELS: Final = {"critical": "error", "error": "error", "warning": "warning", "info": "note"}


def render_lint_sarif(view: LintView) -> str:
    """Render a run; files that cannot be read, and what the others were read as, are notifications."""
    rules = sorted(CONFIGURATION_CHECKS, key=lambda check: check.id)
    index = {check.id: number for number, check in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "eosctl", "semanticVersion": __version__, "rules": [_rule(c) for c in rules]}},
        "automationDetails": {"id": "eosctl/config lint/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "endTimeUtc": view.generated_at,
                "toolExecutionNotifications": [
                    *({"level": "error", "message": {"text": sarif_message(one.reason)}} for one in view.unreadable),
                    *read_as_notifications(view.read_as),
                ],
            }
        ],
        "results": [_result(item, index[item.id]) for item in view.items],
    }
    return render_sarif_log(run)


def _rule(check: Check) -> dict[str, Any]:
    summary, sections = manual_of(check)
    return {
        "id": check.id,
        "name": "".join(word.capitalize() for word in check.name.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": summary},
        "help": {"text": "\n\n".join(f"{title}\n{text}" for title, text in sections.items())},
        "defaultConfiguration": {"level": _LEVELS[check.severity.value]},
        "properties": {"tags": [check.area.value, *check.tags]},
    }


def _result(item: LintItem, index: int) -> dict[str, Any]:
    text = "\n".join(text for text in (item.message, item.impact, item.remedy) if text)
    return {
        "ruleId": item.id,
        "ruleIndex": index,
        "level": _LEVELS[item.severity],
        "message": {"text": sarif_message(text)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(item.file, errors="surrogateescape")},
                    # A line of 0 would be a broker of a cluster; SARIF counts from 1.
                    "region": {"startLine": max(1, item.line)},
                }
            }
        ],
        "partialFingerprints": {FINGERPRINT: item.fingerprint},
        "properties": {"severity": item.severity, "confidence": item.confidence, "keys": list(item.keys)},
    }
