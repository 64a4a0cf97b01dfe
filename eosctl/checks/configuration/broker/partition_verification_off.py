"""EOS-CFG-054."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.rule import problem, rule
from eosctl.checks.declaration import Problem
from eosctl.model.deployment import Deployment, Role
from eosctl.model.severity import Severity


@rule(
    "EOS-CFG-054",
    "Verification of transactions is switched off",
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("transaction.partition.verification.enable",),
    references=("KIP-890",),
)
def partition_verification_off(deployment: Deployment) -> Iterator[Problem]:
    """Find brokers that are configured to append transactional records unverified.

    What it checks:
        transaction.partition.verification.enable=false, which brokers know since 3.6.

    Why it matters for exactly-once:
        A delayed record that arrives after the end of its transaction opens one that nobody ends: readers of
        committed data stop there.

    Example:
        Switched off as a workaround during an upgrade, and never on again.

    Fix:
        Remove the setting.

    Verify:
        eosctl config lint reports it no longer.

    References:
        KIP-890; transaction.partition.verification.enable.
    """
    for broker in deployment.of(Role.BROKER):
        verification = broker.value("transaction.partition.verification.enable")
        if verification.is_given and verification.flag is False:
            yield problem(
                broker,
                (verification,),
                f"{verification.name} is false.",
                impact="Late records can create hanging transactions.",
                remedy=f"Remove {verification.name}; it can be changed without a restart.",
            )
