"""EOS-BRK-010."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import broker_values, number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from eosctl.text import duration_text

PRODUCER_MS: Final = 60_000
STREAMS_MS: Final = 10_000


@check(
    "EOS-BRK-010",
    "Brokers refuse clients with the default transaction timeout",
    Area.BROKER,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("timeouts",),
    references=(
        "KIP-98",
        "transaction.max.timeout.ms",
    ),
)
def broker_refuses_default_timeouts(case: Case) -> Iterator[Problem]:
    """Find brokers on which producers with their defaults cannot start.

    What it checks:
        transaction.max.timeout.ms below 60,000 ms, the default of producers; below 10,000 ms, that of Kafka Streams,
        it is an error.

    Why it matters for exactly-once:
        InitProducerId is answered with INVALID_TRANSACTION_TIMEOUT, which is fatal.

    Example:
        transaction.max.timeout.ms=30000, to bound how long readers wait.

    Fix:
        Set it to 60000 or more; it needs a restart.

    Verify:
        eosctl check run EOS-BRK-010 passes.
    """
    low = [
        one
        for one in broker_values(case.snapshot, "transaction.max.timeout.ms")
        if (number(one.setting) or PRODUCER_MS) < PRODUCER_MS
    ]
    if low:
        least = min(number(one.setting) or 0 for one in low)
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"transaction.max.timeout.ms is {duration_text(least)}; producers ask for 1 min.",
            severity=Severity.ERROR if least < STREAMS_MS else None,
            impact="Producers with their default timeout are refused.",
            evidence=tuple(one.evidence for one in low[:8]),
            remedy=("Set transaction.max.timeout.ms to 60000 or more.",),
            verify=(Command(f"eosctl check run EOS-BRK-010 -b {case.bootstrap}"),),
            facts=(("transaction_max_timeout_ms", least),),
        )
