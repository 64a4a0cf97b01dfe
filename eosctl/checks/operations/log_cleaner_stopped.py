"""EOS-OPS-009."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Series, above, shown
from eosctl.model.severity import Severity

DEAD: Final = Series("kafka_log_LogCleaner_Value", "DeadThreadCount")
UNCLEANABLE: Final = Series("kafka_log_LogCleanerManager_Value", "uncleanable-partitions-count")


@check(
    "EOS-OPS-009",
    "Log cleaner has stopped",
    Area.OPERATIONS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("compaction", "coordinators", "metrics"),
    references=(
        "KIP-346",
        "log.cleaner.enable",
    ),
    applies=shown(DEAD, UNCLEANABLE),
)
def log_cleaner_stopped(case: Case) -> Iterator[Problem]:
    """Find brokers whose cleaner threads died, or that gave up partitions.

    What it checks:
        The gauges DeadThreadCount and uncleanable-partitions-count.

    Why it matters for exactly-once:
        __transaction_state and __consumer_offsets are compacted: without it they grow, and coordinators load
        for minutes after an election.

    Example:
        A batch that the cleaner cannot read ends its thread; this goes unnoticed until a broker restarts.

    Fix:
        Find the partition and the error in log-cleaner.log, repair or move the partition, and restart the
        broker.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-OPS-009 passes.
    """
    for series, what in ((DEAD, "cleaner threads have died"), (UNCLEANABLE, "partitions were given up by the cleaner")):
        for found in above(case, series, 0):
            yield Problem(
                resource=found.resource,
                message=f"On {found.source} {found.value:.0f} {what}.",
                impact="Compacted logs grow, those of coordinators too: they load for minutes after an election.",
                evidence=(found.evidence,),
                remedy=("Find the error in the broker's log-cleaner.log, fix it, and restart the broker.",),
                verify=(found.verify,),
                incident=f"cleaner: {found.metric}",
                facts=(("metric", found.metric), ("count", round(found.value))),
            )
