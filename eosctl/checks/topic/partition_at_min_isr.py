"""EOS-TOP-007."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-TOP-007",
    "Partition can lose no further replica",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS}),
    tags=("availability",),
    references=(
        "KIP-966",
        "min.insync.replicas",
    ),
)
def partition_at_min_isr(case: Case) -> Iterator[Problem]:
    """Find partitions that the loss of one more broker stops.

    What it checks:
        Partitions with fewer replicas in sync than they have, and exactly as many as min.insync.replicas demands,
        where that is two or more.

    Why it matters for exactly-once:
        The next broker that fails or restarts makes transactional writes fail with NOT_ENOUGH_REPLICAS.

    Example:
        One of three brokers is down for maintenance, and a second one is about to be restarted.

    Fix:
        Wait until all replicas are in sync before the next restart.

    Verify:
        eosctl check run EOS-TOP-007 passes.
    """
    for topic in case.snapshot.topics:
        required = number(topic.setting("min.insync.replicas")) or 0
        edge = [i for i in topic.partitions if len(i.isr) == required and len(i.isr) < len(i.replicas)]
        if required < 2 or not edge:
            continue
        yield Problem(
            resource=Resource("topic", topic.name),
            message=f"{topic.name}: {name_some('partition', [str(i.partition.partition) for i in edge])} at "
            f"min.insync.replicas={required}.",
            impact="One more lost broker stops writes.",
            evidence=tuple(
                Evidence(
                    str(i.partition),
                    f"in sync {', '.join(map(str, i.isr))} of {', '.join(map(str, i.replicas))}",
                    "Metadata",
                )
                for i in edge[:8]
            ),
            remedy=("Restart no broker until all replicas are in sync.",),
            commands=(
                Command(f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --at-min-isr-partitions"),
            ),
            verify=(Command(f"eosctl check run EOS-TOP-007 -b {case.bootstrap}"),),
            facts=(("topic", topic.name), ("partitions", ",".join(str(i.partition.partition) for i in edge))),
        )
