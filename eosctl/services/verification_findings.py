"""What a verification found, as a diagnosis: a check for each kind of anomaly, and which of them were judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Command, Finding
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize
from eosctl.lab.history.anomaly import MEANING, Kind
from eosctl.lab.history.events import (
    BatchSeen,
    Drained,
    History,
    Identified,
    OffsetFetched,
    OffsetsSent,
    Polled,
    ReplicaSeen,
    Sent,
    StoreSeen,
    TransactionRead,
)
from eosctl.lab.history.feed import FAULT_MEANING, Fault
from eosctl.lab.verify.app import AppPlan
from eosctl.lab.verify.app_report import AppReport
from eosctl.lab.verify.report import VerifyReport, explain_anomalies
from eosctl.lab.verify.runs import RunRecord
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.model.verification import HintItem
from eosctl.text import count_text

AREA: Final = "verify"
MEANINGS: Final[Mapping[str, str]] = {
    **{kind.value: text for kind, text in MEANING.items()},
    **{fault.value: text for fault, text in FAULT_MEANING.items()},
}
"""What each kind of anomaly means, of runs and of tests of applications."""

_READ: Final = (Polled, "values that readers were given")
_DRAINED: Final = (Drained, "partitions that were read to the end")
_FETCHED: Final = (OffsetFetched, "offsets of groups")
_OFFSETS: Final = (OffsetsSent, "offsets in transactions")
_IDENTIFIED: Final = (Identified, "identities of producers")
_REPLICAS: Final = (ReplicaSeen, "views of replicas")
_STORES: Final = (StoreSeen, "state stores")
_NEEDS: Final[Mapping[Kind, tuple[tuple[type[Any], str], ...]]] = {
    Kind.ABORTED_READ: (_READ,),
    Kind.EARLY_READ: (_READ,),
    Kind.PHANTOM_READ: (_READ,),
    Kind.INCONSISTENT_READ: (_READ,),
    Kind.BACKWARD_READ: (_READ,),
    Kind.LOST_WRITE: (_DRAINED,),
    Kind.DUPLICATE: (_READ,),
    Kind.TORN_TRANSACTION: (_DRAINED,),
    Kind.BROKEN_SUM: (_DRAINED,),
    Kind.HANGING_TRANSACTION: (_DRAINED,),
    Kind.REAL_TIME_ORDER: ((Sent, "acknowledged values"),),
    Kind.DEPENDENCY_CYCLE: ((TransactionRead, "reads within transactions"),),
    Kind.OFFSET_REGRESSION: (_FETCHED,),
    Kind.LOST_OFFSET: (_OFFSETS, _FETCHED),
    Kind.ABORTED_OFFSET: (_OFFSETS, _FETCHED),
    Kind.UNSTABLE_OFFSET: (_OFFSETS, _FETCHED),
    Kind.EPOCH_REGRESSION: (_IDENTIFIED,),
    Kind.SHARED_PRODUCER_ID: (_IDENTIFIED,),
    Kind.ZOMBIE_COMMIT: (_IDENTIFIED,),
    Kind.WATERMARK_ORDER: (_REPLICAS,),
    Kind.WATERMARK_REGRESSION: (_REPLICAS,),
    Kind.LOG_DIVERGENCE: ((BatchSeen, "checksums of batches"),),
    Kind.BROKEN_ISR: (_REPLICAS,),
    Kind.INCOMPLETE_REPLICA: (_REPLICAS,),
    Kind.STORE_DIVERGENCE: (_STORES, _DRAINED),
    Kind.STALE_STORE: (_STORES,),
    Kind.WRONG_RESTORATION: (_STORES, _DRAINED),
}
_OF_GROUPS: Final = (Fault.OFFSET_REGRESSION, Fault.OFFSET_BEHIND, Fault.OFFSET_AHEAD)
_OF_POISON: Final = (Fault.POISON_LOST, Fault.POISON_DUPLICATED)


class _Ran(NamedTuple):
    """What a verification has shown, in the form that runs and tests of applications share."""

    resource: Resource
    counts: Mapping[str, int]
    subjects: Mapping[str, Sequence[str]]
    hints: Mapping[str, Sequence[HintItem]]
    reasons: tuple[str, ...]
    source: str
    next_command: Command


def check_id(kind: str) -> str:
    """Return the id of the findings of a kind: ``verify/early-read``."""
    return f"{AREA}/{kind}"


def title_of(kind: str) -> str:
    """Return a kind in words.

    >>> title_of("early-read")
    'Early read'
    """
    return kind.replace("-", " ").capitalize()


def diagnose_run(record: RunRecord, history: History, report: VerifyReport, now_ms: int) -> Diagnosis:
    """Return the diagnosis of a run. A kind passes only if the history holds what it is judged by.

    Args:
        record: The run.
        history: What its clients did and saw.
        report: What was found in the history.
        now_ms: The time of the judgment, in ms since the epoch.
    """
    present = {type(event) for event in history}
    missing = {
        kind.value: f"the run has no {' and no '.join(lacking)}"
        for kind, needs in _NEEDS.items()
        if (lacking := [name for event, name in needs if event not in present])
    }
    subjects: dict[str, list[str]] = {}
    for anomaly in report.anomalies:
        subjects.setdefault(anomaly.kind.value, []).append(anomaly.subject)
    speaks = record.speaks_end_txn_5
    hints = {kind: explain_anomalies(frozenset({Kind(kind)}), speaks_end_txn_5=speaks) for kind in subjects}
    replay = Command(f"eosctl verify replay {record.run_id}", "play the same run again")
    resource = Resource("cluster", record.cluster)
    ran = _Ran(resource, report.anomaly_counts, subjects, hints, report.reasons, f"run {record.run_id}", replay)
    return _diagnosis(tuple(Kind), ran, missing, record.cluster_id, now_ms)


def diagnose_application(plan: AppPlan, report: AppReport, cluster_id: str, now_ms: int) -> Diagnosis:
    """Return the diagnosis of a test of an application.

    Args:
        plan: The test.
        report: What was found.
        cluster_id: The id of the cluster.
        now_ms: The time of the judgment, in ms since the epoch.
    """
    missing: dict[str, str] = {}
    if not plan.groups:
        missing |= dict.fromkeys(_OF_GROUPS, "no group was watched: name one with --group")
    if plan.dead_letter_topic is None:
        missing |= dict.fromkeys((*_OF_POISON, Fault.HEALTHY_REJECTED), "the test has no dead-letter topic")
    elif not report.poison_count:
        missing |= dict.fromkeys(_OF_POISON, "no input was poison")
    if not report.aborted_count:
        missing[Fault.ABORTED_INPUT] = "no input was aborted"
    subjects: dict[str, list[str]] = {}
    for flaw in report.flaws:
        subjects.setdefault(flaw.fault.value, []).append(flaw.subject)
    resource = Resource("application", f"{plan.input_topic} to {plan.output_topic}")
    read = Command(f"eosctl decode segment --topic {plan.output_topic} --records", "read what the application wrote")
    ran = _Ran(resource, report.flaw_counts, subjects, {}, report.reasons, f"run {plan.run}", read)
    return _diagnosis(tuple(Fault), ran, missing, cluster_id, now_ms)


def _diagnosis(kinds: Sequence[str], ran: _Ran, missing: Mapping[str, str], cluster_id: str, now_ms: int) -> Diagnosis:
    results = tuple(_result(kind, ran, missing) for kind in sorted(map(str, kinds)))
    return Diagnosis(cluster_id, now_ms, results, grade(results), summary=summarize(results))


def _result(kind: str, ran: _Ran, missing: Mapping[str, str]) -> CheckResult:
    undecided = f"undecided: {'; '.join(ran.reasons)}" if ran.reasons else ""
    if kind in ran.counts:
        status, reason = CheckStatus.FAILED, undecided
    elif undecided or kind in missing:
        status, reason = CheckStatus.SKIPPED, undecided or missing[kind]
    else:
        status, reason = CheckStatus.PASSED, ""
    findings = (_finding(kind, ran),) if kind in ran.counts else ()
    return CheckResult(
        check_id=check_id(kind),
        title=title_of(kind),
        area=AREA,
        status=status,
        findings=findings,
        reason=reason,
        incomplete=bool(undecided),
    )


def _finding(kind: str, ran: _Ran) -> Finding:
    subjects, hints = ran.subjects.get(kind, ()), ran.hints.get(kind, ())
    count = ran.counts[kind]
    meaning = MEANINGS[kind]
    first = f", first: {subjects[0]}" if subjects else ""
    return Finding(
        check_id=check_id(kind),
        title=title_of(kind),
        severity=Severity.CRITICAL,
        resource=ran.resource,
        message=f"{meaning[:1].upper()}{meaning[1:]}: {count_text(count, 'anomaly', 'anomalies')}{first}.",
        cause=" ".join(hint.text for hint in hints),
        impact="This deployment is not exactly-once.",
        evidence=tuple(Evidence(kind, subject, ran.source) for subject in subjects),
        remedy=tuple(hint.next_step for hint in hints) or ("Read the witness of the first anomaly.",),
        commands=(ran.next_command,),
        references=tuple(hint.bug_id for hint in hints),
        facts=(("anomaly_count", count),),
    )
