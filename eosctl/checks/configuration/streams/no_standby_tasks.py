"""EOS-CFG-130."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-130",
    "Exactly-once application without standby tasks",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.STREAMS,),
    reads=(
        "num.standby.replicas",
        "processing.guarantee",
    ),
    references=("KIP-441",),
)
def no_standby_tasks(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications whose state is rebuilt after a crash.

    What it checks:
        num.standby.replicas=0 written down with exactly-once.

    Why it matters for exactly-once:
        After a crash under exactly-once the state of a task is wiped and read again from its changelog; a standby
        task takes over without that.

    Example:
        num.standby.replicas=0 to save disk, with stores of many gigabytes.

    Fix:
        Set num.standby.replicas=1 where the state is large.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        standby = streams.value("num.standby.replicas")
        if standby.is_given and standby.number == 0:
            yield problem(
                streams,
                (standby,),
                "num.standby.replicas is 0.",
                impact="After a crash a task stands still until its state has been read again.",
                remedy="Set num.standby.replicas=1 where the state is large.",
            )
