"""EOS-CFG-123."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-123",
    "Mirrored topics are mirrored back",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.MIRROR_MAKER,),
    reads=("replication.policy.class",),
    references=(
        "KIP-382",
        "KIP-712",
    ),
)
def mirror_maker_cycle(case: Case) -> Iterator[Problem]:
    """Find two mirrors in opposite directions that keep the names of topics.

    What it checks:
        replication.policy.class=...IdentityReplicationPolicy with flows between two clusters enabled in both
        directions and topics for both.

    Why it matters for exactly-once:
        With unchanged names, copied and original records cannot be distinguished: each is copied back and forth
        endlessly, and every consumer sees it again and again.

    Example:
        a->b.enabled=true and b->a.enabled=true with IdentityReplicationPolicy and topics=.* both ways.

    Fix:
        Keep DefaultReplicationPolicy, or mirror different topics in the two directions.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER):
        policy = next((v for name, v in mirror.given.items() if name.endswith("replication.policy.class")), None)
        if policy is None or not (policy.word or "").endswith("IdentityReplicationPolicy"):
            continue
        flows = {
            tuple(name.removesuffix(".enabled").split("->", 1))
            for name, value in mirror.given.items()
            if "->" in name and name.endswith(".enabled") and value.flag is True
        }
        both_ways = {tuple(sorted(flow)) for flow in flows if flow[::-1] in flows}
        for source, target in sorted(both_ways):
            if _topics(mirror, source, target) == _topics(mirror, target, source):
                yield problem(
                    mirror,
                    (policy,),
                    f"{source} and {target} mirror the same topics to each other and keep their names.",
                    impact="Records are copied in a circle without end.",
                    remedy="Use DefaultReplicationPolicy, or different topics in the two directions.",
                )


def _topics(mirror: Component, source: str, target: str) -> str | None:
    own = mirror.value(f"{source}->{target}.topics")
    return own.word if own.is_given else mirror.word("topics")
