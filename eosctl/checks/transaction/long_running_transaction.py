"""EOS-TXN-005."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.findings.impact import impact_text, incident_of, radius_facts
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import duration_text, hidden_text

# From when on a transaction whose producer is silent counts as left behind, in milliseconds.
ABANDONED_MS: Final = 300_000


@check(
    "EOS-TXN-005",
    "Long-running transaction holds readers back",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.PRODUCERS, EvidenceKind.OFFSETS}),
    uses=frozenset(
        {
            EvidenceKind.HIDDEN_RECORDS,
            EvidenceKind.TOPIC_CONFIGS,
            EvidenceKind.BROKER_CONFIGS,
            EvidenceKind.GROUPS,
            EvidenceKind.GROUP_OFFSETS,
        }
    ),
    since=(3, 0),
    tags=("long-running", "lso", "retention"),
    references=(
        "KIP-98",
        "KIP-939",
        "transaction.timeout.ms",
        "transaction.max.timeout.ms",
        "retention.ms",
    ),
)
def long_running_transaction(case: Case) -> Iterator[Problem]:
    """Find transactions within their timeout that hide many records, or whose records may expire unread.

    What it checks:
        Transactions that have been open for two minutes or more (twice the producer's default timeout, so it was
        raised) and hide 10,000 records or more from read_committed readers, or have been open for half of the
        topic's retention.ms. Where groups wait at such a transaction, it is information, however little it hides; a
        warning when it has been open for five minutes and its producer has not written for two. Without such groups,
        the latter is information: Flink, Spark, and other readers that keep their own offsets may wait.

    Why it matters for exactly-once:
        Readers stand still at the transaction's first record, however fast others write behind it. Retention does not
        wait for them: what it deletes before the transaction ends, a read_committed reader has never seen.

    Example:
        A Flink sink with a transaction timeout of one hour whose job is down: its transaction stays open for the hour.

    Fix:
        End the application's transaction: let it commit more often, or bring it back so that it commits or aborts.
        Lower transaction.timeout.ms to what its checkpoints need. A transaction of a two-phase commit has no timeout:
        only its application may end it.

    Verify:
        eosctl txn hanging --all no longer lists it, and the last stable offset has moved.
    """
    for verdict in case.open_transactions:
        if verdict.status is not HangStatus.LONG_RUNNING:
            continue
        share = _retention_share(verdict, case)
        radius = verdict.blast_radius
        hidden = None if radius is None else radius.invisible_offsets
        expiring = share is not None and share >= case.limits.retention_percent
        if expiring or (hidden or 0) >= case.limits.long_running_invisible_records:
            yield _problem(verdict, share if expiring else None, case)
            continue
        idle_ms = _idle_ms(verdict, case)
        abandoned = idle_ms >= case.limits.long_running_transaction_ms and _age_ms(verdict) >= ABANDONED_MS
        holds_back = radius is not None and radius.pins_last_stable_offset
        holds_groups = holds_back and radius is not None and bool(radius.groups)
        if holds_groups or (abandoned and holds_back):
            problem = _problem(verdict, None, case)
            cause = f"{problem.cause} Its producer has not written for {duration_text(idle_ms)}." if idle_ms else ""
            severity = Severity.WARNING if abandoned and holds_groups else Severity.INFO
            yield replace(problem, severity=severity, cause=cause or problem.cause)


def _age_ms(verdict: HangVerdict) -> int:
    return verdict.transaction.age_ms or 0


def _idle_ms(verdict: HangVerdict, case: Case) -> int:
    """Return for how long the producer has not written, ms; 0 where its time stamps contradict the age."""
    idle_ms = case.snapshot.captured_at_ms - verdict.transaction.last_timestamp_ms
    return idle_ms if 0 <= idle_ms <= _age_ms(verdict) + case.limits.clock_tolerance_ms else 0


def _retention_share(verdict: HangVerdict, case: Case) -> int | None:
    """Return the transaction's age in percent of the topic's retention; None when nothing expires by time."""
    topic = case.snapshot.topic(verdict.transaction.partition.topic)
    if topic is None or verdict.transaction.age_ms is None:
        return None
    policy = topic.setting("cleanup.policy")
    retention_ms = number(topic.setting("retention.ms"))
    if retention_ms is None or retention_ms <= 0 or (policy is not None and "delete" not in (policy.value or "")):
        return None
    return verdict.transaction.age_ms * 100 // retention_ms


def _problem(verdict: HangVerdict, retention_share: int | None, case: Case) -> Problem:
    transaction = verdict.transaction
    owner = transaction.transactional_id or f"producer id {transaction.producer_id}"
    radius = verdict.blast_radius
    hidden = hidden_text((radius.invisible_offsets or 0), radius.invisible_records) if radius is not None else "nothing"
    expiry = ""
    if retention_share is not None:
        expiry = f" It has been open for {retention_share} % of the topic's retention.ms: records may expire unread."
    return Problem(
        resource=Resource("partition", str(transaction.partition)),
        message=(
            f"{owner} has had a transaction open on {transaction.partition} for "
            f"{duration_text(transaction.age_ms or 0)}; it hides {hidden}."
        ),
        severity=Severity.ERROR if retention_share is not None else None,
        confidence=verdict.confidence,
        cause=verdict.explanation,
        impact=impact_text(verdict) + expiry,
        evidence=verdict.evidence,
        remedy=(f"Make {owner} commit or abort; do not abort partitions of it, the coordinator knows it.",),
        commands=(Command(f"eosctl txn hanging --all -b {case.bootstrap}", "every open transaction, oldest first"),),
        verify=(Command(f"eosctl txn hanging --all -b {case.bootstrap}", f"{transaction.partition} is gone"),),
        incident=incident_of(verdict),
        facts=(
            ("cause", verdict.cause.value),
            ("transactional_id", transaction.transactional_id or ""),
            ("producer_id", transaction.producer_id),
            ("age_ms", transaction.age_ms or 0),
            ("first_offset", transaction.first_offset),
            *radius_facts(verdict.blast_radius),
        ),
    )
