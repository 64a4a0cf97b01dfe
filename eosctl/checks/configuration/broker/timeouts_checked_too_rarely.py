"""EOS-CFG-096."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-096",
    "Timed-out transactions are looked for rarely",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("transaction.abort.timed.out.transaction.cleanup.interval.ms",),
)
def timeouts_checked_too_rarely(case: Case) -> Iterator[Problem]:
    """Find coordinators that abort late.

    What it checks:
        transaction.abort.timed.out.transaction.cleanup.interval.ms above 60,000 ms, the default before 2.5; it is
        10,000 ms since.

    Why it matters for exactly-once:
        A transaction is aborted between its timeout and its timeout plus this interval; readers wait as long.

    Example:
        600000, set to spare the coordinator.

    Fix:
        Remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        interval = broker.value("transaction.abort.timed.out.transaction.cleanup.interval.ms")
        if interval.is_given and interval.number is not None and interval.number > 60_000:
            yield problem(
                broker,
                (interval,),
                f"{interval.name} is {minutes(interval.number)}.",
                impact="Readers of committed data wait that much longer for every timed-out transaction.",
                remedy="Remove the setting; the default is 10000.",
            )
