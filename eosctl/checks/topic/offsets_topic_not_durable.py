"""EOS-TOP-009."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import add_replicas, after_return, broker_ids
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource


@check(
    "EOS-TOP-009",
    "Offsets topic has too few replicas",
    Area.TOPIC,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=("durability",),
    references=(
        "KIP-98",
        "offsets.topic.replication.factor",
    ),
)
def offsets_topic_not_durable(case: Case) -> Iterator[Problem]:
    """Find clusters that can lose committed offsets with one broker.

    What it checks:
        The replicas of __consumer_offsets against three, or the number of brokers where there are fewer.

    Why it matters for exactly-once:
        Committed offsets are the position of every exactly-once application. Lost ones mean records that are
        processed again or never.

    Example:
        The cluster was started with one broker; the topic was created then and never reassigned.

    Fix:
        Add replicas with kafka-reassign-partitions.sh; the brokers' setting counts only when the topic is created.

    Verify:
        eosctl check run EOS-TOP-009 passes.
    """
    topic = case.snapshot.topic(CONSUMER_OFFSETS_TOPIC)
    if topic is None or not topic.partitions:
        return
    wanted = min(case.limits.transaction_log_replication_factor, max(1, len(broker_ids(case.snapshot))))
    replicas = min(len(info.replicas) for info in topic.partitions)
    if replicas < wanted:
        yield Problem(
            resource=Resource("topic", topic.name),
            message=f"{topic.name} has partitions with {replicas} of {wanted} replicas.",
            impact="The loss of a broker can lose committed offsets.",
            evidence=(Evidence("replicas", str(replicas), "Metadata"),),
            remedy=(
                *after_return(case.snapshot),
                "Add replicas; the brokers' setting counts only when the topic is created.",
            ),
            commands=add_replicas(topic, wanted, case.snapshot, case.bootstrap),
            verify=(Command(f"eosctl check run EOS-TOP-009 -b {case.bootstrap}"),),
            facts=(("topic", topic.name), ("replicas", replicas)),
        )
