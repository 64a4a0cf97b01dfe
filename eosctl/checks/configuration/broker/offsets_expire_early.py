"""EOS-CFG-042."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import minutes
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-042",
    "Committed offsets expire within days",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("offsets.retention.minutes",),
    references=("KIP-186",),
)
def offsets_expire_early(case: Case) -> Iterator[Problem]:
    """Find brokers that forget the offsets of idle groups early.

    What it checks:
        offsets.retention.minutes below its default of 10080 (7 days), where it was written down.

    Why it matters for exactly-once:
        The position of an exactly-once application is its committed offset. After a longer stop it begins at
        auto.offset.reset: duplicates or loss.

    Example:
        offsets.retention.minutes=1440, the default before Kafka 2.0, kept through upgrades.

    Fix:
        Remove the setting, or set it above the longest time that a group may stand still.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        retention = broker.value("offsets.retention.minutes")
        if retention.is_given and retention.number is not None and retention.number < 10_080:
            yield problem(
                broker,
                (retention,),
                f"{retention.key} is {retention.number:,}: offsets expire after {minutes(retention.number * 60_000)}.",
                impact="A group that stands still longer begins again at auto.offset.reset.",
                remedy="Set offsets.retention.minutes=10080 or more.",
            )
