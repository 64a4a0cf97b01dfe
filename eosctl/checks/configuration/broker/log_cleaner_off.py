"""EOS-CFG-080."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-080",
    "Log cleaner is switched off",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("log.cleaner.enable",),
)
def log_cleaner_off(case: Case) -> Iterator[Problem]:
    """Find brokers that never compact their internal topics.

    What it checks:
        log.cleaner.enable=false.

    Why it matters for exactly-once:
        __transaction_state, __consumer_offsets and the changelogs of Streams grow for ever; coordinators take
        longer and longer to load.

    Example:
        Switched off to save processor time.

    Fix:
        Remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        cleaner = broker.value("log.cleaner.enable")
        if cleaner.is_given and cleaner.flag is False:
            yield problem(
                broker,
                (cleaner,),
                "log.cleaner.enable is false.",
                impact="Internal topics grow without end, and a coordinator's move takes minutes.",
                remedy="Remove log.cleaner.enable.",
            )
