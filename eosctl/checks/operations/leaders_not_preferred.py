"""EOS-OPS-007."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.partition_commands import elect_preferred_leaders
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some

NOTABLE: Final = 10


@check(
    "EOS-OPS-007",
    "Many leaders are not where they should be",
    Area.OPERATIONS,
    Severity.INFO,
    needs=frozenset({EvidenceKind.TOPICS}),
    tags=("capacity",),
    references=(
        "KIP-460",
        "auto.leader.rebalance.enable",
    ),
)
def leaders_not_preferred(case: Case) -> Iterator[Problem]:
    """Find clusters whose load did not return after restarts.

    What it checks:
        How many partitions are led by another broker than their first replica, although that one is in sync, against
        20 per cent.

    Why it matters for exactly-once:
        Leaders and coordinators gather on the brokers that restarted first; those are slow, and their next restart
        moves most transactions of the cluster.

    Example:
        auto.leader.rebalance.enable=false and a rolling restart.

    Fix:
        Elect preferred leaders.

    Verify:
        eosctl check run EOS-OPS-007 passes.
    """
    if case.controller_is_silent:
        return
    partitions = [i for t in case.snapshot.topics for i in t.partitions if i.replicas and i.leader_id is not None]
    away = [i for i in partitions if i.leader_id != i.replicas[0] and i.replicas[0] in i.isr]
    if len(away) * 100 > len(partitions) * case.limits.preferred_leader_percent and len(away) >= NOTABLE:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{len(away)} of {count_text(len(partitions), 'partition')} are not led by their first replica.",
            impact="Load and coordinators gather on few brokers.",
            evidence=(Evidence("elsewhere", name_some("partition", [str(i.partition) for i in away]), "Metadata"),),
            remedy=("Elect preferred leaders.",),
            commands=(elect_preferred_leaders(case.snapshot),),
            verify=(Command(f"eosctl check run EOS-OPS-007 -b {case.bootstrap}"),),
            facts=(("away_count", len(away)), ("partition_count", len(partitions))),
        )
