"""EOS-TXN-011."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Series, above, shown
from eosctl.findings.finding import Command
from eosctl.model.severity import Severity

_MANAGER: Final = "kafka_coordinator_transaction_TransactionMarkerChannelManager_Value"
UNKNOWN_DESTINATION: Final = Series(_MANAGER, "UnknownDestinationQueueSize")
APPEND_RETRIES: Final = Series(_MANAGER, "LogAppendRetryQueueSize")


@check(
    "EOS-TXN-011",
    "Markers of decided transactions wait in their coordinator",
    Area.TRANSACTION,
    Severity.ERROR,
    needs=NEEDS,
    tags=("transactions", "markers", "metrics"),
    references=(
        "KIP-98",
        "KAFKA-20734",
    ),
    applies=shown(UNKNOWN_DESTINATION, APPEND_RETRIES),
)
def markers_wait(case: Case) -> Iterator[Problem]:
    """Find coordinators whose markers or completions are queued.

    What it checks:
        The gauges UnknownDestinationQueueSize and LogAppendRetryQueueSize of each coordinator.

    Why it matters for exactly-once:
        Their transactions are decided and do not end: read_committed readers stop before them, and the same
        transactional ids are answered CONCURRENT_TRANSACTIONS.

    Example:
        The only replica of a partition is down while its transaction commits.

    Fix:
        Bring back the leaders of the partitions, or the in-sync replicas of __transaction_state; the
        coordinator then continues by itself.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-TXN-011 passes.
    """
    for series, waits in (
        (UNKNOWN_DESTINATION, "markers whose partition has no leader"),
        (APPEND_RETRIES, "completions that cannot be written to __transaction_state"),
    ):
        for found in above(case, series, 0):
            yield Problem(
                resource=found.resource,
                message=f"{found.value:.0f} {waits} wait in the coordinator of {found.source}.",
                impact="Decided transactions do not end; readers stop before them, and their ids are blocked.",
                evidence=(found.evidence,),
                remedy=("Bring back the leader or the in-sync replicas that are missing.",),
                commands=(Command(f"eosctl txn list -b {case.bootstrap} --state PrepareCommit --state PrepareAbort"),),
                verify=(found.verify,),
                incident=f"markers: {found.metric}",
                facts=(("metric", found.metric), ("waiting_count", round(found.value))),
            )
