"""EOS-TXN-002."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

from eosctl.analysis.partitions import too_few_in_sync
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import Transaction
from eosctl.model.verdict import Resource
from eosctl.text import name_some


@check(
    "EOS-TXN-002",
    "Transaction stalled between decision and markers",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    uses=frozenset({EvidenceKind.TRANSACTION_HISTORY, EvidenceKind.PRODUCERS, EvidenceKind.TOPIC_CONFIGS}),
    since=(3, 0),
    tags=("stalled", "lso"),
    references=(
        "KIP-98",
        "KAFKA-16352",
        "KAFKA-19999",
        "KAFKA-20734",
    ),
)
def stalled_in_prepare(case: Case) -> Iterator[Problem]:
    """Find transactions whose outcome is decided and whose markers do not arrive.

    What it checks:
        Transactions in PrepareCommit or PrepareAbort. Markers take milliseconds, a leader election seconds; a
        transaction that two readings show in the same Prepare state for longer, or whose Prepare record in
        __transaction_state is older, is stalled. The partitions that DescribeTransactions still lists are the ones
        without a marker.

    Why it matters for exactly-once:
        The outcome is final, but readers of the waiting partitions do not see it: their last stable offset stands
        still, and the producer gets CONCURRENT_TRANSACTIONS for its next transaction. The official find-hanging never
        reports this state.

    Example:
        The leader of one partition of the transaction is down, or refuses the marker with
        TRANSACTION_COORDINATOR_FENCED because a tool wrote a marker with a coordinator epoch that was too high.

    Fix:
        Bring the leader of the named partition back. Where fewer replicas are in sync than min.insync.replicas, its
        leader refuses the marker: bring the missing replicas back. When it takes writes and the marker still does not
        arrive, move the leadership of the id's partition of __transaction_state to another broker: the new coordinator
        sends the markers again. Never abort such a transaction: it may be a commit.

    Verify:
        eosctl txn describe ID shows CompleteCommit or CompleteAbort.
    """
    for verdict in case.transactions:
        if verdict.status is not HangStatus.STALLED:
            continue
        transaction = verdict.transaction
        partitions = ", ".join(str(partition) for partition in transaction.partitions)
        yield Problem(
            resource=Resource("transaction", transaction.transactional_id),
            message=f"{transaction.transactional_id} is in {transaction.state} and {_missing(transaction)}.",
            confidence=verdict.confidence,
            cause=verdict.explanation,
            impact=_impact(transaction),
            evidence=verdict.evidence,
            remedy=(*_remedies(transaction, case.snapshot), "Do not abort it: its outcome is decided."),
            commands=(
                Command(
                    f"eosctl txn describe {quote(transaction.transactional_id)} -b {case.bootstrap}",
                    "what is missing where",
                ),
            ),
            verify=(
                Command(
                    f"eosctl txn describe {quote(transaction.transactional_id)} -b {case.bootstrap}",
                    "shows CompleteCommit or CompleteAbort",
                ),
            ),
            incident=f"{transaction.transactional_id}@{transaction.producer_id}/{transaction.producer_epoch}",
            facts=(
                ("transactional_id", transaction.transactional_id),
                ("state", transaction.state),
                ("producer_id", transaction.producer_id),
                ("producer_epoch", transaction.producer_epoch),
                ("coordinator_id", transaction.coordinator_id),
                ("partitions", partitions),
            ),
        )


_MOVE: Final = "If they are up: move the coordinator's partition to another broker, which makes it send them again."


def _has_all_markers(transaction: Transaction) -> bool:
    return transaction.described and not transaction.partitions


def _impact(transaction: Transaction) -> str:
    producer = f"{transaction.transactional_id} gets CONCURRENT_TRANSACTIONS and cannot begin a new transaction."
    if _has_all_markers(transaction):
        return producer
    partitions = ", ".join(map(str, transaction.partitions)) or "its partitions"
    return f"read_committed readers of {partitions} stand still at the transaction's first record; {producer}"


def _remedies(transaction: Transaction, snapshot: ClusterSnapshot) -> Iterator[str]:
    if _has_all_markers(transaction):
        yield "Bring the replicas of __transaction_state back; the coordinator then completes the transaction."
        yield _MOVE
        return
    refusing = {
        info.partition
        for topic in snapshot.topics
        for info in topic.partitions
        if info.partition in transaction.partitions and info.leader_id is not None and too_few_in_sync(snapshot, info)
    }
    if refusing:
        names = name_some("partition", [str(one) for one in transaction.partitions if one in refusing])
        yield (
            f"Bring enough replicas of {names} in sync, or add replicas: the leader refuses the marker until then, and "
            "the coordinator sends it by itself."
        )
    if not refusing.issuperset(transaction.partitions) or not transaction.partitions:
        yield "Bring the leaders of these partitions back; the coordinator sends the markers by itself."
        yield _MOVE


def _missing(transaction: Transaction) -> str:
    if _has_all_markers(transaction):
        return "no marker is missing: its completion is not in __transaction_state"
    return f"the marker is missing on {', '.join(map(str, transaction.partitions)) or 'partitions that were not named'}"
