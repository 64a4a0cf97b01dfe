"""EOS-CFG-064."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.rule import problem, rule
from eosctl.checks.declaration import Problem
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.severity import Severity


def _mirrors(connector: Component) -> bool:
    return "MirrorSourceConnector" in (connector.word("connector.class") or "")


@rule(
    "EOS-CFG-064",
    "MirrorMaker copies uncommitted records",
    Severity.ERROR,
    roles=(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR),
    reads=("isolation.level", "exactly.once.source.support"),
    references=("KIP-618", "KIP-656"),
)
def mirror_maker_reads_uncommitted(deployment: Deployment) -> Iterator[Problem]:
    """Find MirrorMaker flows that copy records of aborted transactions.

    What it checks:
        isolation.level of the source's consumer in MirrorMaker 2: read_uncommitted written down; or not set while
        exactly-once sources are enabled.

    Why it matters for exactly-once:
        MirrorMaker copies records, not markers. What it reads uncommitted is committed in the target, also when it
        was aborted.

    Example:
        exactly.once.source.support=enabled without source.consumer.isolation.level=read_committed: the connector
        reports that it cannot do exactly-once.

    Fix:
        Set source.consumer.isolation.level=read_committed for every flow (in mm2.properties:
        CLUSTER.consumer.isolation.level).

    Verify:
        eosctl config lint reports it no longer.

    References:
        KIP-618; KIP-656; isolation.level; exactly.once.source.support.
    """
    mirrors = [*deployment.of(Role.MIRROR_MAKER), *(c for c in deployment.of(Role.SOURCE_CONNECTOR) if _mirrors(c))]
    for mirror in mirrors:
        levels = [v for key, v in mirror.given.items() if key.endswith("consumer.isolation.level") and v.word]
        for level in levels:
            if (level.word or "").lower() == "read_uncommitted":
                yield problem(
                    mirror,
                    (level,),
                    f"{level.key} is read_uncommitted.",
                    impact="Records of aborted transactions are committed in the target cluster.",
                    remedy=f"Set {level.key}=read_committed.",
                )
        support = [
            v
            for key, v in mirror.given.items()
            if key.endswith(("exactly.once.source.support", "exactly.once.support"))
        ]
        wanted = [v for v in support if (v.word or "").lower() in ("enabled", "required")]
        if wanted and not levels:
            yield problem(
                mirror,
                (wanted[0],),
                f"{wanted[0].key} is {wanted[0].word}, but the source's consumer reads uncommitted records by default.",
                impact="Aborted records are copied, and the connector cannot promise exactly-once.",
                remedy="Set source.consumer.isolation.level=read_committed.",
            )
