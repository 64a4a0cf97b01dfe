"""EOS-CFG-044."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-044",
    "Brokers forget producers early",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("producer.id.expiration.ms",),
    references=("KIP-854", "KIP-936"),
)
def producer_state_expires_early(case: Case) -> Iterator[Problem]:
    """Find brokers whose memory of producers was shortened.

    What it checks:
        producer.id.expiration.ms below its default of one day and not below delivery.timeout.ms (that is
        EOS-CFG-040).

    Why it matters for exactly-once:
        The setting applies to all producers. An idempotent producer that is idle for longer loses its state: a
        retry of its last batch is not recognized.

    Example:
        producer.id.expiration.ms=600000, set against brokers that run out of memory.

    Fix:
        Reuse producers instead of making one per message, and return to the default.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        expiry = broker.value("producer.id.expiration.ms")
        if expiry.is_given and expiry.number is not None and 120_000 <= expiry.number < 86_400_000:
            yield problem(
                broker,
                (expiry,),
                f"producer.id.expiration.ms is {minutes(expiry.number)}; the default is one day.",
                impact="Producers that are idle for longer lose their protection against duplicates.",
                remedy="Remove the setting; look for clients that make a producer per message.",
            )
