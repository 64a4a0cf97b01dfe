"""EOS-TOP-008."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import name_some


@check(
    "EOS-TOP-008",
    "All replicas of an internal partition are in one rack",
    Area.TOPIC,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=(
        "durability",
        "availability",
    ),
    references=(
        "KIP-36",
        "broker.rack",
    ),
)
def replicas_in_one_rack(case: Case) -> Iterator[Problem]:
    """Find partitions of coordinators that one rack takes away.

    What it checks:
        Partitions of internal topics with two replicas or more, all on brokers of the same broker.rack, where the
        brokers name two racks or more.

    Why it matters for exactly-once:
        With the rack go all decisions of the transactions that the partition coordinates, until it comes back.

    Example:
        broker.rack was set after __transaction_state had been created.

    Fix:
        Reassign the partitions over the racks.

    Verify:
        eosctl check run EOS-TOP-008 passes.
    """
    racks = {broker.node_id: broker.rack for broker in case.snapshot.brokers if broker.rack}
    if len(set(racks.values())) < 2:
        return
    for topic in case.snapshot.topics:
        alone = [
            i for i in topic.partitions if len(i.replicas) > 1 and len({racks.get(r, str(r)) for r in i.replicas}) == 1
        ]
        if topic.internal and alone:
            yield Problem(
                resource=Resource("topic", topic.name),
                message=f"{topic.name}: {name_some('partition', [str(i.partition.partition) for i in alone])}: 1 rack.",
                impact="The loss of the rack takes the coordinators of these partitions away.",
                evidence=tuple(
                    Evidence(str(i.partition), f"rack {racks[i.replicas[0]]}", "Metadata") for i in alone[:8]
                ),
                remedy=("Spread the replicas over the racks with kafka-reassign-partitions.sh.",),
                verify=(Command(f"eosctl check run EOS-TOP-008 -b {case.bootstrap}"),),
                facts=(("topic", topic.name), ("partitions", ",".join(str(i.partition.partition) for i in alone))),
            )
