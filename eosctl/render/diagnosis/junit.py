"""A diagnosis as JUnit XML: a suite per area, a test per check, for CI systems."""

from __future__ import annotations

from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.report import Report
from eosctl.render.escaping import visible
from eosctl.text import time_text

_NOT_RUN: Final = (CheckStatus.SKIPPED, CheckStatus.NOT_APPLICABLE, CheckStatus.SUPPRESSED)


def render_junit(report: Report) -> str:
    """Render a report. A check that could not be evaluated is a skipped test, never a passed one."""
    results = report.diagnosis.results
    root = ET.Element("testsuites", _counts(results) | {"name": f"eosctl {report.command}"})
    ordered = sorted(results, key=lambda result: (result.area, result.check_id))
    for area, of_area in groupby(ordered, key=lambda result: result.area):
        members = tuple(of_area)
        suite = ET.SubElement(
            root,
            "testsuite",
            {
                "name": f"eosctl.{area}",
                **_counts(members),
                "time": "0",
                "timestamp": time_text(report.snapshot.captured_at_ms)[:19],
                "hostname": _clean(report.snapshot.cluster_id or "unknown"),
            },
        )
        for result in members:
            _test_case(suite, result)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _counts(results: tuple[CheckResult, ...]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(1 for result in results if result.status is CheckStatus.FAILED)),
        "errors": "0",
        "skipped": str(sum(1 for result in results if result.status in _NOT_RUN)),
    }


def _test_case(suite: ET.Element, result: CheckResult) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        {"classname": f"eosctl.{result.area}.{result.check_id}", "name": _clean(result.title), "time": "0"},
    )
    if result.status in _NOT_RUN:
        ET.SubElement(case, "skipped", {"message": _clean(result.reason)})
    elif result.findings:
        # One element: readers of this format expect at most one failure per test.
        worst = min(result.findings, key=lambda finding: finding.severity.rank)
        more = len(result.findings) - 1
        message = worst.message + (f" (and {more} more)" if more else "")
        failure = ET.SubElement(case, "failure", {"type": worst.severity.value, "message": _clean(message)})
        failure.text = _clean("\n\n".join(_text(finding) for finding in result.findings))


def _text(finding: Finding) -> str:
    lines = [f"{finding.severity.value}: {finding.resource}: {finding.message}"]
    lines += [text for text in (finding.cause, finding.impact) if text]
    lines += [f"evidence: {e.name}: {e.value} [{e.source}]" for e in finding.evidence]
    lines += [f"do: {step}" for step in finding.remedy]
    lines += [f"$ {command.line}" for command in finding.commands]
    return "\n".join(lines)


def _clean(text: str) -> str:
    """Replace characters that XML 1.0 cannot carry, and write out others that cannot be seen."""
    possible = "".join(char if _is_xml(ord(char)) else "\N{REPLACEMENT CHARACTER}" for char in text)
    return "\n".join(map(visible, possible.split("\n")))


def _is_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
