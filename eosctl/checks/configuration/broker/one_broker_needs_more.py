"""EOS-CFG-149."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.checks.configuration.broker_clusters import OF_INTERNAL_TOPICS, number_of_brokers, wants_more_brokers
from eosctl.checks.configuration.clients import has_transactions
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Deployment, Role, Value
from eosctl.model.severity import Severity

_MINIMUM: Final = "transaction.state.log.min.isr"
_OFFSETS: Final = "offsets.topic.replication.factor"


@check(
    "EOS-CFG-149",
    "Too few brokers for the replicas of internal topics",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=OF_INTERNAL_TOPICS,
    tags=("durability",),
    references=("KIP-98",),
)
def one_broker_needs_more(case: Case) -> Iterator[Problem]:
    """Find clusters whose internal topics are to have more replicas than there are brokers.

    What it checks:
        transaction.state.log.replication.factor, transaction.state.log.min.isr, and offsets.topic.replication.factor
        above 1, written or by default, where the platform starts one broker in all: one service of Compose, one
        replica in Kubernetes. A file that stands alone shows that by its quorum (or ZooKeeper) and its listeners, if
        all of them are on the local host. Likewise above the number of brokers of an operator's resource. Defaults for
        transactions are information next to applications that do not write in transactions.

    Why it matters for exactly-once:
        __transaction_state cannot be created: InitProducerId is answered with COORDINATOR_NOT_AVAILABLE until the
        timeout, and no transaction ever begins.

    Example:
        A Compose file with one broker that does not set KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR; the default
        is 3.

    Fix:
        Give the three settings the value 1 while the cluster has one broker, or start more brokers. Production needs
        three.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        if too_many := wants_more_brokers(case.deployment, broker):
            names = ", ".join(f"{value.name} ({value.number})" for value in too_many)
            count = number_of_brokers(case.deployment, broker)
            brokers = "one broker" if count == 1 else f"{count} brokers"
            one = f"While the cluster has {brokers}, give {_named(too_many)} the value {count}."
            yield problem(
                broker,
                too_many,
                f"The cluster has {brokers}, and more are asked for: {names}.",
                severity=Severity.INFO if _is_of_no_use(case.deployment, too_many) else None,
                impact=_impact(too_many),
                remedy=f"{one} Production needs three brokers.",
            )


def _is_of_no_use(deployment: Deployment, too_many: Sequence[Value]) -> bool:
    """Return whether only defaults for transactions are meant, and no application of the input writes in any."""
    has_clients = bool(deployment.of(Role.PRODUCER, Role.CONSUMER))
    of_transactions = not any(value.is_given or value.name == _OFFSETS for value in too_many)
    return of_transactions and has_clients and not has_transactions(deployment)


def _impact(too_many: Sequence[Value]) -> str:
    names = {value.name for value in too_many}
    effects = ["Transactions cannot begin"] if names - {_OFFSETS} else []
    effects += ["groups cannot commit"] if _OFFSETS in names else []
    reason = (
        "the only replica is fewer than the minimum" if names == {_MINIMUM} else "the internal topics are not created"
    )
    text = " and ".join(effects)
    return f"{text[0].upper()}{text[1:]}: {reason}."


def _named(values: Sequence[Value]) -> str:
    *others, last = (value.name for value in values)
    return f"{', '.join(others)} and {last}" if others else last
