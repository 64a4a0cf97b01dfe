"""EOS-CFG-143."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.analysis.mirror_flows import flows_of, support_without_effect
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

_UNKNOWN = ("TARGET.exactly.once.source.support",)


@check(
    "EOS-CFG-143",
    "MirrorMaker's exactly-once setting reaches no flow",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.MIRROR_MAKER,),
    reads=("exactly.once.source.support",),
    references=(
        "KIP-618",
        "KIP-710",
        "MirrorMakerConfig.workerConfig",
    ),
)
def mirror_maker_exactly_once_without_cluster(case: Case) -> Iterator[Problem]:
    """Find exactly-once support of a dedicated MirrorMaker that is switched on where MirrorMaker does not look.

    What it checks:
        exactly.once.source.support=enabled or preparing in mm2.properties, without the name of a cluster before it:
        alone, or behind the name of a flow (us->eu.exactly.once.source.support). The name of a cluster to which no
        enabled flow copies counts too, while a flow goes without exactly-once.

    Why it matters for exactly-once:
        The workers of a flow take the settings that bear their target cluster's name, and of the others only a few
        (storage topics, converters, tasks, replication policy). This one is not among them: the flow runs without
        exactly-once, and copies records twice after a worker was killed.

    Example:
        exactly.once.source.support=enabled with us->eu.enabled=true.

    Fix:
        Name every cluster that is written to: eu.exactly.once.source.support=enabled; preparing first where workers
        run already.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER):
        flows = flows_of(mirror)
        targets = dict.fromkeys(f"{flow.target}.exactly.once.source.support" for flow in flows) or _UNKNOWN
        for support in support_without_effect(mirror):
            if (support.word or "").lower() in ("enabled", "preparing"):
                yield problem(
                    mirror,
                    (support,),
                    f"{support.key} is {support.word}, and no worker that copies records takes it from there.",
                    impact="MirrorMaker does not heed it: records come twice after a worker was killed.",
                    remedy=f"Write {' and '.join(targets)}, the clusters that are written to.",
                )
