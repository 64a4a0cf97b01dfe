"""Findings as JUnit XML: a suite per area, a test per check, for CI systems."""

from __future__ import annotations

from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.render.escaping import visible, without_commands
from eosctl.render.findings.report import FindingReport, Note, NoteLevel
from eosctl.text import time_text

_NOT_RUN: Final = (CheckStatus.SKIPPED, CheckStatus.NOT_APPLICABLE, CheckStatus.SUPPRESSED)


def render_junit(report: FindingReport) -> str:
    """Render a report. What could not be evaluated or judged is a skipped test, never a passed one."""
    results = report.diagnosis.results
    hidden: dict[str, list[str]] = {}
    for finding, reason in report.diagnosis.suppressed:
        hidden.setdefault(finding.check_id, []).append(visible(f"suppressed: {finding.resource}: {reason}"))
    root = ET.Element("testsuites", _counts(results, report.notes) | {"name": f"eosctl {report.command}"})
    ordered = sorted(results, key=lambda result: (result.area, result.check_id))
    for area, of_area in groupby(ordered, key=lambda result: result.area):
        members = tuple(of_area)
        suite = _suite(root, report, area, _counts(members, ()))
        for result in members:
            _test_case(suite, result, hidden.get(result.check_id, []))
    if report.notes:
        suite = _suite(root, report, "input", _counts((), report.notes))
        for note in report.notes:
            _unread(suite, note)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, report: FindingReport, area: str, counts: dict[str, str]) -> ET.Element:
    return ET.SubElement(
        root,
        "testsuite",
        {
            "name": f"eosctl.{area}",
            **counts,
            "time": "0",
            "timestamp": time_text(report.diagnosis.captured_at_ms)[:19],
            "hostname": _clean(report.scope or "unknown"),
        },
    )


def _counts(results: tuple[CheckResult, ...], notes: tuple[Note, ...]) -> dict[str, str]:
    errors = sum(1 for note in notes if note.level is NoteLevel.ERROR)
    not_run = sum(1 for result in results if result.status in _NOT_RUN)
    return {
        "tests": str(len(results) + len(notes)),
        "failures": str(sum(1 for result in results if result.status is CheckStatus.FAILED)),
        "errors": str(errors),
        "skipped": str(not_run + len(notes) - errors),
    }


def _unread(suite: ET.Element, note: Note) -> None:
    name = f"{note.file}:{note.line}" if note.line else note.file
    case = ET.SubElement(suite, "testcase", {"classname": "eosctl.input", "name": _clean(name), "time": "0"})
    ET.SubElement(case, "error" if note.level is NoteLevel.ERROR else "skipped", {"message": _clean(note.text)})


def _test_case(suite: ET.Element, result: CheckResult, hidden: list[str]) -> None:
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
        failure.text = _clean("\n\n".join([*map(_text, result.findings), *hidden]))


def _text(finding: Finding) -> str:
    """Return one line for each part: none begins another by a line feed in a name."""
    lines = [f"{finding.severity.value}: {finding.resource}: {finding.message}"]
    lines += [text for text in (finding.cause, finding.impact) if text]
    lines += [f"evidence: {e.name}: {e.value} [{e.source}]" for e in finding.evidence]
    lines += [f"do: {step}" for step in finding.remedy]
    lines += [f"$ {command.line}" for command in finding.commands]
    return "\n".join(map(visible, lines))


def _clean(text: str) -> str:
    """Write out characters that cannot be seen, and replace others that XML 1.0 cannot carry."""
    shown = without_commands("\n".join(map(visible, text.split("\n"))))
    return "".join(char if _is_xml(ord(char)) else "\N{REPLACEMENT CHARACTER}" for char in shown)


def _is_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
