"""EOS-GRP-011."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-GRP-011",
    "Members of a streams group have an old topology",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.GROUPS}),
    tags=("streams",),
    references=("group.protocol", "KIP-1071"),
)
def streams_members_with_old_topology(case: Case) -> Iterator[Problem]:
    """Find members of streams groups that run with an older topology than their group.

    What it checks:
        The topology epoch of each member, next to that of the group.

    Why it matters for exactly-once:
        The coordinator assigns tasks of the newest topology. A member with an older one is reported as STALE_TOPOLOGY;
        it may lack the processors and state stores of its tasks.

    Example:
        A rolling upgrade with a new topology stopped half way.

    Fix:
        Finish the upgrade: restart the named members with the version of the others.

    Verify:
        eosctl check run EOS-GRP-011 passes.
    """
    for group in case.snapshot.groups:
        if group.topology is None:
            continue
        epoch = group.topology.epoch
        old = [one for one in group.members if one.topology_epoch is not None and one.topology_epoch < epoch]
        if not old:
            continue
        yield Problem(
            resource=Resource("group", group.group_id),
            message=f"{count_text(len(old), 'member')} of {len(group.members)} in {group.group_id} "
            f"{'has' if len(old) == 1 else 'have'} an older topology than the group (epoch {epoch}).",
            cause="A rolling upgrade is not finished, or an instance was not restarted.",
            impact="Their status is STALE_TOPOLOGY; tasks of the new topology can fail there.",
            evidence=tuple(
                Evidence(f"topology epoch {found}", name_some("client", clients), "StreamsGroupDescribe")
                for found, clients in sorted(
                    {
                        one.topology_epoch: sorted(m.client_id for m in old if m.topology_epoch == one.topology_epoch)
                        for one in old
                        if one.topology_epoch is not None
                    }.items()
                )
            ),
            remedy=("Restart these members with the version of the others.",),
            commands=(
                Command(
                    f"eosctl group describe {quote(group.group_id)} -b {case.bootstrap}",
                    "members and their topology epochs",
                ),
            ),
            verify=(Command(f"eosctl check run EOS-GRP-011 -b {case.bootstrap}"),),
            facts=(("group", group.group_id), ("old_members", len(old)), ("topology_epoch", epoch)),
        )
