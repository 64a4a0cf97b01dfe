"""EOS-TXN-012."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Series, above, shown
from eosctl.findings.finding import Command
from eosctl.model.severity import Severity
from eosctl.text import count_text

LATE: Final = Series("kafka_server_ReplicaManager_Value", "PartitionsWithLateTransactionsCount")


@check(
    "EOS-TXN-012",
    "Broker counts transactions that outlived every timeout",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=NEEDS,
    tags=("transactions", "hanging", "metrics"),
    references=(
        "KIP-664",
        "transaction.max.timeout.ms",
    ),
    applies=shown(LATE),
)
def late_transactions_counted(case: Case) -> Iterator[Problem]:
    """Find brokers that lead partitions with a late transaction.

    What it checks:
        The gauge PartitionsWithLateTransactionsCount: partitions whose oldest open transaction was last written
        to more than transaction.max.timeout.ms and five minutes ago.

    Why it matters for exactly-once:
        No coordinator lets a transaction live that long: it hangs, and read_committed readers stop before it.

    Example:
        A late write reached a partition after the coordinator had ended the transaction.

    Fix:
        Find and abort it with eosctl txn hanging.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-TXN-012 passes.
    """
    for found in above(case, LATE, 0):
        partitions = count_text(round(found.value), "partition")
        yield Problem(
            resource=found.resource,
            message=f"{partitions} led by {found.source} have a transaction that outlived transaction.max.timeout.ms.",
            impact="read_committed readers stop before it until it is aborted.",
            evidence=(found.evidence,),
            remedy=("Find the transactions and abort them.",),
            commands=(Command(f"eosctl txn hanging -b {case.bootstrap}"),),
            verify=(found.verify,),
            incident="late transactions",
            facts=(("partition_count", round(found.value)),),
        )
