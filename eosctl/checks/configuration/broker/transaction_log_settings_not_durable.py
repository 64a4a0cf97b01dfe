"""EOS-CFG-032."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.broker_clusters import (
    comes_with_image,
    is_broker,
    is_only_broker,
    wants_more_brokers,
)
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-032",
    "Transaction log is configured with too few replicas",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("transaction.state.log.replication.factor", "transaction.state.log.min.isr"),
    tags=("durability",),
    references=("KIP-98",),
)
def transaction_log_settings_not_durable(case: Case) -> Iterator[Problem]:
    """Find brokers that will create the transaction log with too few replicas.

    What it checks:
        transaction.state.log.replication.factor below 3 and transaction.state.log.min.isr below 2, where they were
        written down, or where the image of several brokers has them in its own file (Bitnami's); Kafka's defaults are 3
        and 2. Both count only when the topic is created. Nothing
        is reported where the platform starts one broker in all: more replicas have no place there.

    Why it matters for exactly-once:
        The transaction log holds every decision and every fencing epoch. With one replica the loss of a broker
        stops all its transactions; with one in-sync replica an acknowledged decision can be lost.

    Example:
        Values of a quick start with one broker, copied to production.

    Fix:
        Set 3 and 2 before the cluster is used; afterwards reassign the partitions and set the topic's
        min.insync.replicas.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        # A controller alone creates none of these topics.
        if not is_broker(broker) or is_only_broker(case.deployment, broker):
            continue
        if wants_more_brokers(case.deployment, broker):
            continue  # EOS-CFG-149
        for name, least in (("transaction.state.log.replication.factor", 3), ("transaction.state.log.min.isr", 2)):
            value = broker.value(name)
            is_shown = value.is_given or comes_with_image(case.deployment, broker, value)
            if is_shown and value.number is not None and value.number < least:
                whose = "" if value.is_given else " in the image's own file"
                yield problem(
                    broker,
                    (value,),
                    f"{name} is {value.number}{whose}; at least {least} is needed to survive the loss of a broker.",
                    impact="One lost broker stops transactions or loses their outcomes.",
                    remedy=f"Set {name}={least} on a cluster of three brokers or more.",
                )
