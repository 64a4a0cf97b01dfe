"""Spell the states of a snapshot as Kafka does, also where another program wrote or converted it.

Java's names (`COMPLETE_ABORT`) and lower case (`ongoing`) are the same states. Checks compare them with Kafka's names,
so a state in another spelling would be one that no check judges. A state that no release has is left as it is: a newer
broker may have it.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

import msgspec

from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot, Group
from eosctl.model.transaction import Transaction, TransactionState

_Stated = TypeVar("_Stated", Transaction, TransactionLogEntry, Group)
_TRANSACTION: Final = frozenset(map(str, TransactionState))
#: Kafka's `GroupState`.
_GROUP: Final = frozenset({
    "Unknown", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling",
    "NotReady",
})  # fmt: skip
_SIGNS: Final = str.maketrans("", "", "_- ")


def with_state_names(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return a snapshot with Kafka's own names of states of transactions and groups."""
    looks = snapshot.looks
    if not all(_are_spelled(look.transactions, _TRANSACTION) for look in looks):
        looks = tuple(
            msgspec.structs.replace(look, transactions=_spelled(look.transactions, _TRANSACTION)) for look in looks
        )
    return msgspec.structs.replace(
        snapshot,
        looks=looks,
        groups=_spelled(snapshot.groups, _GROUP),
        transaction_history=_spelled(snapshot.transaction_history, _TRANSACTION),
    )


def _are_spelled(items: tuple[_Stated, ...], names: AbstractSet[str]) -> bool:
    return all(item.state in names for item in items)


def _spelled(items: tuple[_Stated, ...], names: AbstractSet[str]) -> tuple[_Stated, ...]:
    if _are_spelled(items, names):
        return items
    known = {name.casefold(): name for name in names}
    return tuple(
        msgspec.structs.replace(item, state=known.get(item.state.translate(_SIGNS).casefold(), item.state))
        for item in items
    )
