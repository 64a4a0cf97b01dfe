"""EOS-TOP-002."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.partitions import needed_in_sync
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.settings import number
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.setting import AT_LEAST
from eosctl.model.severity import Severity
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-TOP-002",
    "Partition has fewer in-sync replicas than writes require",
    Area.TOPIC,
    Severity.ERROR,
    needs=frozenset({EvidenceKind.TOPICS, EvidenceKind.TOPIC_CONFIGS}),
    tags=("availability", "durability"),
    references=(
        "min.insync.replicas",
        "KAFKA-15583",
        "replica.lag.time.max.ms",
    ),
)
def partition_under_min_isr(case: Case) -> Iterator[Problem]:
    """Find partitions that refuse every transactional write at the moment.

    What it checks:
        The in-sync replicas of every partition that has a leader against min.insync.replicas of its topic; on brokers
        since 3.7, as they count, no more than the partition has replicas.

    Why it matters for exactly-once:
        Idempotent and transactional producers write with acks=all. Such a partition answers NOT_ENOUGH_REPLICAS, and
        transactions that touch it run into their timeout. In __transaction_state it stops every transaction of the
        partition, in __consumer_offsets every offset commit.

    Example:
        Three replicas, min.insync.replicas=2, two brokers down or lagging.

    Fix:
        Bring the missing replicas back in sync: start their brokers, check disk and network. Lowering
        min.insync.replicas gives up its guarantee.

    Verify:
        kafka-topics.sh --describe --under-min-isr-partitions prints nothing.
    """
    for topic in case.snapshot.topics:
        needed = {info.partition: needed_in_sync(case.snapshot, topic, info) for info in topic.partitions}
        short = [
            info
            for info in topic.partitions
            if info.leader_id is not None and len(info.isr) < (needed[info.partition] or 0)
        ]
        if not short:
            continue
        setting = topic.setting("min.insync.replicas")
        required = number(setting) or 0
        shown = "" if setting and setting.origin == AT_LEAST else f"={required}"
        numbers = [str(info.partition.partition) for info in short]
        yield Problem(
            resource=Resource("topic", topic.name),
            message=(
                f"{topic.name}: {name_some('partition', numbers)} below min.insync.replicas{shown} "
                f"({len(short)} of {len(topic.partitions)})."
            ),
            impact="Writes with acks=all are refused with NOT_ENOUGH_REPLICAS; transactions on it run into their "
            "timeout.",
            evidence=tuple(
                Evidence(
                    str(info.partition),
                    f"in sync {', '.join(map(str, info.isr)) or 'none'} of {', '.join(map(str, info.replicas))}",
                    "Metadata",
                )
                for info in short[:8]
            ),
            remedy=(_remedy(short, required),),
            commands=(
                Command(f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --under-min-isr-partitions"),
            ),
            verify=(Command(f"eosctl check run EOS-TOP-002 -b {case.bootstrap}"),),
            facts=(("topic", topic.name), ("min_insync_replicas", required), ("partitions", ",".join(numbers))),
        )


def _remedy(short: list[PartitionInfo], required: int) -> str:
    if any(len(info.isr) < len(info.replicas) for info in short):
        return "Bring the missing replicas back in sync."
    return f"Give the partitions {required} replicas or more; all that they have are in sync."
