"""Coverage of a run: which faults occurred in which states of a transaction.

States are Kafka's (`TransactionState`) as far as a client can know them: the state is `PrepareCommit` or `PrepareAbort`
from the request to end a transaction to its response.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

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
    Outcome,
    SendInvoked,
)


class ClientState(StrEnum):
    """The state of a producer."""

    INITIALISING = "Initialising"
    EMPTY = "Empty"
    ONGOING = "Ongoing"
    OFFSETS_PENDING = "OffsetsPending"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


class Cell(NamedTuple):
    """A state and a kind of fault that occurred in it."""

    state: ClientState
    fault: str


class Coverage:
    """The coverage so far, updated event by event.

    Attributes:
        met: How often a producer was in a state, or entered it, during a fault.
    """

    def __init__(self) -> None:
        self.met: Counter[Cell] = Counter()
        self._states: dict[str, ClientState] = {}
        self._active: dict[int, str] = {}

    def see(self, event: Event) -> None:
        """Process the next event of a history."""
        match event:
            case FaultBegan():
                self._active[event.number] = event.kind
                self.met.update(Cell(state, event.kind) for state in self._states.values())
            case FaultEnded():
                self._active.pop(event.number, None)
            case _:
                state = _state_after(event)
                if state is not None:
                    actor, now = state
                    if self._states.get(actor) is not now:
                        self._states[actor] = now
                        self.met.update(Cell(now, kind) for kind in self._active.values())

    def met_count(self, fault: str) -> int:
        """Return the number of states in which a kind of fault occurred."""
        return sum(1 for state in ClientState if self.met[Cell(state, fault)])

    def would_be_new(self, fault: str) -> bool:
        """Return whether a producer is in a state that this kind of fault has not covered."""
        return any(not self.met[Cell(state, fault)] for state in self._states.values())


def count_meetings(history: History) -> Mapping[Cell, int]:
    """Count how often a producer was in a state, or entered it, during a fault."""
    coverage = Coverage()
    for event in history:
        coverage.see(event)
    return coverage.met


def _state_after(event: Event) -> tuple[str, ClientState] | None:
    match event:
        case InitInvoked():
            return event.actor, ClientState.INITIALISING
        case Identified():
            return event.actor, ClientState.EMPTY
        case SendInvoked(transaction=transaction) if transaction:
            return event.actor, ClientState.ONGOING
        case OffsetsSent():
            return event.actor, ClientState.OFFSETS_PENDING
        case EndInvoked():
            return event.actor, ClientState.PREPARE_COMMIT if event.committed else ClientState.PREPARE_ABORT
        case Ended(outcome=Outcome.COMMITTED):
            return event.actor, ClientState.COMPLETE_COMMIT
        case Ended(outcome=Outcome.ABORTED):
            return event.actor, ClientState.COMPLETE_ABORT
        case _:
            return None
