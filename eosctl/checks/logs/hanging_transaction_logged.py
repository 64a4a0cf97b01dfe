"""EOS-LOG-003."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"hanging_transaction"})


@check(
    "EOS-LOG-003",
    "Hanging transaction in the logs",
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
    """Find partitions with readers that are blocked by a transaction that never ends.

    What it checks:
        Logs of brokers, readers, and official tools with an open transaction and blocked readers.

    Why it matters for exactly-once:
        read_committed readers see nothing after its first offset until it is aborted.

    Example:
        A late write reached the partition after the coordinator had ended the transaction.

    Fix:
        Find and abort it with eosctl txn hanging; turn transaction.partition.verification.enable on.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-003 passes.
    """
    yield from problems_of(case, KINDS)
