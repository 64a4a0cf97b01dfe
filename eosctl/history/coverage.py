"""Which faults met which states of a transaction: what a run has tried, and what it has not.

States are Kafka's (``TransactionState``) as far as a client can know them: a request to end a transaction is
``PrepareCommit`` or ``PrepareAbort`` from its sending to its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from eosctl.history.events import (
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
    """What a producer was doing."""

    INITIALISING = "Initialising"
    EMPTY = "Empty"
    ONGOING = "Ongoing"
    OFFSETS_PENDING = "OffsetsPending"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


class Cell(NamedTuple):
    """A state and a kind of fault that met it."""

    state: ClientState
    fault: str


def count_meetings(history: History) -> Mapping[Cell, int]:
    """Count how often a producer was in a state, or came into it, while a fault lasted."""
    states: dict[str, ClientState] = {}
    active: dict[int, str] = {}
    met: Counter[Cell] = Counter()
    for event in history:
        match event:
            case FaultBegan():
                active[event.number] = event.kind
                met.update(Cell(state, event.kind) for state in states.values())
            case FaultEnded():
                active.pop(event.number, None)
            case _:
                state = _state_after(event)
                if state is not None:
                    actor, now = state
                    if states.get(actor) is not now:
                        states[actor] = now
                        met.update(Cell(now, kind) for kind in active.values())
    return met


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
