"""EOS-CFG-006."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import minutes, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

ONE_HOUR_MS: Final = 3_600_000


@check(
    "EOS-CFG-006",
    "Brokers accept very long transactions",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("transaction.max.timeout.ms", "transaction.timeout.ms"),
)
def high_broker_maximum_timeout(case: Case) -> Iterator[Problem]:
    """Find brokers that let one stuck producer hold readers back for hours.

    What it checks:
        transaction.max.timeout.ms above one hour, the most that a common client (Flink) asks for by itself, and above
        twice the longest transaction.timeout.ms of the producers that are given with the brokers.

    Why it matters for exactly-once:
        read_committed readers stop at the first open transaction. The maximum bounds for how long, and the gauge of
        late transactions starts only five minutes after it.

    Example:
        transaction.max.timeout.ms=86400000, raised once for a batch job.

    Fix:
        Set it to the smallest value that the longest transaction needs.

    Verify:
        eosctl config lint reports it no longer.
    """
    asked = [producer.value("transaction.timeout.ms") for producer in transactional_producers(case.deployment)]
    needed = max((timeout.number or 0 for timeout in asked if timeout.is_given), default=0)
    for broker in case.deployment.of(Role.BROKER):
        limit = broker.value("transaction.max.timeout.ms")
        if limit.number is not None and limit.is_given and limit.number > max(ONE_HOUR_MS, 2 * needed):
            yield problem(
                broker,
                (limit,),
                f"transaction.max.timeout.ms is {minutes(limit.number)}.",
                impact="One stuck producer can hold readers of committed data back for that long.",
                remedy=f"Lower it to what the longest transaction needs, e.g. {max(900_000, needed)}.",
            )
