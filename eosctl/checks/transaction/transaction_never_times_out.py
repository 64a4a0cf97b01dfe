"""EOS-TXN-009."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangCause, HangStatus
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import duration_text, name_some


@check(
    "EOS-TXN-009",
    "Transaction that no timeout ends",
    Area.TRANSACTION,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(4, 1),
    tags=(
        "two-phase-commit",
        "lso",
    ),
    references=(
        "KIP-939",
        "transaction.two.phase.commit.enable",
    ),
)
def transaction_never_times_out(case: Case) -> Iterator[Problem]:
    """Find transactions of a two-phase commit that have been open for minutes.

    What it checks:
        Transactions in state Ongoing with a timeout of 2,147,483,647 ms that have been open for two minutes or more.
        Applications with two-phase commit always have a younger one. Brokers do not show whether it is prepared.

    Why it matters for exactly-once:
        Its coordinator never aborts it: only its application may, because a database may have committed the other
        half. Until then it blocks readers of all its partitions, forever if the application does not return. It does
        not hang: the coordinator knows it, and eosctl does not abort it.

    Example:
        A job with two-phase commit that was deleted together with its checkpoints.

    Fix:
        Ask the application's owner what the other system decided, then let the application finish it, or force its
        end (kafka-transactions.sh forceTerminateTransaction).

    Verify:
        eosctl check run EOS-TXN-009 passes.
    """
    for verdict in case.transactions:
        if verdict.cause is HangCause.PREPARED_TWO_PHASE and verdict.status is HangStatus.LONG_RUNNING:
            transaction = verdict.transaction
            owner = transaction.transactional_id
            yield Problem(
                resource=Resource("transaction", owner),
                message=f"{owner} has been open for {duration_text(verdict.age_ms or 0)} and has no timeout.",
                cause="It takes part in a two-phase commit: it may be prepared, and wait for the other system's "
                "outcome.",
                impact=f"Readers of {name_some('partition', [str(p) for p in transaction.partitions])} wait for it."
                if transaction.partitions
                else "",
                evidence=(Evidence("timeout", str(transaction.timeout_ms), "DescribeTransactions"),),
                remedy=(
                    "Let its application finish it. End it by force only when the other system's outcome is known.",
                ),
                commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}"),),
                verify=(Command(f"eosctl check run EOS-TXN-009 -b {case.bootstrap}"),),
                facts=(("transactional_id", owner),),
            )
