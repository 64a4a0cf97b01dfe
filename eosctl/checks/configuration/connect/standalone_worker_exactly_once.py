"""EOS-CFG-117."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role
from eosctl.model.severity import Severity


@check(
    "EOS-CFG-117",
    "Exactly-once sources on a standalone worker",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.CONNECT_WORKER,),
    reads=(
        "exactly.once.source.support",
        "offset.storage.file.filename",
    ),
    references=("KIP-618",),
)
def standalone_worker_exactly_once(case: Case) -> Iterator[Problem]:
    """Find standalone workers that are asked for exactly-once.

    What it checks:
        exactly.once.source.support other than disabled with offset.storage.file.filename, which only standalone
        workers have.

    Why it matters for exactly-once:
        A standalone worker keeps the offsets of its sources in a file: they are not part of any transaction. It does
        not know the setting.

    Example:
        connect-standalone.properties with exactly.once.source.support=enabled.

    Fix:
        Run distributed workers, one is enough.

    Verify:
        eosctl config lint reports it no longer.
    """
    for worker in case.deployment.of(Role.CONNECT_WORKER):
        support, offsets = worker.value("exactly.once.source.support"), worker.value("offset.storage.file.filename")
        if support.is_given and support.word is not None and support.word.lower() != "disabled" and offsets.is_given:
            yield problem(
                worker,
                (support, offsets),
                "The worker is a standalone one: its offsets are kept in a file.",
                impact="Sources run at least once.",
                remedy="Run a distributed worker.",
            )
