"""EOS-LOG-006."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.checks.logs.log_incidents import NEEDS, problems_of, without_logs
from eosctl.model.severity import Severity

KINDS: Final = frozenset(
    {
        "not_enough_replicas",
        "log_dir_failure",
        "coordinator_failover",
        "controller_failover",
        "broker_crash",
        "broker_restart",
        "broker_restart_clean",
        "baseline",
    }
)


@check(
    "EOS-LOG-006",
    "Broker failures or restarts in the logs",
    Area.LOGS,
    Severity.ERROR,
    needs=NEEDS,
    tags=("availability", "logs"),
    references=(
        "KIP-98",
        "min.insync.replicas",
    ),
    applies=without_logs,
)
def brokers_failed(case: Case) -> Iterator[Problem]:
    """Find brokers that died, lost a disk, or were restarted, with what followed from it.

    What it checks:
        Logs of brokers and controllers: stops with and without a request, failed log directories, partitions with too
        few replicas in sync. Planned restarts are information.

    Why it matters for exactly-once:
        Coordinators move and load again; transactions wait, and those that wait longer than their timeout are
        aborted.

    Example:
        Two of three brokers down: acks=all and with it every commit is refused.

    Fix:
        Bring the brokers back; find out why they died.

    Verify:
        eosctl doctor --logs with logs written since then: EOS-LOG-006 passes.
    """
    yield from problems_of(case, KINDS)
