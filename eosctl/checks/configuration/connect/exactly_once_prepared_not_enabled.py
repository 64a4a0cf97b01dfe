"""EOS-CFG-116."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-116",
    "Exactly-once of Connect's sources is prepared, not enabled",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(Role.CONNECT_WORKER,),
    reads=("exactly.once.source.support",),
    references=("KIP-618",),
)
def exactly_once_prepared_not_enabled(case: Case) -> Iterator[Problem]:
    """Find workers that stopped half-way to exactly-once sources.

    What it checks:
        exactly.once.source.support=preparing on every worker that is given.

    Why it matters for exactly-once:
        Prepared workers use a transactional leader, but source tasks write without transactions still: nothing is
        exactly-once yet.

    Example:
        The second rolling restart was never made.

    Fix:
        Set exactly.once.source.support=enabled in another rolling restart.

    Verify:
        eosctl config lint reports it no longer.
    """
    workers = case.deployment.of(Role.CONNECT_WORKER)
    support = [worker.value("exactly.once.source.support") for worker in workers]
    if workers and all((value.word or "").lower() == "preparing" for value in support):
        yield problem(
            workers[0],
            (support[0],),
            "exactly.once.source.support is preparing on every worker.",
            impact="Source tasks write without transactions.",
            remedy="Set it to enabled on all workers in a second rolling restart.",
        )
