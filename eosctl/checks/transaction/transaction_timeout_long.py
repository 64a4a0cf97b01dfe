"""EOS-TXN-010."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.transaction import NO_TIMEOUT_MS
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, duration_text, name_some

DEFAULT_MS: Final = 900_000


@check(
    "EOS-TXN-010",
    "Transactional ids with a timeout above fifteen minutes",
    Area.TRANSACTION,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TRANSACTIONS}),
    since=(3, 0),
    tags=(
        "timeouts",
        "lso",
    ),
    references=(
        "KIP-98",
        "transaction.timeout.ms",
        "transaction.max.timeout.ms",
    ),
)
def transaction_timeout_long(case: Case) -> Iterator[Problem]:
    """Find producers that may hold readers back for longer than Kafka allows by default.

    What it checks:
        Timeouts that coordinators know of an id, above 900,000 ms (the default of transaction.max.timeout.ms) and
        other than those of two-phase commits.

    Why it matters for exactly-once:
        When such a producer dies in a transaction, read_committed readers of its partitions stand still for the whole
        time, and compaction with them.

    Example:
        Flink sinks with one hour, after transaction.max.timeout.ms had been raised for them.

    Fix:
        Lower the timeouts to checkpoint interval plus restart time, and give such jobs topics of their own.

    Verify:
        eosctl check run EOS-TXN-010 passes.
    """
    long = [t for t in case.snapshot.transactions if DEFAULT_MS < t.timeout_ms < NO_TIMEOUT_MS]
    if long:
        most = max(t.timeout_ms for t in long)
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{count_text(len(long), 'transactional id')} with timeouts up to {duration_text(most)}.",
            impact="A producer that dies holds readers back for that long.",
            evidence=(
                Evidence("long timeout", name_some("id", [t.transactional_id for t in long]), "DescribeTransactions"),
            ),
            remedy=("Lower transaction.timeout.ms of these producers.",),
            verify=(Command(f"eosctl check run EOS-TXN-010 -b {case.bootstrap}"),),
            facts=(("transactional_ids", ",".join(t.transactional_id for t in long)), ("timeout_ms", most)),
        )
