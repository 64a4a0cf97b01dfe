"""EOS-CFG-033."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.broker_clusters import known_number
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.replication import replication_pairs
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-033",
    "Writes need every replica to be in sync",
    Area.CONFIGURATION,
    Severity.WARNING,
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
)
def min_isr_equals_replication_factor(case: Case) -> Iterator[Problem]:
    """Find replication settings that stop writes when one broker restarts.

    What it checks:
        min.insync.replicas equal to the replication factor (above 1), of topics, of the brokers' defaults and of
        the transaction log.

    Why it matters for exactly-once:
        During every restart of a broker acks=all is answered with NOT_ENOUGH_REPLICAS; transactions run into their
        timeouts.

    Example:
        Replication factor 3 with min.insync.replicas=3, meant as extra safety.

    Fix:
        Add one replica and keep the minimum, e.g. replication factor 3 with min.insync.replicas 2, or 4 with 3. A lower
        minimum leaves acknowledged commits on fewer brokers.

    Verify:
        eosctl config lint reports it no longer.
    """
    brokers = known_number(case.deployment)
    for component, minimum, factor in replication_pairs(case.deployment):
        if minimum.number is not None and minimum.number == factor.number and minimum.number > 1:
            yield problem(
                component,
                (minimum, factor),
                f"{minimum.key} and {factor.key} are both {minimum.number}.",
                impact="No write succeeds while one replica is away, also during a rolling restart.",
                remedy=_remedy(minimum.key, factor.key, minimum.number, brokers),
            )


def _remedy(minimum: str, factor: str, number: int, brokers: int) -> str:
    """Return a remedy that leaves an acknowledged record on as many brokers as before, where there are enough."""
    if number > 2 and 0 < brokers <= number:
        usual = f"On {brokers} brokers, a minimum of {number - 1} is usual."
        return f"{usual} To keep {minimum}={number}, add a broker and set {factor}={number + 1}."
    more = f"Keep {minimum}={number}, and set {factor}={number + 1} on a cluster of {number + 1} brokers or more."
    return more if number == 2 else f"{more} With {number} brokers a minimum of {number - 1} is usual."
