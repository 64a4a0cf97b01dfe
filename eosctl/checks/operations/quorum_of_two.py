"""EOS-OPS-002."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource

PAIR: Final = 2


@check(
    "EOS-OPS-002",
    "Controller quorum cannot lose a voter",
    Area.OPERATIONS,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.QUORUM}),
    tags=("availability",),
    references=(
        "KIP-595",
        "controller.quorum.voters",
    ),
)
def quorum_of_two(case: Case) -> Iterator[Problem]:
    """Find controller quorums with two voters, or one.

    What it checks:
        The voters of the metadata log. Two voters are worse than one: both must be there. A single voter is what
        development uses, and information. A quorum without a leader is EOS-OPS-010.

    Why it matters for exactly-once:
        Without a controller no leader is elected, no producer id block is handed out, and no ISR can shrink or grow:
        transactions fail one after the other.

    Example:
        Two controllers, because there were two machines.

    Fix:
        Run three voters.

    Verify:
        eosctl check run EOS-OPS-002 passes.
    """
    quorum = case.snapshot.quorum
    if quorum is None:
        return
    voters = len(quorum.voters)
    if voters == PAIR:
        problem = ("The controller quorum has two voters: the loss of either stops it.", Severity.WARNING)
    elif voters == 1 and case.snapshot.broker_count > 1:
        problem = ("The controller quorum has one voter: its loss stops it.", Severity.INFO)
    else:
        return
    yield Problem(
        resource=Resource("cluster", case.snapshot.cluster_id),
        message=problem[0],
        severity=problem[1],
        impact="Without a controller, no partition leader is elected and no producer id is allocated.",
        evidence=(Evidence("voters", ", ".join(map(str, quorum.voters)) or "none", "DescribeQuorum"),),
        remedy=("Run three voters.",),
        commands=(Command(f"kafka-metadata-quorum.sh --bootstrap-server {case.bootstrap} describe --status"),),
        verify=(Command(f"eosctl check run EOS-OPS-002 -b {case.bootstrap}"),),
        facts=(("leader_id", quorum.leader_id), ("voter_count", voters)),
    )
