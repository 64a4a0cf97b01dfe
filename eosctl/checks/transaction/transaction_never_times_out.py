"""EOS-TXN-009."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.analysis.lifetime import NO_TIMEOUT_MS
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.wording import name_some
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Evidence, Resource


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
    """Find open transactions of a two-phase commit.

    What it checks:
        Transactions in state Ongoing whose timeout is 2,147,483,647 ms.

    Why it matters for exactly-once:
        Its coordinator never aborts it: only its application may, because a database may have committed the other
        half. Until then it blocks readers of all its partitions, forever if the application does not return.

    Example:
        A job with two-phase commit that was deleted together with its checkpoints.

    Fix:
        Ask the application's owner what the other system decided, then let the application finish it, or force its
        end (kafka-transactions.sh forceTerminateTransaction).

    Verify:
        eosctl check run EOS-TXN-009 passes.
    """
    for transaction in case.snapshot.transactions:
        if transaction.state == TransactionState.ONGOING and transaction.timeout_ms == NO_TIMEOUT_MS:
            owner = transaction.transactional_id
            yield Problem(
                resource=Resource("transaction", owner),
                message=f"{owner} is open and has no timeout.",
                impact=f"Readers of {name_some('partition', [str(p) for p in transaction.partitions])} wait for it."
                if transaction.partitions
                else "",
                evidence=(Evidence("timeout", str(transaction.timeout_ms), "DescribeTransactions"),),
                remedy=("Let its application finish it. Force it only when the other system's outcome is known.",),
                commands=(Command(f"eosctl txn describe {quote(owner)} -b {case.bootstrap}"),),
                verify=(Command(f"eosctl check run EOS-TXN-009 -b {case.bootstrap}"),),
                facts=(("transactional_id", owner),),
            )
