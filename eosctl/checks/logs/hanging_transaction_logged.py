"""EOS-LOG-003."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.told import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"hanging_transaction"})


@check(
    "EOS-LOG-003",
    "Transaction without an end, say the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("hanging", "transactions", "logs"),
    references=(
        "KIP-664",
        "KIP-890",
        "KAFKA-14884",
    ),
    applies=without_logs,
)
def hanging_transaction_logged(case: Case) -> Iterator[Problem]:
    """Find partitions whose readers stopped at a transaction that nobody ends.

    What it checks:
        Logs of brokers, readers and official tools that tell of an open transaction and of readers that do not move
        on.

    Why it matters for exactly-once:
        read_committed readers see nothing behind its first offset until somebody aborts it.

    Example:
        A late write reached the partition after the coordinator had ended the transaction.

    Fix:
        Find and abort it with eosctl txn hanging; turn transaction.partition.verification.enable on.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-003 passes.
    """
    yield from problems_of(case, KINDS)
