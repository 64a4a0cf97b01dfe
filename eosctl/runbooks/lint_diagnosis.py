"""Flaws of runbooks as a diagnosis: a check for each kind, and which of them could be judged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.runbook_flaw import AREA, MEANINGS, Flaw, FlawKind, Stage, check_id
from eosctl.findings.summary import summarize
from eosctl.model.verdict import Resource
from eosctl.runbooks.lint import lint_runbook
from eosctl.runbooks.load import Source


def diagnose_runbooks(sources: Sequence[Source], now_ms: int) -> Diagnosis:
    """Return the diagnosis of runbooks.

    A kind is passed only if every runbook was judged by it: steps are not judged where an id is taken, and paths not
    where anything else is wrong.

    Args:
        sources: The runbooks with their texts.
        now_ms: The time of the lint, in ms since the epoch.
    """
    by_kind: dict[FlawKind, list[Finding]] = {}
    unjudged: dict[Stage, list[str]] = {}
    for source in sources:
        flaws = lint_runbook(source.book)
        for flaw in flaws:
            by_kind.setdefault(flaw.kind, []).append(_finding(source, flaw))
        for stage in _not_judged(flaws):
            unjudged.setdefault(stage, []).append(source.name)
    results = tuple(_result(kind, by_kind, unjudged) for kind in sorted(FlawKind))
    return Diagnosis("", now_ms, results, grade(results), summary=summarize(results))


def _not_judged(flaws: Sequence[Flaw]) -> tuple[Stage, ...]:
    if any(flaw.kind is FlawKind.ID_TAKEN for flaw in flaws):
        return Stage.STEPS, Stage.PATHS
    is_whole = all(MEANINGS[flaw.kind].stage is Stage.PATHS for flaw in flaws)
    return () if is_whole else (Stage.PATHS,)


def _result(
    kind: FlawKind, by_kind: Mapping[FlawKind, list[Finding]], unjudged: Mapping[Stage, list[str]]
) -> CheckResult:
    meaning = MEANINGS[kind]
    findings = tuple(by_kind.get(kind, ()))
    left_out = unjudged.get(meaning.stage, [])
    reason = f"other flaws keep {meaning.stage.value} from being judged: {', '.join(left_out)}" if left_out else ""
    status = CheckStatus.FAILED if findings else CheckStatus.SKIPPED if left_out else CheckStatus.PASSED
    return CheckResult(
        check_id=check_id(kind),
        title=meaning.title,
        area=AREA,
        status=status,
        findings=findings,
        reason=reason,
        incomplete=bool(left_out),
    )


def _finding(source: Source, flaw: Flaw) -> Finding:
    meaning = MEANINGS[flaw.kind]
    return Finding(
        check_id=check_id(flaw.kind),
        title=meaning.title,
        severity=meaning.severity,
        resource=Resource("file", source.name),
        message=f"Step {flaw.step}: {flaw.message}" if flaw.step else flaw.message,
        impact=meaning.impact,
        remedy=(meaning.remedy,),
        incident=f"{flaw.step}:{flaw.message}",
        facts=(
            ("file", source.name),
            ("line", _line_of(source.text, flaw.step)),
            ("step", flaw.step),
            ("flaw", flaw.message),
        ),
    )


def _line_of(text: str, step: str) -> int:
    """Return the line on which a step begins, from 1; that of the runbook's id where no step is meant."""
    steps = text.find("\nsteps:")
    pattern = rf"(?m)^.*?(?<![\w-])id:[ \t]*[\"']?{re.escape(step)}[\"']?(?=[ \t]*(?:[,}}#]|$))"
    found = re.compile(pattern).search(text, max(steps, 0)) if step else re.search(r"(?m)^id:", text)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1
