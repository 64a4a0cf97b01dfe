"""EOS-CFG-115."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-115",
    "Transaction interval of a connector that does not use it",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.SOURCE_CONNECTOR,),
    reads=(
        "transaction.boundary",
        "transaction.boundary.interval.ms",
    ),
    references=("KIP-618",),
)
def boundary_interval_unused(case: Case) -> Iterator[Problem]:
    """Find connectors whose transactions are not cut by time although an interval is set.

    What it checks:
        transaction.boundary.interval.ms where transaction.boundary is not interval (poll is the default).

    Why it matters for exactly-once:
        With poll each batch of the connector is a transaction: more and smaller ones than the interval makes one
        expect.

    Example:
        transaction.boundary.interval.ms=10000 alone.

    Fix:
        Set transaction.boundary=interval, or remove the interval.

    Verify:
        eosctl config lint reports it no longer.
    """
    for connector in case.deployment.of(Role.SOURCE_CONNECTOR):
        boundary, interval = (
            connector.value("transaction.boundary"),
            connector.value("transaction.boundary.interval.ms"),
        )
        if (
            interval.is_given
            and interval.resolved
            and boundary.resolved
            and (boundary.word or "").lower() != "interval"
        ):
            yield problem(
                connector,
                (interval, boundary),
                f"{interval.key} is set, but transaction.boundary is {boundary.word or 'poll'}.",
                impact="The interval is ignored: every batch is a transaction of its own.",
                remedy="Set transaction.boundary=interval, or remove the interval.",
            )
