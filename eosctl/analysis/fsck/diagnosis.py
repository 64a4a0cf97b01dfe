"""Findings of a check of data directories as a diagnosis: a check for each kind, and which of them could be judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from eosctl.analysis.fsck.data_set import UNCHECKED
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.fsck.checked import finding_of
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.findings.fsck.kinds import AREA, check_id
from eosctl.findings.fsck.titles import TITLES
from eosctl.findings.grade import grade
from eosctl.findings.summary import summarize
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.fsck import FsckFinding
from eosctl.storage.names import OFFSETS_TOPIC, STATE_TOPIC
from eosctl.text import count_text

UNDECIDED: Final = "open-transaction-undecided"
"""The kind that stands for a transaction that the directories do not decide: it may hang."""
_NEEDS: Final = {
    **dict.fromkeys(("offset-beyond-log", "offset-pending"), OFFSETS_TOPIC),
    **dict.fromkeys(
        ("entry-without-data", "hanging-transaction", "open-transaction", "prepare-not-completed",
         "prepare-without-marker", "state-value-invalid"),
        STATE_TOPIC,
    ),
}  # fmt: skip
_REPLICAS: Final = ("replica-differs", "replica-diverged", "replica-of-another-topic")


def diagnose_data_dirs(
    findings: Sequence[FsckFinding], partitions: Collection[str], cluster_id: str, now_ms: int
) -> Diagnosis:
    """Return the diagnosis of data directories.

    A kind is passed only when the directories hold what it is judged by: several replicas of a partition, or the topic
    of a coordinator.

    Args:
        findings: The findings.
        partitions: The names of the replicas' directories, once for each replica: `orders-0`.
        cluster_id: The id in `meta.properties`; empty if it has none.
        now_ms: The time of the check, ms since the epoch.
    """
    by_kind: dict[str, list[Finding]] = {}
    for one in findings:
        by_kind.setdefault(one.kind, []).append(finding_of(one))
    unjudged = [one for one in findings if one.kind in (UNCHECKED, UNDECIDED)]
    results = tuple(_result(kind, by_kind, partitions) for kind in sorted(CONSEQUENCES))
    gaps = tuple(
        EvidenceGap(
            EvidenceKind.LOG_DIRS,
            one.partition,
            GapReason.NOT_COLLECTED,
            detail=one.message,
            next_step=CONSEQUENCES[one.kind].repair,
        )
        for one in unjudged
    )
    return Diagnosis(
        cluster_id=cluster_id,
        captured_at_ms=now_ms,
        results=results,
        grade=grade(results),
        gaps=gaps,
        summary=summarize(results, gaps),
    )


def _result(kind: str, by_kind: Mapping[str, list[Finding]], partitions: Collection[str]) -> CheckResult:
    findings = tuple(by_kind.get(kind, ()))
    incomplete = _incomplete(kind, by_kind)
    if findings:
        status, reason = CheckStatus.FAILED, incomplete
    elif why := _missing(kind, partitions):
        status, reason = CheckStatus.SKIPPED, why
    elif incomplete:
        status, reason = CheckStatus.SKIPPED, f"nothing found, but {incomplete}"
    else:
        status, reason = CheckStatus.PASSED, ""
    return CheckResult(
        check_id=check_id(kind),
        title=TITLES[kind],
        area=AREA,
        status=status,
        findings=findings,
        reason=reason,
        incomplete=bool(incomplete),
    )


def _incomplete(kind: str, by_kind: Mapping[str, list[Finding]]) -> str:
    """Return what was not judged although it may be of this kind; empty if all was."""
    unchecked, undecided = len(by_kind.get(UNCHECKED, ())), len(by_kind.get(UNDECIDED, ()))
    if unchecked and kind not in (UNCHECKED, UNDECIDED):
        return f"not checked: {count_text(unchecked, 'partition')}"
    if undecided and kind == "hanging-transaction":
        return f"undecided: {count_text(undecided, 'open transaction')}"
    return ""


def _missing(kind: str, partitions: Collection[str]) -> str:
    """Return what a kind is judged by, and the directories do not hold; empty if nothing is missing."""
    if kind in _REPLICAS and len(set(partitions)) == len(partitions):
        return "no partition has more than one replica in these directories"
    topic = _NEEDS.get(kind)
    if topic and not any(name.rpartition("-")[0] == topic for name in partitions):
        return f"no partition of {topic} is in these directories"
    internal = kind == "internal-topic-repartitioned"
    if internal and not any(name.rpartition("-")[0] in (STATE_TOPIC, OFFSETS_TOPIC) for name in partitions):
        return "no partition of a coordinator's topic is in these directories"
    return ""
