"""EOS-CAP-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-CAP-001",
    "Partition remembers very many producers",
    Area.CAPACITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.PRODUCERS}),
    since=(2, 8),
    tags=("capacity",),
    references=(
        "KIP-854",
        "KAFKA-16229",
        "producer.id.expiration.ms",
    ),
)
def producer_ids_crowd_a_partition(case: Case) -> Iterator[Problem]:
    """Find partitions whose leader keeps thousands of producer ids.

    What it checks:
        The producers that a partition's leader reports, against 5,000.

    Why it matters for exactly-once:
        Each uses heap and space in every snapshot, and expiring many of them together holds the log's lock for seconds.
        They come from applications that create a producer for every request or every run: each gets a new id since
        idempotence is the default.

    Example:
        A function that creates a producer for each invocation.

    Fix:
        Reuse producers. Only then shorten producer.id.expiration.ms, never below delivery.timeout.ms.

    Verify:
        eosctl check run EOS-CAP-001 passes.
    """
    for where in case.snapshot.producers:
        if len(where.producers) > case.limits.producer_id_count:
            yield Problem(
                resource=Resource("partition", str(where.partition)),
                message=f"{where.partition} remembers {count_text(len(where.producers), 'producer')}.",
                impact="Start, failover and expiry of the log take seconds longer.",
                evidence=(
                    Evidence("producers", str(len(where.producers)), f"DescribeProducers broker {where.broker_id}"),
                ),
                remedy=("Let applications reuse their producers.",),
                commands=(Command(f"eosctl txn list -b {case.bootstrap}", "are they transactional?"),),
                verify=(Command(f"eosctl check run EOS-CAP-001 -b {case.bootstrap}"),),
                facts=(("partition", str(where.partition)), ("producer_count", len(where.producers))),
            )
