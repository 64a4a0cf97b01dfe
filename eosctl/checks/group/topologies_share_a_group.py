"""EOS-GRP-007."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from shlex import quote
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Group
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, duration_text, name_some

#: The assignor of Kafka Streams in classic groups (StreamsPartitionAssignor).
STREAMS: Final = "stream"
STABLE: Final = "Stable"
WINDOW_MS: Final = 600_000


@check(
    "EOS-GRP-007",
    "Streams members with different topologies share a group",
    Area.GROUP,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.GROUPS}),
    tags=("offsets", "streams"),
    references=("application.id", "KIP-129"),
)
def topologies_share_a_group(case: Case) -> Iterator[Problem]:
    """Find Streams groups whose members subscribe to different topics.

    What it checks:
        The subscriptions of the members of each classic Streams group. All threads of one application subscribe to the
        source topics of one topology. While a group rebalances, its coordinator does not describe them; they are read
        from the group's newest generation in __consumer_offsets.

    Why it matters for exactly-once:
        Two applications with one application.id share offsets, changelogs, and transactions. Members get partitions
        that their topology does not have, rebalance without end, and input stays unprocessed.

    Example:
        A service is copied with its configuration, and application.id is not changed.

    Fix:
        Give each application its own application.id. During a rolling upgrade that changes source topics, the finding
        disappears once every instance runs the new version.

    Verify:
        eosctl check run EOS-GRP-007 passes.
    """
    for group in case.snapshot.groups:
        topologies: dict[tuple[str, ...], list[str]] = {}
        for member in group.members:
            if member.subscription:
                topologies.setdefault(member.subscription, []).append(member.client_id)
        if group.protocol == STREAMS and len(topologies) > 1:
            yield _problem(group, topologies, case)


def _problem(group: Group, topologies: dict[tuple[str, ...], list[str]], case: Case) -> Problem:
    # A new version may add sources; a pattern may match a new topic at one member first.
    grows = all(set(one) < set(other) or set(other) < set(one) for one, other in combinations(topologies, 2))
    shared = set.intersection(*map(set, topologies))
    named = [name_some("topic", sorted(set(topics) - shared)) for topics in topologies if set(topics) - shared]
    since_ms = case.snapshot.captured_at_ms - WINDOW_MS
    count = sum(at_ms >= since_ms for at_ms in group.generation_times_ms)
    rebalances = f" It was rebalanced {count_text(count, 'time')} in {duration_text(WINDOW_MS)}." if count else ""
    return Problem(
        resource=Resource("group", group.group_id),
        message=f"Members of {group.group_id} run {count_text(len(topologies), 'topology', 'topologies')}: only some "
        f"subscribe to {'; only some to '.join(named)}.{rebalances}",
        severity=Severity.INFO if grows and group.state == STABLE else None,
        cause="A rolling upgrade changes the sources, or two applications have the same application.id.",
        impact="Members get partitions that their topology does not have; input can stay unprocessed, and the group "
        "rebalances again and again.",
        evidence=tuple(
            Evidence(
                name_some("member", sorted(clients)), ", ".join(topics), f"subscriptions of group {group.group_id}"
            )
            for topics, clients in topologies.items()
        ),
        remedy=(
            "Give each application its own application.id, and reset what the wrong one committed.",
            "If this is a rolling upgrade, finish it.",
        ),
        commands=(
            Command(
                f"kafka-consumer-groups.sh --bootstrap-server {case.bootstrap} --describe --group "
                f"{quote(group.group_id)} --members --verbose",
                "members and their hosts",
            ),
        ),
        verify=(Command(f"eosctl check run EOS-GRP-007 -b {case.bootstrap}"),),
        facts=(
            ("group", group.group_id),
            ("topology_count", len(topologies)),
            ("generation_count", count),
        ),
    )
