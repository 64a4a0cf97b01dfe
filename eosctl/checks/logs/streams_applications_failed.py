"""EOS-LOG-007."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"task_corrupted", "state_store_corrupt", "streams_uncaught_exception"})


@check(
    "EOS-LOG-007",
    "Failed Streams application in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("streams", "logs"),
    references=(
        "KIP-663",
        "KIP-1033",
        "processing.guarantee",
    ),
    applies=without_logs,
)
def streams_applications_failed(case: Case) -> Iterator[Problem]:
    """Find Streams applications that lost threads, tasks or state.

    What it checks:
        Logs of Streams applications: threads that died of an exception, tasks that were given up, state stores that
        could not be opened.

    Why it matters for exactly-once:
        A record that kills its thread kills the next one too; lost state is restored from the changelog before
        anything is processed.

    Example:
        A record that cannot be parsed, with REPLACE_THREAD as the handler.

    Fix:
        Handle the record in code or with an exception handler; stop applications in order, so that state is kept.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-007 passes.
    """
    yield from problems_of(case, KINDS)
