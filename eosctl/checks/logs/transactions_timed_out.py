"""EOS-LOG-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"transaction_timeout", "clock_stepped", "poll_interval_exceeded", "task_migrated"})


@check(
    "EOS-LOG-002",
    "Transaction timeouts in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("timeouts", "logs"),
    references=(
        "KIP-98",
        "KIP-447",
        "transaction.timeout.ms",
        "max.poll.interval.ms",
    ),
    applies=without_logs,
)
def transactions_timed_out(case: Case) -> Iterator[Problem]:
    """Find transactions that coordinators aborted because their producers were too slow, and why they were.

    What it checks:
        Logs of coordinators and applications: transactions that reached their timeout, consumers that were put out of
        their group in the middle of one, processes that stood still.

    Why it matters for exactly-once:
        The work of the transaction is lost, and the next owner of the partitions repeats it. If it is always too
        slow, it never completes.

    Example:
        A garbage collection of 40 s with transaction.timeout.ms=30000; a batch that takes longer than
        max.poll.interval.ms.

    Fix:
        Smaller batches or a longer max.poll.interval.ms; a transaction timeout that outlasts the longest pause.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-002 passes.
    """
    yield from problems_of(case, KINDS)
