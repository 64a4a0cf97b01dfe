"""Summarize the verdict in a few lines for an engineer who was just woken up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.findings.diagnosis import CheckResult, CheckStatus, is_incomplete
from eosctl.findings.finding import Finding
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import count_text, duration_text, name_some

GAPS_NAMED: Final = 3
_WITHOUT_LEADER: Final = "EOS-TXN-007"
_OPEN: Final = "EOS-TXN-001"
_WITHOUT_COORDINATOR: Final = "coordinator-unavailable"
_GONE: Final[Mapping[str, tuple[str, str]]] = {
    "EOS-BRK-006": ("does not answer", "do not answer"),
    "EOS-BRK-007": ("is fenced", "are fenced"),
    "EOS-TOP-003": ("has offline replicas", "have offline replicas"),
}


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
    tail += "; the evidence is incomplete" if is_incomplete(results, gaps) else ""
    impacts = (_impact(f) for f in findings if f.severity is Severity.CRITICAL and f.impact)
    held_up = (f.message for f in findings if _is_held_up(f))
    lines = (f"{headline}; {tail}.", *_gone(findings), *dict.fromkeys(impacts), *held_up)
    return (*unread, *lines) if unread and not evaluated else (*lines, *unread)


def _is_held_up(finding: Finding) -> bool:
    """Return whether an open transaction waits for brokers that are gone."""
    if finding.check_id == _WITHOUT_LEADER:
        return True
    # Information is about evidence that is missing for another reason.
    is_open = finding.check_id == _OPEN and finding.severity is not Severity.INFO
    return is_open and dict(finding.facts).get("cause") == _WITHOUT_COORDINATOR


def _gone(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield which brokers are gone: all of them together, as they are one incident."""
    named: set[str] = set()
    for check_id, (is_so, are_so) in _GONE.items():
        about = [f.resource.name for f in findings if f.check_id == check_id and f.resource.kind == "broker"]
        if names := [name for name in about if name not in named]:
            named.update(names)
            brokers = name_some("broker", names).capitalize()
            yield f"{brokers} {are_so if names[1:] else is_so}."


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
