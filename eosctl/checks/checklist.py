"""Answer the items of a checklist that checks and probes can answer, and find the open items of a record."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.checks.checklist_subjects import SUBJECTS, Seen
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.model.checklist import Answer, Checklist, ChecklistItem, ChecklistRecord, ItemKind, ItemState
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot

Probe = Callable[[ClusterSnapshot], int | None]
EOSCTL: Final = "eosctl"
_OF_FILES: Final = "EOS-CFG-"
"""What the ids of checks of configuration files begin with."""
FINDINGS_NAMED: Final = 3
SUBJECTS_NAMED: Final = 10


def _brokers(snapshot: ClusterSnapshot) -> int | None:
    return sum(1 for broker in snapshot.brokers if broker.reachable and not broker.fenced) or None


def _voters(snapshot: ClusterSnapshot) -> int | None:
    return None if snapshot.quorum is None else len(snapshot.quorum.voters)


def _out_of_sync(snapshot: ClusterSnapshot) -> int | None:
    if not snapshot.topics or _has_gap(snapshot, EvidenceKind.TOPICS):
        return None
    return sum(len(info.isr) < len(info.replicas) for topic in snapshot.topics for info in topic.partitions)


def _open_transactions(snapshot: ClusterSnapshot) -> int | None:
    if not snapshot.looks or _has_gap(snapshot, EvidenceKind.TRANSACTIONS):
        return None
    return sum(one.state not in ("Empty", "CompleteCommit", "CompleteAbort", "Dead") for one in snapshot.transactions)


def _fullest_volume(snapshot: ClusterSnapshot) -> int | None:
    if _has_gap(snapshot, EvidenceKind.LOG_DIRS):
        return None
    known = [one for one in snapshot.log_directories if one.total_bytes > 0]
    return max((100 - one.usable_bytes * 100 // one.total_bytes for one in known), default=None)


def _has_gap(snapshot: ClusterSnapshot, kind: EvidenceKind) -> bool:
    """Whether a number would be that of a part of the cluster."""
    return any(gap.kind is kind for gap in snapshot.gaps)


PROBES: Final[Mapping[str, Probe]] = {
    "running-brokers": _brokers,
    "controller-voters": _voters,
    "partitions-out-of-sync": _out_of_sync,
    "open-transactions": _open_transactions,
    "fullest-volume-percent": _fullest_volume,
}
"""What measured items may read off a cluster."""


def answer_automatically(checklist: Checklist, diagnosis: Diagnosis, seen: Seen, at: str) -> tuple[Answer, ...]:
    """Return the answers that evidence gives; items that it says nothing about are left out.

    An item is done by positive evidence alone: no check of it was skipped, failed or suppressed, at least one passed,
    the input holds a subject of the right kind, and an item about configurations has no file that was not judged.
    Findings of any severity keep it from being done.
    """
    results = {result.check_id: result for result in diagnosis.results}
    snapshot = seen.snapshot
    answers: list[Answer] = []
    for item in checklist.items:
        found: tuple[ItemState, str] | None = None
        if item.kind is ItemKind.AUTOMATIC:
            found = _by_checks(item, results, seen)
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


def unanswered(checklist: Checklist, answers: Sequence[Answer], at: str) -> tuple[Answer, ...]:
    """Return why each automatic item without any answer is open: evidence of the other kind is needed."""
    answered = {answer.item for answer in answers}
    return tuple(
        Answer(item.id, ItemState.OPEN, _unseen([(one, _wanted(one)) for one in item.checks]), EOSCTL, at)
        for item in checklist.items
        if item.kind is ItemKind.AUTOMATIC and item.id not in answered
    )


def _by_checks(item: ChecklistItem, results: Mapping[str, CheckResult], seen: Seen) -> tuple[ItemState, str] | None:
    ran = [results[check_id] for check_id in (*item.checks, *item.also) if check_id in results]
    if not ran:
        return None
    findings = [finding for result in ran for finding in result.findings]
    bad = [finding for finding in findings if finding.severity.at_least(Severity.WARNING)]
    if bad:
        return ItemState.FAILED, _first_of(f"{finding.check_id}: {finding.message}" for finding in bad)
    if not any(check_id in results for check_id in item.checks) and not any(_has_failed(one) for one in ran):
        # Files alone say nothing of an item about a cluster, and take nothing from an earlier answer.
        return None
    if reason := _why_open(item, ran, results) or _why_unseen(item, ran, results, seen):
        return ItemState.OPEN, reason
    passed = _named(ran, CheckStatus.PASSED)
    parts = [f"passed: {passed}", *_seen_texts(item, seen)]
    if inapplicable := _named(ran, CheckStatus.NOT_APPLICABLE):
        parts.append(f"does not apply: {inapplicable}")
    return ItemState.DONE, "; ".join(parts)


def _why_open(item: ChecklistItem, ran: Sequence[CheckResult], results: Mapping[str, CheckResult]) -> str:
    """Return which checks have not passed: they found something, were not evaluated, or are suppressed."""
    failed = [
        f"{one.check_id} failed: {_first_of(found.message for found in one.findings)}"
        for one in ran
        if _has_failed(one)
    ]
    skipped = [(result.check_id, result.reason) for result in ran if result.status is CheckStatus.SKIPPED]
    skipped += [(check_id, _wanted(check_id)) for check_id in item.checks if check_id not in results]
    accepted = [f"{one.check_id}: {one.reason}" for one in ran if one.status is CheckStatus.SUPPRESSED]
    partial = [f"{one.check_id}: {one.reason}" for one in ran if one.incomplete and one.status is CheckStatus.PASSED]
    reasons = [*failed, _unseen(skipped), _listed("suppressed", accepted), _listed("incomplete", partial)]
    return "; ".join(reason for reason in reasons if reason)


def _why_unseen(item: ChecklistItem, ran: Sequence[CheckResult], results: Mapping[str, CheckResult], seen: Seen) -> str:
    """Return why checks without findings prove nothing: they had no input to judge."""
    if not any(results[check_id].status is CheckStatus.PASSED for check_id in item.checks):
        return _listed("does not apply", [f"{one.check_id}: {one.reason}" for one in ran])
    if seen.not_judged and any(check_id.startswith(_OF_FILES) for check_id in item.checks):
        return _listed("not judged", [_first_of(seen.not_judged, ", ")])
    missing = [SUBJECTS[kind].word for kind in item.sees if not tuple(SUBJECTS[kind].find(seen))]
    if missing:
        return f"no {' and no '.join(missing)} was in the input"
    unwanted = [(SUBJECTS[kind].word, tuple(dict.fromkeys(SUBJECTS[kind].find(seen)))) for kind in item.lacks]
    return "; ".join(f"{word}: {_first_of(names, ', ', SUBJECTS_NAMED)}" for word, names in unwanted if names)


def _has_failed(result: CheckResult) -> bool:
    return result.status is CheckStatus.FAILED or bool(result.findings)


def _named(results: Sequence[CheckResult], status: CheckStatus) -> str:
    return ", ".join(result.check_id for result in results if result.status is status)


def _seen_texts(item: ChecklistItem, seen: Seen) -> Iterator[str]:
    """Yield which subjects of each kind the checks have seen."""
    for kind in item.sees:
        names = tuple(dict.fromkeys(SUBJECTS[kind].find(seen)))
        yield f"{SUBJECTS[kind].word}: {_first_of(names, ', ', SUBJECTS_NAMED)}"


def _unseen(checks: Sequence[tuple[str, str]]) -> str:
    return _listed("not evaluated", [f"{check_id}: {reason}" for check_id, reason in checks])


def _listed(label: str, texts: Sequence[str]) -> str:
    return f"{label}: {'; '.join(texts)}" if texts else ""


def _first_of(texts: Iterable[str], separator: str = "; ", most: int = FINDINGS_NAMED) -> str:
    """Join the first texts, and append the number of the others."""
    known = tuple(texts)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return separator.join(known[:most]) + more


def _wanted(check_id: str) -> str:
    return "needs configuration files" if check_id.startswith(_OF_FILES) else "needs a cluster or a snapshot"


def with_answers(record: ChecklistRecord, checklist: Checklist, answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the record's answers with newer ones in place of older, in the order of the list."""
    newest = {answer.item: answer for answer in (*record.answers, *answers)}
    return tuple(newest[item.id] for item in checklist.items if item.id in newest)


def open_items(checklist: Checklist, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return the ids of the unanswered items."""
    answered = {answer.item for answer in answers if answer.state is not ItemState.OPEN}
    return tuple(item.id for item in checklist.items if item.id not in answered)


def failed_items(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return the items that are not as they must be."""
    return tuple(answer.item for answer in answers if answer.state is ItemState.FAILED)


def with_check_ids(checklist: Checklist, id_of: Callable[[str], str]) -> Checklist:
    """Return the checklist with ids for the names of checks.

    Args:
        checklist: A checklist whose items call checks by id or name.
        id_of: Returns the id of a check by either; another text as it is.
    """
    items = tuple(
        replace(item, checks=tuple(map(id_of, item.checks)), also=tuple(map(id_of, item.also)))
        for item in checklist.items
    )
    return replace(checklist, items=items)


def unknown_references(checklist: Checklist, check_ids: frozenset[str]) -> tuple[str, ...]:
    """Return the checks, probes, and kinds of subjects that a list names and that do not exist."""
    named = {check_id for item in checklist.items for check_id in (*item.checks, *item.also)} - check_ids
    probes = {item.probe for item in checklist.items if item.probe} - PROBES.keys()
    subjects = {kind for item in checklist.items for kind in (*item.sees, *item.lacks)} - SUBJECTS.keys()
    return tuple(sorted(named | probes | subjects))


def digest_of(record: ChecklistRecord) -> str:
    """Return the SHA-256 over everything that a signature stands for."""
    head = (record.checklist, str(record.version), record.cluster, record.started_at)
    rows = [(one.item, one.state.value, one.evidence, one.who, one.at) for one in record.answers]
    text = "\0".join(field for row in (head, *rows) for field in row)
    return hashlib.sha256(text.encode()).hexdigest()
