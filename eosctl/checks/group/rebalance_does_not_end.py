"""EOS-GRP-012."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Group
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, duration_text, name_some

_CAUSES: Final = {
    "PreparingRebalance": "The coordinator waits until every member has joined again, at most for the longest "
    "max.poll.interval.ms among them (5 min by default): one of them processes records, is blocked, or is dead and not "
    "yet removed; or members join and leave without end.",
    "CompletingRebalance": "All members have joined; the coordinator waits for the assignment of the member that leads "
    "the group, which computes it, is blocked, or is dead and not yet removed.",
    "Assigning": "The coordinator has not computed the assignment yet: it is overloaded, or members join and leave "
    "without end.",
    "Reconciling": "At least one member has not given up partitions or not confirmed its new ones. Members do so in "
    "poll(), and are removed after max.poll.interval.ms: one of them processes records, or is blocked.",
}
_IMPACTS: Final = {
    "Assigning": "Partitions that wait for their new member are read by none.",
    "Reconciling": "Partitions that wait for their new member are read by none.",
}
_API: Final = {"consumer": "ConsumerGroupDescribe", "streams": "StreamsGroupDescribe"}
_IMPACT: Final = (
    "Members that have joined read nothing until it ends, or only partitions that a cooperative assignor keeps."
)


@check(
    "EOS-GRP-012",
    "Rebalance does not end",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.GROUPS, EvidenceKind.REBALANCES}),
    tags=("availability",),
    references=("KIP-62", "KIP-848", "max.poll.interval.ms", "session.timeout.ms"),
)
def rebalance_does_not_end(case: Case) -> Iterator[Problem]:
    """Find groups that stay in a rebalance.

    What it checks:
        Groups that were described in a rebalance, again and again for six seconds. A normal rebalance ends within that
        time: members learn of it by their next heartbeat (heartbeat.interval.ms, 3 s) and join with their next poll.

    Why it matters for exactly-once:
        A transactional application commits its positions with its output. While its group rebalances, it has no
        partitions to read; open transactions of members wait for their timeout and hold readers back.

    Example:
        Ten instances; one of them waits for a database without a timeout. The other nine have joined, and wait for up
        to five minutes until the tenth is removed.

    Fix:
        Find the member that does not join: one whose thread waits between two polls (thread dump), or one that
        restarts in a loop. Restart it. Then shorten the time between two polls (max.poll.records), or bound the calls
        that it waits for.

    Verify:
        eosctl check run EOS-GRP-012 passes.
    """
    for group in case.snapshot.groups:
        lasted_ms = group.rebalancing_for_ms or 0
        if lasted_ms < case.limits.rebalance_ms or group.state not in _CAUSES:
            continue
        name = quote(group.group_id)
        yield Problem(
            resource=Resource("group", group.group_id),
            message=f"{group.group_id} has been in a rebalance ({group.state}) for at least "
            f"{duration_text(lasted_ms)}, with {count_text(len(group.members), 'member')}.",
            cause=_CAUSES[group.state],
            impact=_IMPACTS.get(group.state, _IMPACT),
            evidence=(Evidence("members", _shown(group), _API.get(group.group_type, "DescribeGroups")),),
            remedy=(
                "Find the member that does not join: its thread waits between two polls, or it restarts in a loop.",
                "Restart it; then bound what it waits for, or lower max.poll.records.",
            ),
            commands=(
                Command(f"eosctl group describe {name} -b {case.bootstrap}", "members, clients, and hosts"),
                Command(
                    f"eosctl runbook run rebalance-storm -b {case.bootstrap} -i group={name}",
                    "guided repair; only reads and plans without --yes",
                ),
            ),
            verify=(Command(f"eosctl check run EOS-GRP-012 -b {case.bootstrap}"),),
            facts=(("group", group.group_id), ("state", group.state), ("rebalancing_for_ms", lasted_ms)),
        )


def _shown(group: Group) -> str:
    return name_some("client", sorted({f"{one.client_id} on {one.host.removeprefix('/')}" for one in group.members}))
