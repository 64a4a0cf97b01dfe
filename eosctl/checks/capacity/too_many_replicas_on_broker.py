"""EOS-CAP-004."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-CAP-004",
    "Broker holds very many replicas",
    Area.CAPACITY,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=("capacity",),
    references=(
        "KIP-98",
        "num.partitions",
    ),
)
def too_many_replicas_on_broker(case: Case) -> Iterator[Problem]:
    """Find brokers whose loss moves thousands of partitions.

    What it checks:
        Replicas per broker against 4,000.

    Why it matters for exactly-once:
        A controlled stop and the return of such a broker take minutes; meanwhile leaders and coordinators move, and
        transactions of clients that are slow to follow time out.

    Example:
        50 partitions for each of hundreds of small topics.

    Fix:
        Fewer partitions for small topics, or more brokers.

    Verify:
        eosctl check run EOS-CAP-004 passes.
    """
    held = Counter(replica for topic in case.snapshot.topics for info in topic.partitions for replica in info.replicas)
    for broker_id, count in sorted(held.items()):
        if count > case.limits.partition_count:
            yield Problem(
                resource=Resource("broker", str(broker_id)),
                message=f"Broker {broker_id} holds {count_text(count, 'replica')}.",
                impact="Its restart takes minutes.",
                evidence=(Evidence("replicas", str(count), "Metadata"),),
                remedy=("Use fewer partitions for small topics, or more brokers.",),
                verify=(Command(f"eosctl check run EOS-CAP-004 -b {case.bootstrap}"),),
                facts=(("broker", broker_id), ("replica_count", count)),
            )
