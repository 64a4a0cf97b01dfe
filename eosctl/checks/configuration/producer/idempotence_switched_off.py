"""EOS-CFG-092."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import has_transactions, is_transactional
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-092",
    "Idempotence is switched off",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.PRODUCER,),
    reads=("enable.idempotence",),
    references=("KIP-679",),
)
def idempotence_switched_off(case: Case) -> Iterator[Problem]:
    """Find producers that forbid idempotence.

    What it checks:
        enable.idempotence=false written down in a producer without transactional id: information where nothing of the
        input writes in transactions.

    Why it matters for exactly-once:
        A retry after a lost response writes the record a second time, and more than one request in flight can
        change the order.

    Example:
        Switched off for brokers before 2.8 that asked for the permission IdempotentWrite.

    Fix:
        Remove the setting. Since 3.0 no permission beyond Write on the topic is needed.

    Verify:
        eosctl config lint reports it no longer.
    """
    for producer in case.deployment.of(Role.PRODUCER):
        asked = producer.value("enable.idempotence")
        if asked.is_given and asked.flag is False and not is_transactional(producer):
            yield problem(
                producer,
                (asked,),
                f"{asked.key} is false.",
                severity=None if has_transactions(case.deployment) else Severity.INFO,
                impact="Retries can duplicate and reorder records.",
                remedy=f"Remove {asked.key}, or set it to true.",
            )
