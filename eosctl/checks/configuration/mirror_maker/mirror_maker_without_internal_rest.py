"""EOS-CFG-122."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-122",
    "Exactly-once MirrorMaker without its internal REST server",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.MIRROR_MAKER,),
    reads=(
        "exactly.once.source.support",
        "dedicated.mode.enable.internal.rest",
    ),
    references=(
        "KIP-710",
        "KIP-618",
    ),
)
def mirror_maker_without_internal_rest(case: Case) -> Iterator[Problem]:
    """Find dedicated MirrorMaker clusters whose nodes cannot fence zombies for each other.

    What it checks:
        exactly.once.source.support=enabled of a cluster without dedicated.mode.enable.internal.rest=true. It is an
        error where the platform starts several nodes.

    Why it matters for exactly-once:
        A worker asks the leader over REST to fence the producers of an older generation before it starts a task.
        Without the server this works on a single node only; with more nodes tasks do not start.

    Example:
        eu.exactly.once.source.support=enabled in mm2.properties of three nodes.

    Fix:
        Set dedicated.mode.enable.internal.rest=true and listeners that the nodes reach.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER):
        rest = mirror.value("dedicated.mode.enable.internal.rest")
        support = [v for name, v in mirror.given.items() if name.endswith(".exactly.once.source.support")]
        enabled = next((v for v in support if (v.word or "").lower() == "enabled"), None)
        if enabled is not None and rest.flag is not True and rest.resolved:
            count = mirror.instances.number if mirror.instances is not None else None
            are_several = count is not None and count > 1
            nodes = f"On {count} nodes tasks" if are_several else "With more than one node, tasks"
            yield problem(
                mirror,
                (rest, enabled) if rest.is_given else (enabled, rest),
                "Exactly-once is enabled, dedicated.mode.enable.internal.rest is not.",
                severity=Severity.ERROR if are_several else None,
                impact=f"{nodes} do not start.",
                remedy="Set dedicated.mode.enable.internal.rest=true.",
            )
