"""EOS-OPS-008."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.measured import NEEDS, Series, above, shown
from eosctl.findings.finding import Command
from eosctl.model.severity import Severity
from eosctl.text import duration_text

_LOAD: Final = "kafka_server_{}_coordinator_metrics_partition_load_time_max"
LOADS: Final = tuple(
    (Series(_LOAD.format(coordinator), attribute="partition-load-time-max"), topic)
    for coordinator, topic in (("transaction", "__transaction_state"), ("group", "__consumer_offsets"))
)
SLOW_MS: Final = 10_000


@check(
    "EOS-OPS-008",
    "Coordinator took long to load",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=NEEDS,
    tags=("coordinators", "availability", "metrics"),
    references=(
        "KIP-484",
        "transaction.state.log.segment.bytes",
        "offsets.load.buffer.size",
    ),
    applies=shown(*(series for series, _ in LOADS)),
)
def coordinator_loads_slowly(case: Case) -> Iterator[Problem]:
    """Find coordinators that were away for long while they loaded.

    What it checks:
        partition-load-time-max of both coordinators, against 10,000 ms.

    Why it matters for exactly-once:
        Until the load ends, every transactional id or group of the partition is answered
        COORDINATOR_LOAD_IN_PROGRESS; transactions reach their timeouts.

    Example:
        A __consumer_offsets partition of gigabytes, because the log cleaner had died.

    Fix:
        Make sure that the topic is compacted, lower its segment size, and check the disk.

    Verify:
        eosctl doctor --metrics with the program's address: EOS-OPS-008 passes.
    """
    for series, topic in LOADS:
        for found in above(case, series, SLOW_MS):
            yield Problem(
                resource=found.resource,
                message=f"{found.source} took {duration_text(round(found.value))} to load a partition of {topic}.",
                impact="Until then its transactional ids or groups were answered COORDINATOR_LOAD_IN_PROGRESS.",
                evidence=(found.evidence,),
                remedy=(f"See that {topic} is compacted, and how large its partitions are.",),
                commands=(
                    Command(f"kafka-log-dirs.sh --bootstrap-server {case.bootstrap} --describe --topic-list {topic}"),
                ),
                verify=(found.verify,),
                incident=f"load of {topic}",
                facts=(("load_time_ms", round(found.value)), ("topic", topic)),
            )
