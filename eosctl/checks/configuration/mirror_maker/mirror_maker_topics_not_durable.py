"""EOS-CFG-124."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import three_replicas
from eosctl.checks.configuration.broker_clusters import is_broker, runs_on_one_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-124",
    "MirrorMaker creates topics with one replica",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(
        Role.MIRROR_MAKER,
        Role.SOURCE_CONNECTOR,
    ),
    reads=(
        "replication.factor",
        "offset-syncs.topic.replication.factor",
        "checkpoints.topic.replication.factor",
        "heartbeats.topic.replication.factor",
        "offset.storage.replication.factor",
        "config.storage.replication.factor",
        "status.storage.replication.factor",
    ),
    references=("KIP-382",),
)
def mirror_maker_topics_not_durable(case: Case) -> Iterator[Problem]:
    """Find MirrorMaker topics that one lost broker takes away.

    What it checks:
        replication.factor (2 by default) and the replication factors of MirrorMaker's and Connect's internal topics,
        where they are 1. Nothing is reported where one description starts MirrorMaker and one broker for each of its
        clusters: more replicas have no place there.

    Why it matters for exactly-once:
        Offset syncs and checkpoints say where a group continues in the target. With them gone a failover reads again
        or skips; with one replica of a copied topic, acknowledged copies are lost.

    Example:
        replication.factor=1 from the quick start.

    Fix:
        Use 3, with min.insync.replicas 2 in the target.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in case.deployment.of(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR):
        if mirror.role is Role.SOURCE_CONNECTOR and "mirror" not in (mirror.word("connector.class") or "").lower():
            continue
        if _has_one_broker_each(case.deployment, mirror):
            continue
        for name, value in mirror.given.items():
            if name.endswith("replication.factor") and value.number == 1:
                yield problem(
                    mirror,
                    (value,),
                    f"{value.key} is 1.",
                    impact="One lost broker of the target takes copies or offsets away.",
                    remedy=three_replicas(case.deployment, value.key),
                )


def _has_one_broker_each(deployment: Deployment, mirror: Component) -> bool:
    """Return whether each of a mirror's clusters is a broker alone that the same description starts."""
    named = mirror.word("clusters") if mirror.has("clusters") else None
    count = len([alias for alias in (named or "").split(",") if alias.strip()])
    near = [one for one in deployment.brokers_near(mirror) if is_broker(one)]
    return 0 < count == len(near) and runs_on_one_broker(deployment, mirror)
