"""EOS-CFG-111."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-111",
    "Brokers leave without handing over their partitions",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.BROKER,),
    reads=("controlled.shutdown.enable",),
    tags=("upgrade",),
    references=("KAFKA-1000",),
)
def brokers_stop_uncontrolled(case: Case) -> Iterator[Problem]:
    """Find brokers whose every restart looks like a crash.

    What it checks:
        controlled.shutdown.enable=false.

    Why it matters for exactly-once:
        Without a controlled shutdown leaders and coordinators are missing until the controller notices: open
        transactions run into their timeouts at every restart.

    Example:
        controlled.shutdown.enable=false, to stop faster.

    Fix:
        Remove it.

    Verify:
        eosctl config lint reports it no longer.
    """
    for broker in case.deployment.of(Role.BROKER):
        controlled = broker.value("controlled.shutdown.enable")
        if controlled.is_given and controlled.flag is False:
            yield problem(
                broker,
                (controlled,),
                "controlled.shutdown.enable is false.",
                impact="Each restart takes leaders and coordinators away until the broker's session has ended.",
                remedy="Remove it.",
            )
