"""EOS-OPS-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import duration_text, time_text


@check(
    "EOS-OPS-001",
    "A coordinator's clock is ahead",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    uses=frozenset({EvidenceKind.TRANSACTION_HISTORY}),
    since=(3, 0),
    tags=("clocks",),
    references=(
        "KAFKA-8803",
        "transaction.timeout.ms",
    ),
)
def coordinator_clock_ahead(case: Case) -> Iterator[Problem]:
    """Find coordinators whose transactions began, or ended, in the future.

    What it checks:
        Start times of transactions, and times of records in __transaction_state, which are the coordinator's clock,
        against the time at which they were read, with five seconds of tolerance. A record of an earlier leader epoch
        does not show which broker wrote it.

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
    worst: dict[Resource, tuple[int, Evidence]] = {}
    for resource, ahead_ms, evidence in (*_began_ahead(case.snapshot), *_written_ahead(case.snapshot)):
        if ahead_ms > max(case.limits.clock_tolerance_ms, worst.get(resource, (0, evidence))[0]):
            worst[resource] = (ahead_ms, evidence)
    for resource, (ahead_ms, evidence) in sorted(worst.items(), key=lambda one: (one[0].kind, one[0].name)):
        is_broker = resource.kind == "broker"
        whose = f"The clock of broker {resource.name} is" if is_broker else f"A former leader of {resource.name} wrote"
        yield Problem(
            resource=resource,
            message=f"{whose} {duration_text(ahead_ms)} ahead of this host's{'' if is_broker else ' clock'}.",
            confidence=Confidence.LIKELY,
            cause="One of the two clocks is wrong, or was.",
            impact="Transactions time out too early or too late when their coordinator moves.",
            evidence=(evidence,),
            remedy=("Let NTP slew the clocks of all brokers.",),
            verify=(Command(f"eosctl check run EOS-OPS-001 -b {case.bootstrap}"),),
            facts=((resource.kind, int(resource.name) if is_broker else resource.name), ("ahead_ms", ahead_ms)),
        )


def _began_ahead(snapshot: ClusterSnapshot) -> Iterator[tuple[Resource, int, Evidence]]:
    seen_at_ms = snapshot.looks[-1].finished_at_ms if snapshot.looks else snapshot.captured_at_ms
    for transaction in snapshot.transactions:
        ahead_ms = (transaction.start_time_ms or 0) - seen_at_ms
        evidence = Evidence("start of a transaction", f"{duration_text(ahead_ms)} from now", "DescribeTransactions")
        yield Resource("broker", str(transaction.coordinator_id)), ahead_ms, evidence


def _written_ahead(snapshot: ClusterSnapshot) -> Iterator[tuple[Resource, int, Evidence]]:
    log = snapshot.topic(TRANSACTION_STATE_TOPIC)
    leaders = {} if log is None else {info.partition.partition: info for info in log.partitions}
    for entry in snapshot.transaction_history:
        info = leaders.get(entry.log_partition)
        is_current = info is not None and info.leader_id is not None and info.leader_epoch == entry.coordinator_epoch
        where = f"{TRANSACTION_STATE_TOPIC}-{entry.log_partition}"
        resource = Resource("broker", str(info.leader_id)) if is_current and info else Resource("partition", where)
        text = f"offset {entry.offset}, {time_text(entry.written_at_ms)}"
        yield resource, entry.written_at_ms - snapshot.captured_at_ms, Evidence("record", text, where)
