"""Decide whether a second reading of the transactions is needed.

A second reading distinguishes a race from a lasting state. If the leaders show only open transactions that coordinators
list as ongoing, no decision waits for its markers, and no timeout has passed, then there was no race, and a second
reading would give the same verdicts.
"""

from __future__ import annotations

from typing import Final

from eosctl.analysis.relation import IDLE_STATES, Relation, relate, sightings
from eosctl.model.limits import Limits
from eosctl.model.transaction import Transaction, TransactionLook, TransactionState

_LIMITS: Final = Limits()


def leaves_doubt(look: TransactionLook) -> bool:
    """Return whether a transaction of a pass may hang, be stalled, or be late."""
    if any(_may_be_stuck(transaction, look.finished_at_ms) for transaction in look.transactions):
        return True
    return any(relate(sighting, look, ())[0] is not Relation.MEMBER for sighting in sightings(look.producers))


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
