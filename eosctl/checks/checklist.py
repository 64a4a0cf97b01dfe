"""Answer what checks and probes can answer of a checklist, and tell whether a record is whole."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from eosctl.model.checklist import Answer, Checklist, ChecklistItem, ChecklistRecord, ItemKind, ItemState
from eosctl.model.evidence import EvidenceKind
from eosctl.model.finding import CheckResult, CheckStatus, Diagnosis
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot

Probe = Callable[[ClusterSnapshot], int | None]
EOSCTL: Final = "eosctl"


def _brokers(snapshot: ClusterSnapshot) -> int | None:
    return sum(1 for broker in snapshot.brokers if broker.reachable and not broker.fenced) or None


def _voters(snapshot: ClusterSnapshot) -> int | None:
    return None if snapshot.quorum is None else len(snapshot.quorum.voters)


def _out_of_sync(snapshot: ClusterSnapshot) -> int | None:
    if not snapshot.topics:
        return None
    return sum(len(info.isr) < len(info.replicas) for topic in snapshot.topics for info in topic.partitions)


def _open_transactions(snapshot: ClusterSnapshot) -> int | None:
    if not snapshot.looks or any(gap.kind is EvidenceKind.TRANSACTIONS for gap in snapshot.gaps):
        return None
    return sum(one.state not in ("Empty", "CompleteCommit", "CompleteAbort", "Dead") for one in snapshot.transactions)


def _fullest_volume(snapshot: ClusterSnapshot) -> int | None:
    known = [one for one in snapshot.log_directories if one.total_bytes > 0]
    return max((100 - one.usable_bytes * 100 // one.total_bytes for one in known), default=None)


PROBES: Final[Mapping[str, Probe]] = {
    "running-brokers": _brokers,
    "controller-voters": _voters,
    "partitions-out-of-sync": _out_of_sync,
    "open-transactions": _open_transactions,
    "fullest-volume-percent": _fullest_volume,
}
"""What measured items may read off a cluster."""


def answer_automatically(
    checklist: Checklist, diagnosis: Diagnosis, snapshot: ClusterSnapshot | None, at: str
) -> tuple[Answer, ...]:
    """Return the answers that evidence gives; items that it says nothing about are left out."""
    results = {result.check_id: result for result in diagnosis.results}
    answers: list[Answer] = []
    for item in checklist.items:
        found: tuple[ItemState, str] | None = None
        if item.kind is ItemKind.AUTOMATIC:
            found = _by_checks(item, results)
        elif item.probe and snapshot is not None and (value := PROBES[item.probe](snapshot)) is not None:
            found = judge_measure(item, value)
        if found is not None:
            answers.append(Answer(item.id, *found, EOSCTL, at))
    return tuple(answers)


def judge_measure(item: ChecklistItem, value: int) -> tuple[ItemState, str]:
    """Hold a value to the item's limit."""
    assert item.limit is not None
    state = ItemState.DONE if item.limit.holds(value) else ItemState.FAILED
    return state, f"{value} {item.limit.unit}, to be {item.limit}"


def _by_checks(item: ChecklistItem, results: Mapping[str, CheckResult]) -> tuple[ItemState, str] | None:
    ran = [results[check_id] for check_id in (*item.checks, *item.also) if check_id in results]
    if not ran:
        return None
    bad = [finding for result in ran for finding in result.findings if finding.severity.at_least(Severity.WARNING)]
    if bad:
        told = "; ".join(f"{finding.check_id}: {finding.message}" for finding in bad[:3])
        return ItemState.FAILED, told + (f" and {len(bad) - 3} more" if len(bad) > 3 else "")
    unseen = [f"{result.check_id}: {result.reason}" for result in ran if result.status is CheckStatus.SKIPPED]
    unseen += [f"{check_id}: {_wanted(check_id)}" for check_id in item.checks if check_id not in results]
    if unseen:
        return ItemState.OPEN, "not evaluated: " + "; ".join(unseen)
    lived_with = [f"{one.check_id}: {one.reason}" for one in ran if one.status is CheckStatus.SUPPRESSED]
    if lived_with:
        return ItemState.OPEN, "suppressed: " + "; ".join(lived_with)
    if all(results[check_id].status is CheckStatus.NOT_APPLICABLE for check_id in item.checks):
        return None
    passed = [result.check_id for result in ran if result.status is not CheckStatus.NOT_APPLICABLE]
    return ItemState.DONE, f"passed: {', '.join(passed)}"


def _wanted(check_id: str) -> str:
    return "needs configuration files" if check_id.startswith("EOS-CFG-") else "needs a cluster or a snapshot"


def with_answers(record: ChecklistRecord, checklist: Checklist, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the record's answers with newer ones in place of older, in the order of the list."""
    newest = {answer.item: answer for answer in (*record.answers, *answers)}
    return tuple(newest[item.id] for item in checklist.items if item.id in newest)


def open_items(checklist: Checklist, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return the items that nobody has answered yet."""
    answered = {answer.item for answer in answers if answer.state is not ItemState.OPEN}
    return tuple(item.id for item in checklist.items if item.id not in answered)


def failed_items(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return the items that are not as they must be."""
    return tuple(answer.item for answer in answers if answer.state is ItemState.FAILED)


def unknown_references(checklist: Checklist, check_ids: frozenset[str]) -> tuple[str, ...]:
    """Return the checks and probes that a list names and nobody has."""
    named = {check_id for item in checklist.items for check_id in (*item.checks, *item.also)} - check_ids
    probes = {item.probe for item in checklist.items if item.probe} - PROBES.keys()
    return tuple(sorted(named | probes))


def digest_of(record: ChecklistRecord) -> str:
    """Return the SHA-256 over everything that a signature stands for."""
    head = (record.checklist, str(record.version), record.cluster, record.started_at)
    rows = [(one.item, one.state.value, one.evidence, one.who, one.at) for one in record.answers]
    text = "\0".join(field for row in (head, *rows) for field in row)
    return hashlib.sha256(text.encode()).hexdigest()
