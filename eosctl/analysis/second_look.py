"""Whether one reading at transactions leaves a question that a second one would answer.

A second reading tells a race from what stays. Where every leader shows nothing open but what a coordinator's ongoing
transaction holds, no decision waits for its markers and no timeout has passed, there was no race and nothing to stay:
the verdicts of a second reading would be the same.
"""

from __future__ import annotations

from typing import Final

from eosctl.analysis.coordinators import view_of
from eosctl.analysis.relation import IDLE_STATES, Relation, relate, sightings
from eosctl.model.limits import Limits
from eosctl.model.transaction import Transaction, TransactionLook, TransactionState

_LIMITS: Final = Limits()


def leaves_doubt(look: TransactionLook) -> bool:
    """Return whether a transaction of a pass may hang, be stalled, or be late."""
    if any(_may_be_stuck(transaction, look.finished_at_ms) for transaction in look.transactions):
        return True
    view = view_of(look)
    return any(relate(sighting, view, ())[0] is not Relation.MEMBER for sighting in sightings(look.producers))


def _may_be_stuck(transaction: Transaction, now_ms: int) -> bool:
    if transaction.state in IDLE_STATES:
        return False
    if transaction.state != TransactionState.ONGOING or transaction.start_time_ms is None:
        return True
    return now_ms >= transaction.start_time_ms + transaction.timeout_ms


def holds_something_long(look: TransactionLook, limits: Limits = _LIMITS) -> bool:
    """Return whether a coordinator has a transaction that is open long enough to be reported."""
    return any(
        transaction.state not in IDLE_STATES
        and transaction.start_time_ms is not None
        and look.finished_at_ms - transaction.start_time_ms >= limits.long_running_transaction_ms
        for transaction in look.transactions
    )
