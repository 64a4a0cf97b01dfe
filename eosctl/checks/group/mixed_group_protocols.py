"""EOS-GRP-006."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence, Resource
from eosctl.text import count_text, name_some


@check(
    "EOS-GRP-006",
    "Classic and consumer groups side by side",
    Area.GROUP,
    Severity.INFO,
    needs=frozenset({EvidenceKind.GROUPS}),
    since=(4, 0),
    tags=("upgrade",),
    references=(
        "KIP-848",
        "group.protocol",
    ),
)
def mixed_group_protocols(case: Case) -> Iterator[Problem]:
    """Find clusters in the middle of the move to the consumer protocol.

    What it checks:
        Groups of consumers of type classic together with groups of type consumer, both with members.

    Why it matters for exactly-once:
        The two differ in who decides assignments and in which timeouts count: session.timeout.ms of a client has no
        effect in the consumer protocol. Runbooks that name one of them are wrong for the other.

    Example:
        Half of the services set group.protocol=consumer.

    Fix:
        Finish the move, or write down which applications stay classic. Kafka Streams keeps its own protocols.

    Verify:
        eosctl check run EOS-GRP-006 passes.
    """
    alive = [g for g in case.snapshot.groups if g.members and g.protocol_type in ("", "consumer")]
    classic = [g.group_id for g in alive if g.group_type == "classic"]
    consumer = [g.group_id for g in alive if g.group_type == "consumer"]
    if classic and consumer:
        yield Problem(
            resource=Resource("cluster", case.snapshot.cluster_id),
            message=f"{count_text(len(classic), 'group')} classic, {len(consumer)} with the consumer protocol.",
            evidence=(
                Evidence("classic", name_some("group", classic), "ListGroups"),
                Evidence("consumer", name_some("group", consumer), "ListGroups"),
            ),
            remedy=("Finish the move to group.protocol=consumer.",),
            verify=(Command(f"eosctl check run EOS-GRP-006 -b {case.bootstrap}"),),
            facts=(("classic", ",".join(classic)), ("consumer", ",".join(consumer))),
        )
