"""EOS-CFG-094."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.broker_clusters import runs_on_one_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-094",
    "Connect's internal topics are configured with too few replicas",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONNECT_WORKER,),
    reads=(
        "config.storage.replication.factor",
        "offset.storage.replication.factor",
        "status.storage.replication.factor",
    ),
    tags=("durability",),
)
def worker_topics_not_durable(case: Case) -> Iterator[Problem]:
    """Find Connect workers that will create their internal topics with too few replicas.

    What it checks:
        The replication factors of the config, offset and status topics below 3, where they were written down; -1
        means the brokers' default. Nothing is reported next to
        the only broker of a Compose file: more replicas have no place there.

    Why it matters for exactly-once:
        Offsets of sources, committed in the tasks' transactions, live in the offset topic; the zombie fencing of
        tasks in the config topic.

    Example:
        offset.storage.replication.factor=1 from a quick start.

    Fix:
        Set 3.

    Verify:
        eosctl config lint reports it no longer.
    """
    for worker in case.deployment.of(Role.CONNECT_WORKER):
        if runs_on_one_broker(case.deployment, worker):
            continue
        for topic in ("config", "offset", "status"):
            factor = worker.value(f"{topic}.storage.replication.factor")
            if factor.is_given and factor.number is not None and 0 < factor.number < 3:
                yield problem(
                    worker,
                    (factor,),
                    f"{factor.name} is {factor.number}.",
                    severity=Severity.WARNING if topic == "status" else None,
                    impact="The loss of a broker loses or blocks the connectors' offsets and fencing.",
                    remedy=f"Set {factor.name}=3 on a cluster of three brokers or more.",
                )
