"""Run checks over a snapshot; missing evidence is a skip, never a pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.analysis.coordinators import cannot_list_transactions
from eosctl.analysis.release import release_floor
from eosctl.analysis.state_log import was_read
from eosctl.checks.declaration import Case, Check
from eosctl.checks.undecided import undecided_settings, unknown_default, without_components
from eosctl.errors import crash_text
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize
from eosctl.model.evidence import DAMAGED, LISTED_BY, EvidenceGap, EvidenceKind, GapReason
from eosctl.model.redaction import redact_text
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import release_text


class _Evidence(NamedTuple):
    """What is missing for one check: ``missing`` forbids a verdict, ``partial`` makes it incomplete."""

    missing: str = ""
    partial: str = ""


def diagnose(checks: Iterable[Check], case: Case) -> Diagnosis:
    """Run checks and grade the cluster."""
    results = tuple(run_check(check, case) for check in checks)
    return Diagnosis(
        cluster_id=case.snapshot.cluster_id,
        captured_at_ms=case.snapshot.captured_at_ms,
        results=results,
        grade=grade(results),
        gaps=case.snapshot.gaps,
        summary=summarize(results, case.snapshot.gaps),
    )


def run_check(check: Check, case: Case) -> CheckResult:
    """Run one check, or say why it cannot be run; a defect of eosctl in one check leaves the verdicts of the others."""
    try:
        return _run(check, case)
    except Exception as error:  # noqa: BLE001 - anything else would hide what the other checks find
        reason = f"{redact_text(crash_text(error))}. This is a defect in eosctl: please report it."
        return replace(_result(check, CheckStatus.SKIPPED, reason), incomplete=True, has_crashed=True)


def _run(check: Check, case: Case) -> CheckResult:
    reason = _why_not_applicable(check, case)
    if reason:
        return _result(check, CheckStatus.NOT_APPLICABLE, reason)
    evidence = _evidence(check, case.snapshot)
    if evidence.missing:
        return _result(check, CheckStatus.SKIPPED, evidence.missing)
    findings = check(case)
    incomplete = bool(evidence.partial)
    if findings:
        status, reason = CheckStatus.FAILED, evidence.partial
    elif unknown := undecided_settings(case.deployment, check.reads, check.needs_presence_of):
        status, reason = CheckStatus.SKIPPED, str(unknown[0])
    elif "librdkafka" not in check.tags and (missing := unknown_default(case.deployment, check.roles, check.reads)):
        status, reason = CheckStatus.SKIPPED, missing
    elif incomplete:
        # What was seen is in order; what was not seen may not be.
        status, reason = CheckStatus.SKIPPED, f"nothing found, but the evidence is incomplete: {evidence.partial}"
    else:
        status, reason = CheckStatus.PASSED, ""
    return CheckResult(
        check_id=check.id,
        title=check.title,
        area=check.area.value,
        status=status,
        findings=findings,
        reason=reason,
        incomplete=incomplete,
    )


def _result(check: Check, status: CheckStatus, reason: str) -> CheckResult:
    return CheckResult(check.id, check.title, check.area.value, status, reason=reason)


def _why_not_applicable(check: Check, case: Case) -> str:
    if check.is_about_configuration and (reason := without_components(case.deployment, check.roles)):
        return reason
    floors = [floor for broker in case.snapshot.brokers if (floor := release_floor(broker)) is not None]
    if floors and check.since is not None and max(floors) < check.since:
        return f"applies to Kafka {release_text(check.since)} and later"
    if floors and check.until is not None and min(floors) > check.until:
        return f"applies to Kafka up to {release_text(check.until)}"
    return "" if check.applies is None else check.applies(case)


def _evidence(check: Check, snapshot: ClusterSnapshot) -> _Evidence:
    partial: list[str] = []
    for kind in sorted(check.needs):
        if kind not in snapshot.collected:
            return _Evidence(missing=f"{kind.value}: not collected")
        gaps = [gap for gap in snapshot.gaps if gap.kind is kind]
        if gaps and not (check.reads_log and kind is EvidenceKind.TRANSACTIONS and _log_stands_in(snapshot)):
            text = _describe(gaps)
            if not check.judges_gaps and _nothing_left(kind, gaps, snapshot):
                return _Evidence(missing=text)
            partial.append(text)
    hidden = {kind: gaps for kind in sorted(_lists_of(check.needs)) if (gaps := _hidden(kind, snapshot))}
    partial += [_describe(gaps) for kind, gaps in hidden.items() if kind not in check.needs]
    return _Evidence(partial="; ".join(partial))


def _log_stands_in(snapshot: ClusterSnapshot) -> bool:
    return cannot_list_transactions(snapshot) and was_read(snapshot)


def _lists_of(kinds: Iterable[EvidenceKind]) -> frozenset[EvidenceKind]:
    """Return the kinds whose lists say what is collected of other kinds."""
    return frozenset(listed for kind in kinds for listed in LISTED_BY.get(kind, ()))


def _hidden(kind: EvidenceKind, snapshot: ClusterSnapshot) -> list[EvidenceGap]:
    return [gap for gap in snapshot.gaps if gap.kind is kind and gap.reason is GapReason.HIDDEN]


def _nothing_left(kind: EvidenceKind, gaps: list[EvidenceGap], snapshot: ClusterSnapshot) -> bool:
    """Return whether the gaps cover all of a kind: every broker was silent, or nothing was delivered at all."""
    subjects = {gap.subject for gap in gaps}
    silent = snapshot.brokers and all(f"broker {broker.node_id}" in subjects for broker in snapshot.brokers)
    return "*" in subjects or bool(silent) or not _delivered(kind, snapshot)


def _delivered(kind: EvidenceKind, snapshot: ClusterSnapshot) -> bool:
    partitions = [info for topic in snapshot.topics for info in topic.partitions]
    match kind:
        case EvidenceKind.BROKER_CONFIGS:
            return any(broker.settings for broker in snapshot.brokers)
        case EvidenceKind.TOPIC_CONFIGS:
            return any(topic.settings for topic in snapshot.topics)
        case EvidenceKind.OFFSETS:
            return any(info.high_watermark is not None for info in partitions)
        case EvidenceKind.PRODUCERS:
            return bool(snapshot.producers)
        case EvidenceKind.TRANSACTION_HISTORY:
            damaged = any(gap.kind is kind and gap.error == DAMAGED for gap in snapshot.gaps)
            return damaged or bool(snapshot.transaction_history)
        case EvidenceKind.GROUPS | EvidenceKind.GROUP_OFFSETS:
            return bool(snapshot.groups)
        case EvidenceKind.API_VERSIONS:
            return any(broker.api_ranges for broker in snapshot.brokers)
        case EvidenceKind.LOG_DIRS:
            return bool(snapshot.log_directories)
        case EvidenceKind.METRICS:
            return bool(snapshot.metric_pages)
        case EvidenceKind.FEATURES:
            return bool(snapshot.features)
        case _:
            return True


def _describe(gaps: list[EvidenceGap]) -> str:
    """Name the first gaps, or the gap that covers all of the evidence."""
    whole = next((gap.detail for gap in gaps if gap.subject == "*" and gap.detail), "")
    if whole:
        return f"{gaps[0].kind.value}: {whole.removesuffix('.')}"
    first = [f"{gap.subject} {gap.error or gap.reason.value}" for gap in gaps[:3]]
    more = f" and {len(gaps) - 3} more" if len(gaps) > 3 else ""
    return f"{gaps[0].kind.value}: {', '.join(first)}{more}"
