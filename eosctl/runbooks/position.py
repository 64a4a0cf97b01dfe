"""Find the position of a run, and the step at which an interrupted run continues, in its journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from eosctl.errors import UsageError
from eosctl.model.runbook import Outcome, Runbook, Value
from eosctl.model.runbook_run import Entry

INPUTS: Final = "inputs"
_FINAL: Final = (Outcome.VERIFIED, Outcome.NO_ACTION, Outcome.MANUAL)


@dataclass(slots=True)
class Position:
    """The position and the facts of a run; those of a resumed run come from its journal.

    Attributes:
        at: The step at which it continues.
        known: The facts, by the step that found them.
        acted: Whether it has changed anything.
        begun: The action at which it was cut off, or that was not seen done; empty without one.
    """

    at: str
    known: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    acted: bool = False
    begun: str = ""


def position_of(book: Runbook, entries: tuple[Entry, ...]) -> Position:
    """Return the position at which a run continues, according to its journal.

    A run that was interrupted, blocked, or failed continues at the last step that read the cluster: what was done
    meanwhile is seen there, and not done again. One that was cut off at a change first readings whether that is done.

    Raises:
        UsageError: The run has ended permanently.
    """
    inputs: dict[str, Value] = entries[0].data["inputs"]
    position = Position(book.steps[0].id, {INPUTS: inputs})
    for entry in entries:
        match entry.event:
            case "begun" if entry.data["type"] in ("probe", "wait"):
                position.at, position.begun = entry.step, ""
            case "facts":
                position.known[entry.step] = entry.data["facts"]
            case "acting":
                position.acted, position.begun = True, entry.step
            case "resumed":
                position.at = entry.step
            case "ended" if entry.data["next"]:
                position.at, position.begun = entry.data["next"], ""
    last = entries[-1]
    if last.event == "ended" and not last.data["next"] and last.data["outcome"] in _FINAL:
        raise UsageError(
            f"The run has ended: {last.data['outcome']}.",
            last.data["message"],
            f"Start a new one: eosctl runbook run {book.id}",
        )
    return position
