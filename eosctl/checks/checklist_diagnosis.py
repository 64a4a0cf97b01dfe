"""A run of a checklist as a diagnosis: a check for each item."""

from __future__ import annotations

from typing import Final

from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize
from eosctl.model.checklist import AREA, Answer, Checklist, ChecklistItem, ChecklistRecord, ItemState, check_id
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource

UNANSWERED: Final = "not answered yet"
_STATUSES: Final = {
    ItemState.DONE: CheckStatus.PASSED,
    ItemState.FAILED: CheckStatus.FAILED,
    ItemState.OPEN: CheckStatus.SKIPPED,
    ItemState.NOT_APPLICABLE: CheckStatus.NOT_APPLICABLE,
}


def diagnose_checklist(checklist: Checklist, record: ChecklistRecord, now_ms: int) -> Diagnosis:
    """Return the diagnosis of a run: failed items are findings, and open ones are incomplete.

    Args:
        checklist: The list.
        record: The answers.
        now_ms: The time of the run, in ms since the epoch.
    """
    results = tuple(_result(checklist, item, record.answer(item.id)) for item in checklist.items)
    return Diagnosis(record.cluster, now_ms, results, grade(results), summary=summarize(results))


def _result(checklist: Checklist, item: ChecklistItem, answer: Answer | None) -> CheckResult:
    state = ItemState.OPEN if answer is None else answer.state
    is_open = state is ItemState.OPEN
    reason = "" if state in (ItemState.DONE, ItemState.FAILED) else answer.evidence if answer else UNANSWERED
    findings = (_finding(checklist, item, answer),) if answer and state is ItemState.FAILED else ()
    return CheckResult(
        check_id=check_id(checklist, item),
        title=item.title,
        area=AREA,
        status=_STATUSES[state],
        findings=findings,
        reason=reason,
        incomplete=is_open,
    )


def _finding(checklist: Checklist, item: ChecklistItem, answer: Answer) -> Finding:
    return Finding(
        check_id=check_id(checklist, item),
        title=item.title,
        severity=Severity.ERROR,
        resource=Resource(AREA, checklist.id),
        message=answer.evidence,
        impact=item.why,
        evidence=(Evidence("answer", answer.evidence, f"{answer.who}, {answer.at}"),),
        remedy=(item.fix,),
        facts=(("kind", item.kind.value), ("who", answer.who), ("at", answer.at)),
    )
