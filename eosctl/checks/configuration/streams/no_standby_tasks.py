"""EOS-CFG-130."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.clients import exactly_once_streams
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

ENABLED: Final = "enable.transactional.statestores"
SINCE: Final = (4, 4)
REMEDY: Final = "Set num.standby.replicas=1 where the state is large"


@check(
    "EOS-CFG-130",
    "Exactly-once application without standby tasks",
    Area.CONFIGURATION,
    Severity.INFO,
    roles=(Role.STREAMS,),
    reads=(
        "num.standby.replicas",
        "processing.guarantee",
        "enable.transactional.statestores",
    ),
    references=("KIP-441", "KIP-892"),
)
def no_standby_tasks(case: Case) -> Iterator[Problem]:
    """Find exactly-once applications whose state is rebuilt after a crash.

    What it checks:
        num.standby.replicas=0 written down with exactly-once, and without transactional state stores.

    Why it matters for exactly-once:
        After a crash under exactly-once the state of a task is wiped and read again from its changelog; a standby
        task takes over without that.

    Example:
        num.standby.replicas=0 to save disk, with stores of many gigabytes.

    Fix:
        Set num.standby.replicas=1 where the state is large. From 4.4 on, enable.transactional.statestores=true keeps
        the state after a crash instead, and only what RocksDB had in memory is read again.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in exactly_once_streams(case.deployment):
        standby = streams.value("num.standby.replicas")
        keeps_state = streams.release >= SINCE and streams.value(ENABLED).flag is True
        if standby.is_given and standby.number == 0 and not keeps_state:
            advice = REMEDY + (f", or {ENABLED}=true." if streams.release >= SINCE else ".")
            yield problem(
                streams,
                (standby,),
                "num.standby.replicas is 0.",
                impact="After a crash a task stands still until its state has been read again.",
                remedy=advice,
            )
