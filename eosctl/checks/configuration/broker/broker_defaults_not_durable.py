"""EOS-CFG-035."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.advice import three_replicas
from eosctl.checks.configuration.broker_clusters import is_only_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-035",
    "Topics are created with one replica or acknowledged by one",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("min.insync.replicas", "default.replication.factor"),
    tags=("durability",),
)
def broker_defaults_not_durable(case: Case) -> Iterator[Problem]:
    """Find brokers that write down a durability of one.

    What it checks:
        min.insync.replicas=1 and default.replication.factor=1, where they were written down. Nothing
        is reported where the platform starts one broker in all: more replicas have no place there.

    Why it matters for exactly-once:
        A record of a committed transaction that only the leader holds is lost with the leader. Internal topics of
        Streams use the brokers' defaults since 3.0.

    Example:
        default.replication.factor=1 from a quick start.

    Fix:
        Set default.replication.factor=3 and min.insync.replicas=2.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        if is_only_broker(case.deployment, broker):
            continue
        for name, wanted in (("default.replication.factor", 3), ("min.insync.replicas", 2)):
            value = broker.value(name)
            if value.is_given and value.number == 1:
                yield problem(
                    broker,
                    (value,),
                    f"{name} is 1.",
                    impact="Acknowledged records of committed transactions are lost with one broker.",
                    remedy=three_replicas(case.deployment, name) if wanted == 3 else f"Set {name}={wanted}.",
                )
