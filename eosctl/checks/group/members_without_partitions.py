"""EOS-GRP-005."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-GRP-005",
    "Members of a group have no partitions",
    Area.GROUP,
    Severity.INFO,
    needs=frozenset({EvidenceKind.GROUPS}),
    tags=("offsets",),
    references=(
        "KIP-345",
        "partition.assignment.strategy",
    ),
)
def members_without_partitions(case: Case) -> Iterator[Problem]:
    """Find groups with more members than partitions.

    What it checks:
        Stable groups of consumers in which some members have no partition and others have.

    Why it matters for exactly-once:
        Each member of a transactional application holds a producer and a transactional id of its own; those without
        partitions cost coordinator memory and hide that adding instances no longer helps.

    Example:
        Twelve instances on a topic of eight partitions.

    Fix:
        Stop the surplus, or give the topic more partitions when keys allow it.

    Verify:
        eosctl check run EOS-GRP-005 passes.
    """
    for group in case.snapshot.groups:
        idle = [member.client_id for member in group.members if not member.assignment]
        if (
            group.state == "Stable"
            and group.protocol_type in ("", "consumer")
            and idle
            and len(idle) < len(group.members)
        ):
            yield Problem(
                resource=Resource("group", group.group_id),
                message=f"{group.group_id}: no partition for {len(idle)} of "
                f"{count_text(len(group.members), 'member')}.",
                impact="They do no work.",
                evidence=(Evidence("without partitions", name_some("client", sorted(idle)), "DescribeGroups"),),
                remedy=("Stop the surplus, or add partitions.",),
                verify=(Command(f"eosctl check run EOS-GRP-005 -b {case.bootstrap}"),),
                facts=(("group", group.group_id), ("idle_members", len(idle))),
            )
