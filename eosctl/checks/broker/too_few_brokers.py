"""EOS-BRK-012."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.grade import at_most
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-BRK-012",
    "Too few brokers to survive the loss of one",
    Area.BROKER,
    Severity.INFO,
    needs=frozenset({EvidenceKind.CLUSTER, EvidenceKind.TOPICS}),
    tags=("durability",),
    references=("KIP-98", "transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
)
def too_few_brokers(case: Case) -> Iterator[Problem]:
    """Report a cluster that is too small for the guarantees of exactly-once.

    What it checks:
        The number of brokers, including those that are down but hold replicas, against the three replicas of a durable
        transaction log. It is information, because a cluster for development has one broker on purpose. The grade is
        at most C, because nothing else in the cluster makes up for it.

    Why it matters for exactly-once:
        A commit is as durable as the transaction log and the records. On one broker all of them go with its disk:
        outcomes, producer epochs, committed offsets. On two, either each restart stops all transactions
        (min.insync.replicas=2) or an acknowledged outcome may lie on the lost broker alone (1).

    Example:
        The server.properties that Kafka ships sets transaction.state.log.replication.factor=1 for one broker.

    Fix:
        For production: three brokers or more, internal topics with three replicas and min.insync.replicas=2. For
        development: nothing.

    Verify:
        eosctl check run EOS-BRK-012 passes.
    """
    wanted = case.limits.transaction_log_replication_factor
    known = len(_broker_ids(case.snapshot))
    if 0 < known < wanted:
        effect = (
            "What it holds is lost with its disk: outcomes of transactions, producer epochs, committed offsets."
            if known == 1
            else "Either every restart stops transactions, or the loss of one broker can lose their outcomes."
        )
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"The cluster has {count_text(known, 'broker')}; a durable transaction log needs {wanted}.",
            impact=effect,
            evidence=(Evidence("brokers", str(known), "Metadata"),),
            remedy=("Nothing, if this is a cluster for development; else add brokers, then replicas.",),
            facts=(("brokers", known), at_most("C")),
        )


def _broker_ids(snapshot: ClusterSnapshot) -> set[int]:
    """Return the ids of all brokers; brokers that are down are known from their assigned replicas."""
    assigned = {node for topic in snapshot.topics for info in topic.partitions for node in info.replicas}
    return assigned | {broker.node_id for broker in snapshot.brokers}
