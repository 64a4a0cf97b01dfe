"""Split a long history into independent parts that can be checked one by one.

Actors, topics, and transactional ids in the same event belong to the same part: the applications of a verification
without a common topic are separate parts. No checker compares across parts, except for producer ids, which
`check_in_parts` handles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from eosctl.lab.history.anomaly import Anomaly
from eosctl.lab.history.check import CHECKERS, check_history
from eosctl.lab.history.cycles import CycleCounts, count_cycles
from eosctl.lab.history.events import (
    Ended,
    EndInvoked,
    Event,
    FaultBegan,
    FaultEnded,
    History,
    Identified,
    InitInvoked,
    OffsetsSent,
    SendInvoked,
    Sent,
    TransactionRead,
)
from eosctl.lab.history.packed import PackedHistory, unpacked
from eosctl.lab.history.producers import check_owners

#: Shorter histories are unpacked and checked as a whole.
_SHORT: Final = 200_000
_OF_NONE: Final = frozenset({FaultBegan, FaultEnded})
_OF_ACTORS: Final = frozenset({InitInvoked, Identified, EndInvoked, Ended})
_OF_BOTH: Final = frozenset({SendInvoked, Sent, OffsetsSent, TransactionRead})
_OF_TRANSACTIONS: Final = frozenset({SendInvoked, OffsetsSent, TransactionRead, EndInvoked, Ended})


class Checked(NamedTuple):
    """The results of the checkers; `cycles` is None if no transaction read anything."""

    anomalies: tuple[Anomaly, ...]
    cycles: CycleCounts | None


def check_in_parts(history: History, *, short: int = _SHORT) -> Checked:
    """Return every anomaly of a history by checker, using the memory of its largest part.

    Args:
        history: The history.
        short: Maximum number of events to check as a whole.
    """
    if len(history) <= short:
        events = unpacked(history)
        return Checked(check_history(events), _count(events))
    ties = _Ties(history)
    found: list[list[Anomaly]] = [[] for _ in CHECKERS]
    cycles: list[CycleCounts] = []
    for part in _route(history, ties):
        events = part.unpack()
        for anomalies, checker in zip(found, CHECKERS, strict=True):
            if checker is not check_owners:
                anomalies += checker(events)
        if (counts := _count(events)) is not None:
            cycles.append(counts)
    found[CHECKERS.index(check_owners)] += check_owners(ties.identities)
    total = CycleCounts(*map(sum, zip(*cycles, strict=True))) if cycles else None
    return Checked(tuple(anomaly for anomalies in found for anomaly in anomalies), total)


def split(history: History) -> Iterator[PackedHistory]:
    """Yield the parts of a history in their order; faults belong to none."""
    return _route(history, _Ties(history))


def _route(history: History, ties: _Ties) -> Iterator[PackedHistory]:
    parts: dict[str, PackedHistory] = defaultdict(PackedHistory)
    part_of: dict[tuple[bool, str], Callable[[Event], None]] = {}
    for event in history:
        kind = type(event)
        if kind in _OF_NONE:
            continue
        by_actor = kind in _OF_ACTORS
        subject = (by_actor, event.actor if by_actor else event.partition.topic)  # type: ignore[union-attr]
        append = part_of.get(subject)
        if append is None:
            name = _actor(subject[1]) if by_actor else _topic(subject[1])
            append = part_of[subject] = parts[ties.root(name)].append
        append(event)
    part_of.clear()
    while parts:
        yield parts.pop(next(iter(parts)))


class _Ties:
    """Sets of names of a history that belong together (disjoint sets with path halving).

    Args:
        history: The history with the names.
    """

    def __init__(self, history: History) -> None:
        self.identities: list[Event] = []
        self._parents: dict[str, str] = {}
        self._known: set[tuple[str, str]] = set()
        for event in history:
            self._add(event)

    def root(self, name: str) -> str:
        """Return the representative of a name's set."""
        parents = self._parents
        while (parent := parents.setdefault(name, name)) != name:
            parents[name] = name = parents[parent]
        return name

    def _tie(self, one: str, other: str) -> None:
        self._parents[self.root(one)] = self.root(other)

    def _add(self, event: Event) -> None:
        kind = type(event)
        if kind in _OF_BOTH:
            pair = (event.actor, event.partition.topic)  # type: ignore[union-attr]
            if pair not in self._known:
                self._known.add(pair)
                self._tie(_actor(pair[0]), _topic(pair[1]))
        elif isinstance(event, InitInvoked | Identified):
            self._tie(_actor(event.actor), f"id {event.transactional_id}")
            if isinstance(event, Identified):
                self.identities.append(event)
        if kind in _OF_TRANSACTIONS:
            self._add_transaction(event.actor, event.transaction)  # type: ignore[union-attr]

    def _add_transaction(self, actor: str, transaction: str) -> None:
        owner, _, _ = transaction.rpartition("/")
        if owner == actor or not transaction:
            return  # Named after its actor, so its set is known.
        self._tie(_actor(actor), f"transaction {transaction}")
        if owner:
            # Left over from a producer that its own actor abandoned.
            self._tie(_actor(owner), f"transaction {transaction}")


def _actor(name: str) -> str:
    return f"actor {name}"


def _topic(name: str) -> str:
    return f"topic {name}"


def _count(history: History) -> CycleCounts | None:
    return count_cycles(history) if any(isinstance(event, TransactionRead) for event in history) else None
