"""All checkers over a history, each linear in its length."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.history.cycles import check_cycles
from eosctl.lab.history.events import History
from eosctl.lab.history.ledger import check_sums
from eosctl.lab.history.offsets import check_origins, check_progress
from eosctl.lab.history.producers import check_epochs, check_owners, check_zombies
from eosctl.lab.history.records import (
    check_duplicates,
    check_ends,
    check_losses,
    check_order,
    check_positions,
    check_reads,
)
from eosctl.lab.history.replicas import check_bounds, check_completeness, check_leaders, check_logs
from eosctl.lab.history.stores import check_restorations, check_staleness, check_stores

CHECKERS: tuple[Callable[[History], Iterator[Anomaly]], ...] = (
    check_reads,
    check_positions,
    check_duplicates,
    check_losses,
    check_ends,
    check_sums,
    check_order,
    check_cycles,
    check_progress,
    check_origins,
    check_epochs,
    check_owners,
    check_zombies,
    check_bounds,
    check_leaders,
    check_completeness,
    check_logs,
    check_stores,
    check_restorations,
    check_staleness,
)


def check_history(history: History) -> tuple[Anomaly, ...]:
    """Return every anomaly of a history, by checker."""
    return tuple(anomaly for checker in CHECKERS for anomaly in checker(history))
