"""EOS-CFG-054."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-054",
    "Verification of transactions is switched off",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("transaction.partition.verification.enable",),
    references=("KIP-890",),
)
def partition_verification_off(case: Case) -> Iterator[Problem]:
    """Find brokers that are configured to append transactional records unverified.

    What it checks:
        transaction.partition.verification.enable=false, which brokers know since 3.6.

    Why it matters for exactly-once:
        A delayed record that arrives after the end of its transaction opens a hanging transaction: readers of
        committed data stop there.

    Example:
        Switched off as a workaround during an upgrade, and never on again.

    Fix:
        Remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        verification = broker.value("transaction.partition.verification.enable")
        if verification.is_given and verification.flag is False:
            yield problem(
                broker,
                (verification,),
                f"{verification.name} is false.",
                impact="Late records can create hanging transactions.",
                remedy=f"Remove {verification.name}; it can be changed without a restart.",
            )
