"""EOS-OPS-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import duration_text


@check(
    "EOS-OPS-001",
    "A coordinator's clock is ahead",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(3, 0),
    tags=("clocks",),
    references=(
        "KAFKA-8803",
        "transaction.timeout.ms",
    ),
)
def coordinator_clock_ahead(case: Case) -> Iterator[Problem]:
    """Find coordinators whose transactions began in the future.

    What it checks:
        Start times of transactions, which are the coordinator's clock, against the time at which they were asked for,
        with five seconds of tolerance.

    Why it matters for exactly-once:
        Timeouts count by the coordinator's clock. When a coordinator moves to a broker with another clock,
        transactions are aborted too early, or long after their time; a clock that is set back keeps them open.

    Example:
        One broker without NTP, a minute ahead.

    Fix:
        Let NTP slew the clocks of all brokers, and of the host that eosctl runs on.

    Verify:
        eosctl check run EOS-OPS-001 passes.
    """
    worst: dict[int, int] = {}
    seen_at_ms = case.snapshot.looks[-1].finished_at_ms if case.snapshot.looks else case.snapshot.captured_at_ms
    for transaction in case.snapshot.transactions:
        ahead_ms = (transaction.start_time_ms or 0) - seen_at_ms
        if ahead_ms > case.limits.clock_tolerance_ms:
            worst[transaction.coordinator_id] = max(worst.get(transaction.coordinator_id, 0), ahead_ms)
    for broker_id, ahead_ms in sorted(worst.items()):
        yield Problem(
            resource=Resource("broker", str(broker_id)),
            message=f"The clock of broker {broker_id} is {duration_text(ahead_ms)} ahead of this host's.",
            confidence=Confidence.LIKELY,
            cause="One of the two clocks is wrong.",
            impact="Transactions time out too early or too late when their coordinator moves.",
            evidence=(
                Evidence("start of a transaction", f"{duration_text(ahead_ms)} from now", "DescribeTransactions"),
            ),
            remedy=("Let NTP slew the clocks of all brokers.",),
            verify=(Command(f"eosctl check run EOS-OPS-001 -b {case.bootstrap}"),),
            facts=(("broker", broker_id), ("ahead_ms", ahead_ms)),
        )
