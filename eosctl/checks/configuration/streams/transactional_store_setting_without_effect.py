"""EOS-CFG-162."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity

ENABLED: Final = "enable.transactional.statestores"
DEPENDENT: Final = ("statestore.uncommitted.max.bytes", "default.interactive.query.isolation.level")
SINCE: Final = (4, 4)


@check(
    "EOS-CFG-162",
    "Setting of transactional state stores without effect",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.STREAMS,),
    reads=(ENABLED, *DEPENDENT),
    references=("KIP-892",),
)
def transactional_store_setting_without_effect(case: Case) -> Iterator[Problem]:
    """Find Streams applications that set up transactional state stores and do not enable them.

    What it checks:
        statestore.uncommitted.max.bytes or default.interactive.query.isolation.level of an application of 4.4 or later,
        with enable.transactional.statestores at false, which is the default.

    Why it matters for exactly-once:
        The stores stay as they were: a crash under exactly-once wipes and restores them, and interactive queries read
        writes that the transaction may still lose.

    Example:
        statestore.uncommitted.max.bytes=134217728 without enable.transactional.statestores.

    Fix:
        Set enable.transactional.statestores=true, or remove the setting.

    Verify:
        eosctl config lint reports it no longer.
    """
    for streams in case.deployment.of(Role.STREAMS):
        enabled = streams.value(ENABLED)
        if streams.release < SINCE or enabled.flag is not False:
            continue
        for name in DEPENDENT:
            given = streams.value(name)
            if given.is_given:
                yield problem(
                    streams,
                    (given, enabled) if enabled.is_given else (given,),
                    f"{name} is set, but {ENABLED} is false.",
                    impact="A crash under exactly-once wipes the stores and restores them from their changelogs.",
                    remedy=f"Set {ENABLED}=true, or remove {name}.",
                )
