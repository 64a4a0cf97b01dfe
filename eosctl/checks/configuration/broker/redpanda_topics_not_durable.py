"""EOS-CFG-165."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.broker_clusters import is_only_broker
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Client, Role
from eosctl.model.severity import Severity
from eosctl.settings.frameworks.redpanda import DEFAULT_REPLICAS, INTERNAL_REPLICAS

_EFFECTS: Final = {
    INTERNAL_REPLICAS: (Severity.ERROR, "The loss of a broker stops transactions, and may lose their outcome."),
    DEFAULT_REPLICAS: (
        Severity.WARNING,
        "The loss of a broker loses or blocks records of topics without a number of their own.",
    ),
}


@check(
    "EOS-CFG-165",
    "Redpanda keeps too few copies of topics",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("internal_topic_replication_factor", "default_topic_replications"),
    references=("Redpanda internal_topic_replication_factor",),
)
def redpanda_topics_not_durable(case: Case) -> Iterator[Problem]:
    """Find clusters of Redpanda whose topics do not survive the loss of a broker.

    What it checks:
        internal_topic_replication_factor below 3, and default_topic_replications below 3 where it is written down.
        Nothing is reported where the platform starts one broker in all: more copies have no place there.

    Why it matters for exactly-once:
        Internal topics hold the state of transactions and the offsets of groups. With one copy, the loss of a broker
        stops every transaction whose coordinator it had, and loses its outcome with the disk.

    Example:
        redpanda.yaml with internal_topic_replication_factor: 1 on a cluster of three brokers.

    Fix:
        Set both to 3. The value holds for topics that are created afterwards; raise existing ones with rpk.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        if is_only_broker(case.deployment, broker):
            continue
        for name, (severity, impact) in _EFFECTS.items():
            value = broker.value(name)
            if broker.client is Client.REDPANDA and value.is_given and value.number is not None and value.number < 3:
                yield problem(
                    broker,
                    (value,),
                    f"{value.key} is {value.number}; 3 survive the loss of a broker.",
                    severity=severity,
                    impact=impact,
                    remedy=f"Set {value.key}=3 on a cluster of three brokers or more.",
                )
