"""Remove suppressed findings from a diagnosis, and report them as suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.gate_rules import Suppression
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize

IN_BASELINE = "known: the baseline has it"


def suppress(
    diagnosis: Diagnosis, suppressions: Sequence[Suppression], baseline: frozenset[str], today: str
) -> Diagnosis:
    """Return the diagnosis without the findings that suppressions or the baseline name.

    A suppression that expired hides nothing, and is remarked on. So is one that matches no finding of a check that ran:
    it may hide something later.

    Args:
        diagnosis: What the checks found.
        suppressions: The decisions.
        baseline: Fingerprints of known findings.
        today: The present day, ``YYYY-MM-DD`` in UTC.
    """
    holding = [one for one in suppressions if not one.expires or today <= one.expires]
    hidden: list[tuple[Finding, str]] = []
    results = tuple(_without(result, holding, baseline, hidden) for result in diagnosis.results)
    remarks = [
        f"The suppression of {one.check_id} ({one.scope}) expired on {one.expires} and hides nothing: {one.reason}"
        for one in suppressions
        if one not in holding and one.check_id in {result.check_id for result in diagnosis.results}
    ]
    found = diagnosis.findings
    ran = {r.check_id for r in diagnosis.results if r.status in (CheckStatus.PASSED, CheckStatus.FAILED)}
    remarks += [
        f"The suppression of {one.check_id} ({one.scope}) matches no finding: remove it."
        for one in holding
        if one.check_id in ran and not any(_matches(one, finding) for finding in found)
    ]
    return replace(
        diagnosis,
        results=results,
        grade=grade(results),
        summary=summarize(results, diagnosis.gaps),
        suppressed=tuple(hidden),
        remarks=(*diagnosis.remarks, *remarks),
    )


def _without(
    result: CheckResult,
    suppressions: Sequence[Suppression],
    baseline: frozenset[str],
    hidden: list[tuple[Finding, str]],
) -> CheckResult:
    left: list[Finding] = []
    reasons: list[str] = []
    for finding in result.findings:
        named = next((one for one in suppressions if _matches(one, finding)), None)
        reason = named.reason if named else IN_BASELINE if finding.fingerprint in baseline else ""
        if not reason:
            left.append(finding)
            continue
        hidden.append((finding, reason))
        reasons.append(reason)
    if not reasons:
        return result
    if left:
        return replace(result, findings=tuple(left))
    reason = "; ".join(dict.fromkeys(reasons))
    return replace(result, findings=(), status=CheckStatus.SUPPRESSED, reason=reason)


def _matches(suppression: Suppression, finding: Finding) -> bool:
    facts = dict(finding.facts)
    file = str(facts.get("file", ""))
    names = (str(finding.resource), finding.resource.name, file, f"{file}:{facts['line']}" if "line" in facts else "")
    return suppression.check_id == finding.check_id and any(
        fnmatchcase(name, suppression.scope) for name in names if name
    )
