"""The verdict in a few lines, for somebody who was just woken up."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.analysis.wording import count_text
from eosctl.model.finding import CheckResult, CheckStatus, Finding
from eosctl.model.severity import Severity


def summarise(results: Iterable[CheckResult]) -> tuple[str, ...]:
    """Return the verdict: how many findings of which severity, then the impact of each critical one."""
    results = tuple(results)
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
    return (f"{headline}; {tail}.", *dict.fromkeys(impacts))


def _impact(finding: Finding) -> str:
    """Say which file is meant; all other impacts name what they are about."""
    return f"{finding.resource.name}: {finding.impact}" if finding.resource.kind == "file" else finding.impact
