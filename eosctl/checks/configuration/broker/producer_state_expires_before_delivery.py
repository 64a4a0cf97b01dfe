"""EOS-CFG-040."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import java_producers, minutes
from eosctl.checks.configuration.problem import INT_MAX, problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

DEFAULT_DELIVERY_MS: Final = 120_000


@check(
    "EOS-CFG-040",
    "Brokers forget producers that are still retrying",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("producer.id.expiration.ms", "delivery.timeout.ms"),
    references=("KIP-854",),
)
def producer_state_expires_before_delivery(case: Case) -> Iterator[Problem]:
    """Find brokers that drop the state of a producer before its last retry.

    What it checks:
        producer.id.expiration.ms >= delivery.timeout.ms of every idempotent producer given whose delivery is
        bounded; of 120,000 ms, the default, when none is.

    Why it matters for exactly-once:
        A retry that arrives after the state has expired is taken for a new record: a duplicate.

    Example:
        producer.id.expiration.ms=60000, lowered against a growing number of producer ids.

    Fix:
        Keep the default of one day, and fix the clients that create a producer per message.

    Verify:
        eosctl config lint reports it no longer.
    """
    deliveries = [
        p.value("delivery.timeout.ms") for p in java_producers(case.deployment) if p.flag("enable.idempotence")
    ]
    bounded = [(d.number, d) for d in deliveries if d.number is not None and d.number < INT_MAX]
    longest, deciding = max(bounded, key=lambda pair: pair[0]) if bounded else (DEFAULT_DELIVERY_MS, None)
    for broker in case.deployment.of(Role.BROKER):
        expiry = broker.value("producer.id.expiration.ms")
        if expiry.is_given and expiry.number is not None and expiry.number < longest:
            yield problem(
                broker,
                (expiry,) if deciding is None else (expiry, deciding),
                f"producer.id.expiration.ms is {minutes(expiry.number)}, delivery.timeout.ms {minutes(longest)}.",
                impact="A late retry is appended a second time.",
                remedy="Remove the setting; the default is 86400000 (one day).",
            )
