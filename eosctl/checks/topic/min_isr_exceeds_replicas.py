"""EOS-TOP-006."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import add_replicas, after_return
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text


@check(
    "EOS-TOP-006",
    "Topic demands more in-sync replicas than it has",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS}),
    tags=("durability",),
    references=(
        "KAFKA-15583",
        "min.insync.replicas",
    ),
)
def min_isr_exceeds_replicas(case: Case) -> Iterator[Problem]:
    """Find topics whose min.insync.replicas is larger than their number of replicas.

    What it checks:
        An explicit min.insync.replicas of each topic (not Kafka's default) against the replicas of its partitions.

    Why it matters for exactly-once:
        Since 3.7 brokers take it down to the number of replicas in silence: a topic with one replica and a minimum of
        two acknowledges on one. Before, all writes with acks=all were refused.

    Example:
        min.insync.replicas=2 for the cluster, and a topic that was created with one replica.

    Fix:
        Give the topic the replicas that its minimum asks for.

    Verify:
        eosctl check run EOS-TOP-006 passes.
    """
    for topic in case.snapshot.topics:
        setting = topic.setting("min.insync.replicas")
        required = number(setting)
        few = [info for info in topic.partitions if required is not None and len(info.replicas) < required]
        if setting is None or setting.is_default or not few:
            continue
        replicas = min(len(info.replicas) for info in few)
        yield Problem(
            resource=Resource("topic", topic.name),
            message=f"{topic.name} has {count_text(replicas, 'replica')} and min.insync.replicas={required}.",
            impact="Writes are acknowledged with fewer replicas than configured, or refused before 3.7.",
            evidence=(Evidence("min.insync.replicas", f"{required} ({setting.source.value})", "DescribeConfigs"),),
            remedy=(*after_return(case.snapshot), f"Give it {required} replicas or more."),
            commands=add_replicas(topic, required or replicas, case.snapshot, case.bootstrap),
            verify=(Command(f"eosctl check run EOS-TOP-006 -b {case.bootstrap}"),),
            facts=(("topic", topic.name), ("replicas", replicas), ("min_insync_replicas", required or 0)),
        )
