"""EOS-CFG-041."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import minutes, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

ONE_DAY_MS: Final = 86_400_000
# transaction.timeout.ms of producers that do not set it.
DEFAULT_TIMEOUT_MS: Final = 60_000


@check(
    "EOS-CFG-041",
    "Transactional ids expire while applications are idle",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("transactional.id.expiration.ms", "transaction.timeout.ms"),
    references=("KAFKA-18019", "KAFKA-16699"),
)
def transactional_ids_expire_early(case: Case) -> Iterator[Problem]:
    """Find brokers that forget transactional ids within a day.

    What it checks:
        transactional.id.expiration.ms below one day, where it was written down; an error where it is below a
        transaction timeout given with it, or below the producers' default of one minute.

    Why it matters for exactly-once:
        A producer that comes back after the expiry gets INVALID_PRODUCER_ID_MAPPING, which 4.0 clients treat as
        fatal; and a zombie of the forgotten id is no longer fenced.

    Example:
        transactional.id.expiration.ms=3600000, lowered to shrink the transaction log.

    Fix:
        Keep it above the longest time that an application may stand still; the default is 7 days.

    Verify:
        eosctl config lint reports it no longer.
    """
    timeouts = [p.value("transaction.timeout.ms") for p in transactional_producers(case.deployment)]
    for broker in case.deployment.of(Role.BROKER):
        expiry = broker.value("transactional.id.expiration.ms")
        if not expiry.is_given or expiry.number is None:
            continue
        shorter = [t for t in timeouts if t.number is not None and t.number > expiry.number]
        if shorter or expiry.number < ONE_DAY_MS:
            yield problem(
                broker,
                (expiry, *shorter[:1]),
                f"transactional.id.expiration.ms is {minutes(expiry.number)}.",
                severity=Severity.ERROR if shorter or expiry.number < DEFAULT_TIMEOUT_MS else None,
                impact="Applications that are idle for longer then fail with INVALID_PRODUCER_ID_MAPPING.",
                remedy="Remove the setting; the default is 604800000 (7 days).",
            )
