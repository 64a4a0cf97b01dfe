"""EOS-TXN-018."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.analysis.relation import IDLE_STATES
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import PartitionProducers, ProducerState
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import duration_text

_LONGEST_MS: Final = 900_000
"""The brokers' default of transaction.max.timeout.ms."""
_RECENT_MS: Final = 60_000
"""The default of transaction.timeout.ms."""

_REMEDY: Final = "Compare with the coordinators (find-hanging), and abort what hangs: kafka-transactions.sh abort"


@check(
    "EOS-TXN-018",
    "Open transaction whose coordinator is not shown",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.PRODUCERS}),
    uses=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(2, 8),
    tags=("hanging", "lso"),
    references=("KIP-664", "transaction.max.timeout.ms"),
)
def open_transaction_of_unknown_owner(case: Case) -> Iterator[Problem]:
    """Find open transactions in what describe-producers or kafka-dump-log.sh printed about a partition.

    What it checks:
        The open transactions of a partition, their last record against the newest time in the outputs, and the
        coordinators' states where kafka-transactions.sh list or describe is among them. It is an error from 15 minutes
        on, the default of transaction.max.timeout.ms, and a warning where a coordinator has the producer id in a state
        without a transaction. A transaction of unknown age is information. A transaction that its coordinator has as
        Ongoing, and one whose last record is less than a minute old, is left alone.

    Why it matters for exactly-once:
        The last stable offset stops at its first record: consumers that read committed records wait there. Only its
        coordinator, or an operator, ends it.

    Example:
        A row of describe-producers with CurrentTransactionStartOffset 88213077 whose LastTimestamp is three hours old.

    Fix:
        Compare with the coordinators: kafka-transactions.sh find-hanging. Abort what it lists with
        kafka-transactions.sh abort and the start offset. A live transaction must not be aborted.

    Verify:
        The producer has no CurrentTransactionStartOffset in kafka-transactions.sh describe-producers.
    """
    if not _is_partial(case.snapshot):
        return
    now_ms = _newest_ms(case.snapshot)
    states = {one.producer_id: one.state for one in case.snapshot.transactions}
    for where in case.snapshot.producers:
        if where.is_reported_hanging:
            continue
        for state in where.producers:
            owner = states.get(state.producer_id)
            severity = _severity(state, owner, now_ms)
            if state.current_txn_start_offset is not None and severity is not None:
                yield _problem(where, state, owner, severity, now_ms, case.bootstrap)


def _is_partial(snapshot: ClusterSnapshot) -> bool:
    """Return whether outputs show some partitions; of a cluster, EOS-TXN-001 judges all with their coordinators."""
    return any(gap.kind is EvidenceKind.PRODUCERS and gap.reason is GapReason.NOT_COLLECTED for gap in snapshot.gaps)


def _newest_ms(snapshot: ClusterSnapshot) -> int:
    stamps = [state.last_timestamp_ms for where in snapshot.producers for state in where.producers]
    started = [one.start_time_ms or -1 for one in snapshot.transactions]
    return max((*stamps, *started), default=-1)


def _severity(state: ProducerState, owner: str | None, now_ms: int) -> Severity | None:
    """Return how bad an open transaction is; None if it may well be one that is being worked on."""
    if owner is not None and owner not in IDLE_STATES:
        return None
    age_ms = now_ms - state.last_timestamp_ms
    if age_ms >= _LONGEST_MS:
        return Severity.ERROR
    if age_ms >= _RECENT_MS:
        return Severity.WARNING if owner is not None else Severity.INFO
    return Severity.INFO if age_ms == 0 and owner is None else None


def _problem(
    where: PartitionProducers, state: ProducerState, owner: str | None, severity: Severity, now_ms: int, bootstrap: str
) -> Problem:
    place, start, age_ms = where.partition, state.current_txn_start_offset, now_ms - state.last_timestamp_ms
    age = f", its last record {duration_text(age_ms)} before the newest one" if age_ms else ""
    named = (
        "with its topic, partition," if "(" in place.topic else f"--topic {place.topic} --partition {place.partition}"
    )
    offset = f"and start offset {start}" if "(" in place.topic else f"--start-offset {start}"
    epoch = state.coordinator_epoch
    return Problem(
        resource=Resource("partition", str(place)),
        message=(
            f"Producer id {state.producer_id}, epoch {state.producer_epoch}, has a transaction open on {place} since "
            f"offset {start}{age}."
        ),
        severity=severity,
        confidence=Confidence.LIKELY,
        cause=f"{_marker(state)}; {_coordinator(owner)}.",
        impact="Consumers that read committed records wait at this offset until it ends.",
        evidence=(Evidence("coordinator epoch", str(epoch), "DescribeProducers"),),
        remedy=(f"{_REMEDY} {named} {offset}.",),
        commands=(Command(f"eosctl txn hanging -b {bootstrap}", "all open transactions, with their coordinators"),),
        facts=(
            ("producer_id", state.producer_id),
            ("producer_epoch", state.producer_epoch),
            ("first_offset", start or 0),
            ("coordinator_epoch", epoch),
        ),
    )


def _marker(state: ProducerState) -> str:
    if state.coordinator_epoch < 0:
        return "The partition has no marker of a coordinator for it (coordinator epoch -1)"
    return f"The last marker for it is of coordinator epoch {state.coordinator_epoch}"


def _coordinator(owner: str | None) -> str:
    return f"its coordinator has the producer id in state {owner}" if owner else "no output shows its coordinator"
