"""EOS-CFG-034."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.advice import replicas_above
from eosctl.checks.configuration.broker_clusters import is_only_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.replication import replication_pairs
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

LEAST_REPLICAS: Final = 3


@check(
    "EOS-CFG-034",
    "More in-sync replicas are demanded than there are replicas",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(
        Role.BROKER,
        Role.TOPIC,
    ),
    reads=(
        "min.insync.replicas",
        "default.replication.factor",
        "replication.factor",
        "transaction.state.log.min.isr",
        "transaction.state.log.replication.factor",
    ),
    tags=("durability",),
    references=("KAFKA-15583",),
)
def min_isr_exceeds_replication_factor(case: Case) -> Iterator[Problem]:
    """Find min.insync.replicas above the replication factor.

    What it checks:
        min.insync.replicas against the replication factor, of topics, of the brokers' defaults and of the
        transaction log, where one of the two was written down.

    Why it matters for exactly-once:
        Before 3.7 no write with acks=all succeeds; since 3.7 the broker caps the value silently, and the durability
        is weaker than the file says.

    Example:
        min.insync.replicas=2 in server.properties with the default replication factor of 1.

    Fix:
        Raise the replication factor above min.insync.replicas.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component, minimum, factor in replication_pairs(case.deployment):
        if factor.number == 1 and component.role is Role.BROKER and is_only_broker(case.deployment, component):
            continue  # EOS-CFG-149
        if minimum.number is not None and factor.number is not None and minimum.number > factor.number:
            yield problem(
                component,
                (minimum, factor),
                f"{minimum.key} is {minimum.number}, {factor.key} {factor.number}.",
                impact="Before 3.7 no write with acks=all succeeds; since then only the replicas there are count.",
                remedy=replicas_above(case.deployment, minimum.name, minimum.number, factor.name, factor.number),
            )
