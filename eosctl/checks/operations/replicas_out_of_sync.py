"""EOS-OPS-006."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-OPS-006",
    "Replicas are out of sync",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS}),
    uses=frozenset({EvidenceKind.REASSIGNMENTS}),
    tags=("durability",),
    references=(
        "KIP-16",
        "replica.lag.time.max.ms",
    ),
)
def replicas_out_of_sync(case: Case) -> Iterator[Problem]:
    """Find brokers that do not keep up with the leaders of their partitions.

    What it checks:
        Partitions whose ISR is smaller than their replicas, by the broker that is missing; brokers whose replicas are
        offline have a check of their own. A replica that a reassignment adds is expected to be behind: that is
        information.

    Why it matters for exactly-once:
        Each missing replica is durability that committed records do not have, and the next restart may stop writes.

    Example:
        A broker with a slow disk leaves and joins the ISR of many partitions.

    Fix:
        Check the broker's disk and network, and num.replica.fetchers. Do not restart another broker meanwhile.

    Verify:
        eosctl check run EOS-OPS-006 passes.
    """
    arriving = {(move.partition, replica) for move in case.snapshot.reassignments for replica in move.adding}
    moved: dict[int, list[str]] = {}
    missing: dict[int, list[str]] = {}
    for topic in case.snapshot.topics:
        for info in topic.partitions:
            for replica in info.replicas:
                if info.leader_id is not None and replica not in info.isr and replica not in info.offline_replicas:
                    found = moved if (info.partition, replica) in arriving else missing
                    found.setdefault(replica, []).append(str(info.partition))
    for broker_id, partitions in sorted(missing.items()):
        yield Problem(
            resource=Resource("broker", str(broker_id)),
            message=f"Broker {broker_id} is out of sync on {count_text(len(partitions), 'partition')}.",
            impact="Committed records there have one replica less.",
            evidence=(Evidence("out of sync", name_some("partition", partitions), "Metadata"),),
            remedy=("Check its disk and network; do not restart another broker meanwhile.",),
            commands=(
                Command(
                    f"kafka-topics.sh --bootstrap-server {case.bootstrap} --describe --under-replicated-partitions"
                ),
            ),
            verify=(Command(f"eosctl check run EOS-OPS-006 -b {case.bootstrap}"),),
            facts=(("broker", broker_id), ("partition_count", len(partitions))),
        )
    for broker_id, partitions in sorted(moved.items()):
        yield _arriving(broker_id, partitions, case)


def _arriving(broker_id: int, partitions: list[str], case: Case) -> Problem:
    return Problem(
        resource=Resource("broker", str(broker_id)),
        message=f"Broker {broker_id} copies {count_text(len(partitions), 'partition')} of a reassignment.",
        severity=Severity.INFO,
        impact="Copying takes disk and network from the brokers' work; a throttle makes it last longer.",
        evidence=(Evidence("arriving", name_some("partition", partitions), "ListPartitionReassignments"),),
        remedy=("Wait until it is complete before you restart brokers.",),
        commands=(Command(f"kafka-reassign-partitions.sh --bootstrap-server {case.bootstrap} --list"),),
        verify=(Command(f"kafka-reassign-partitions.sh --bootstrap-server {case.bootstrap} --list", "it is empty"),),
        facts=(("broker", broker_id), ("partition_count", len(partitions)), ("reassignment", True)),
    )
