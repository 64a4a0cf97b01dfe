"""EOS-CFG-119."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity

NAMES: Final = (
    "execution.checkpointing.externalized-checkpoint-retention",
    "execution.checkpointing.externalized-checkpoint",
)
_UPGRADES: Final = "job.upgradeMode"
DISCARDING: Final = frozenset({"DELETE_ON_CANCELLATION", "NO_EXTERNALIZED_CHECKPOINTS"})


@check(
    "EOS-CFG-119",
    "Checkpoints are deleted with the job, transactions are not",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.FLINK,),
    reads=(
        "execution.checkpointing.externalized-checkpoint-retention",
        "sink.delivery-guarantee",
        "job.upgradeMode",
    ),
    references=("FLINK-37282",),
)
def flink_checkpoints_discarded(case: Case) -> Iterator[Problem]:
    """Find exactly-once jobs that cannot be continued after they were cancelled.

    What it checks:
        execution.checkpointing.externalized-checkpoint-retention (or its older and newer names) of
        DELETE_ON_CANCELLATION or NO_EXTERNALIZED_CHECKPOINTS with an exactly-once sink; upgradeMode stateless of a job
        of Flink's operator whose sink is exactly-once.

    Why it matters for exactly-once:
        The ids of transactions that are prepared but not committed are known to the checkpoint alone. When it is
        deleted they stay open until their timeout, and what they hold is lost.

    Example:
        DELETE_ON_CANCELLATION copied from a job without Kafka.

    Fix:
        Set RETAIN_ON_CANCELLATION, and stop jobs with a savepoint. Set upgradeMode to savepoint or last-state.

    Verify:
        eosctl config lint reports it no longer.
    """
    flinks = case.deployment.of(Role.FLINK)
    exact = [f for f in flinks if (f.word("sink.delivery-guarantee") or "").lower().replace("_", "-") == "exactly-once"]
    for flink in flinks if exact else ():
        for name in NAMES:
            kept = flink.value(name)
            if kept.is_given and (kept.word or "").upper() in DISCARDING:
                yield problem(
                    flink,
                    (kept,),
                    f"{name} is {kept.word}, and the sink is exactly-once.",
                    impact="After a cancel, prepared transactions are lost and hold readers until their timeout.",
                    remedy="Set RETAIN_ON_CANCELLATION.",
                )
    yield from _stateless(case, exact)


def _stateless(case: Case, exact: list[Component]) -> Iterator[Problem]:
    """Yield the jobs that each upgrade starts without state, where their sink is exactly-once."""
    jobs = [one for one in case.deployment.of(Role.FLINK) if one.has(_UPGRADES)]
    for job in jobs:
        mode, files = job.value(_UPGRADES), {one.place.file for one in exact}
        is_own = job.place.file in files or (len(jobs) == 1 and bool(exact))
        if is_own and (mode.word or "").lower() == "stateless":
            yield problem(
                job,
                (mode,),
                "upgradeMode is stateless, and the sink is exactly-once.",
                impact="Each upgrade starts without the last checkpoint: its prepared transactions are not committed.",
                remedy="Set upgradeMode to savepoint or last-state.",
            )
