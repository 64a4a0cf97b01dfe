"""Summarize the verdict in a few lines for an engineer who was just woken up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import count_text, duration_text

GAPS_NAMED: Final = 3


def summarize(results: Iterable[CheckResult], gaps: Sequence[EvidenceGap] = ()) -> tuple[str, ...]:
    """Return the verdict: the number of findings by severity, the impact of each critical one, and unread input.

    Where no check could be evaluated, unread input is the headline: nothing else is known.
    """
    results = tuple(results)
    unread = _unread(gaps)
    findings = sorted((f for result in results for f in result.findings), key=lambda f: (f.severity.rank, f.check_id))
    counts = [
        f"{number} {severity.value}"
        for severity in Severity
        if (number := sum(1 for finding in findings if finding.severity is severity))
    ]
    evaluated = sum(1 for result in results if result.status in (CheckStatus.PASSED, CheckStatus.FAILED))
    skipped = sum(1 for result in results if result.status is CheckStatus.SKIPPED)
    headline = f"{count_text(len(findings), 'finding')} ({', '.join(counts)})" if findings else "No findings"
    tail = f"{count_text(evaluated, 'check')} evaluated, {skipped} skipped"
    impacts = (_impact(f) for f in findings if f.severity is Severity.CRITICAL and f.impact)
    lines = (f"{headline}; {tail}.", *dict.fromkeys(impacts))
    return (*unread, *lines) if unread and not evaluated else (*lines, *unread)


def _unread(gaps: Sequence[EvidenceGap]) -> tuple[str, ...]:
    """Return a sentence for each log that was not recognized."""
    found = [gap for gap in gaps if gap.kind is EvidenceKind.LOGS and gap.reason is GapReason.NOT_RECOGNIZED]
    named = [f"{gap.detail[:1].upper()}{gap.detail[1:]}".removesuffix(".") + "." for gap in found[:GAPS_NAMED]]
    more = len(found) - GAPS_NAMED
    return (*named, f"{count_text(more, 'more log')} not recognized.") if more > 0 else tuple(named)


def _impact(finding: Finding) -> str:
    """Say which file is meant; all other impacts name what they are about."""
    return f"{finding.resource.name}: {finding.impact}" if finding.resource.kind == "file" else finding.impact


def describe_looks(snapshot: ClusterSnapshot) -> str:
    """Say how many looks there were and how far apart."""
    if len(snapshot.looks) < 2:
        return "one reading"
    gap_ms = snapshot.looks[-1].started_at_ms - snapshot.looks[0].finished_at_ms
    return f"two readings, {duration_text(max(0, gap_ms))} apart"
