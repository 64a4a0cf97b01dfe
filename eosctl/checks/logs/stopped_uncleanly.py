"""EOS-LOG-008."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset({"unclean_stop"})


@check(
    "EOS-LOG-008",
    "Application exited without a clean shutdown",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("lifecycle", "logs"),
    references=("KIP-98",),
    applies=without_logs,
)
def stopped_uncleanly(case: Case) -> Iterator[Problem]:
    """Find applications that ended in the middle of their work.

    What it checks:
        Logs that end, or begin again, without the words of an orderly stop.

    Why it matters for exactly-once:
        An open transaction stays until its timeout or until the next instance with the same id; readers wait that
        long, and Streams restores its state from the start.

    Example:
        SIGKILL after a grace period that is shorter than a commit.

    Fix:
        Close producers and Streams on SIGTERM; give the process time to.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-008 passes.
    """
    yield from problems_of(case, KINDS)
