"""EOS-TOP-001."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some

_IMPACT = {
    TRANSACTION_STATE_TOPIC: "Transactional ids of these partitions have no coordinator: they can neither begin nor "
    "end.",
    CONSUMER_OFFSETS_TOPIC: "Groups of these partitions have no coordinator: they can neither commit nor rebalance.",
}


@check(
    "EOS-TOP-001",
    "Partition without leader",
    Area.TOPIC,
    Severity.CRITICAL,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=("availability",),
    references=(
        "KIP-966",
        "KAFKA-20734",
        "unclean.leader.election.enable",
    ),
)
def partition_without_leader(case: Case) -> Iterator[Problem]:
    """Find partitions without a leader.

    What it checks:
        The leader of every partition in the metadata.

    Why it matters for exactly-once:
        Transactions with such a partition cannot write to it and, up to Kafka 4.2, cannot complete either. From 4.3, a
        coordinator takes the partition for deleted and skips its marker (KAFKA-20734): a committed transaction then
        hangs there when the leader returns.

    Example:
        A topic with one replica whose broker is down; all in-sync replicas of a partition lost.

    Fix:
        Bring back the last in-sync replica. Do not elect an unclean leader for a topic that carries transactions, and
        let no transaction end on it meanwhile on 4.3 or later if you can help it.

    Verify:
        kafka-topics.sh --describe --unavailable-partitions prints nothing.
    """
    for topic in case.snapshot.topics:
        lost = [info for info in topic.partitions if info.leader_id is None]
        if not lost:
            continue
        numbers = [str(info.partition.partition) for info in lost]
        yield Problem(
            resource=Resource("topic", topic.name),
            message=f"{topic.name}: {name_some('partition', numbers)} without leader ({len(lost)} of "
            f"{len(topic.partitions)}).",
            impact=_IMPACT.get(
                topic.name, f"{topic.name}: clients cannot write to or read from {name_some('partition', numbers)}."
            ),
            evidence=tuple(
                Evidence(
                    str(info.partition),
                    f"replicas {_ids(info.replicas)}; in sync {_ids(info.isr)}; offline {_ids(info.offline_replicas)}",
                    "Metadata",
                )
                for info in lost[:8]
            ),
            remedy=_remedy(lost, case),
            commands=(
                Command(f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --unavailable-partitions"),
            ),
            verify=(Command(f"eosctl check run EOS-TOP-001 -b {case.bootstrap}"),),
            facts=(("topic", topic.name), ("partitions", ",".join(numbers))),
        )


def _remedy(lost: list[PartitionInfo], case: Case) -> tuple[str, ...]:
    """Return how to bring replicas back: brokers that run have lost a log directory."""
    running = {broker.node_id for broker in case.snapshot.brokers if broker.reachable and not broker.fenced}
    offline = {node_id for info in lost for node_id in info.offline_replicas}
    failed = sorted(offline & running)
    start = "Start a broker that holds an in-sync replica."
    if not failed:
        return (start,)
    replace = (
        f"Replace the failed log directory of {name_some('broker', [str(node) for node in failed])}, and restart it."
    )
    return (replace, start) if offline - running else (replace,)


def _ids(nodes: tuple[int, ...]) -> str:
    return ", ".join(str(node) for node in nodes) or "none"
