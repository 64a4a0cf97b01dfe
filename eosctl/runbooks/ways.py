"""The ways that a runbook can go, and which of them runs have taken: what tests of a runbook must cover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.model.runbook import Action, Assert, Confirm, Evidence, Manual, Notify, Probe, Runbook, Step, Value, Wait
from eosctl.model.runbook_run import Entry
from eosctl.runbooks.expression import evaluate
from eosctl.runbooks.probe_kind import COMPLETE

INPUTS: Final = "inputs"


class Way(NamedTuple):
    """One way out of a step: a branch by its condition, or a name for any other way."""

    step: str
    out: str

    def __str__(self) -> str:
        return f"{self.step}: {self.out}"


def ways_of(book: Runbook) -> tuple[Way, ...]:
    """Return every way out of every step, in the order of the file."""
    return tuple(Way(step.id, out) for step in book.steps for out in _outs(step))


def _outs(step: Step) -> tuple[str, ...]:
    match step:
        case Probe():
            return (*(branch.when for branch in step.branch), "else")
        case Assert():
            return ("holds", "does not hold")
        case Wait():
            return ("in time", "too late")
        case Confirm():
            return ("agreed", "declined")
        case Action():
            return ("verified",)
        case Evidence():
            return ("kept",)
        case Manual():
            return ("handed over",)
        case Notify():
            return ("notified",)


def ways_taken(book: Runbook, entries: Sequence[Entry]) -> frozenset[Way]:
    """Return the ways that a run has taken, from its journal."""
    return frozenset(_taken(book, entries))


def _taken(book: Runbook, entries: Sequence[Entry]) -> Iterator[Way]:
    known: dict[str, Mapping[str, Value]] = {}
    for entry in entries:
        if entry.event == "started":
            known[INPUTS] = entry.data["inputs"]
            continue
        if not entry.step:
            continue
        step = book.step(entry.step)
        match entry.event:
            case "facts":
                known[step.id] = entry.data["facts"]
                if isinstance(step, Probe | Wait):
                    yield Way(step.id, _out_of_look(step, known))
            case "confirmed":
                yield Way(step.id, "agreed")
            case "verified":
                yield Way(step.id, "verified")
            case "evidence":
                yield Way(step.id, "kept")
            case "done" | "ended":
                yield from _out_at_end(step, entry, known)


def _out_of_look(step: Probe | Wait, known: Mapping[str, Mapping[str, Value]]) -> str:
    if isinstance(step, Wait):
        return "in time" if evaluate(step.until, known) and known[step.id][COMPLETE] else "too late"
    return next((branch.when for branch in step.branch if evaluate(branch.when, known)), "else")


def _out_at_end(step: Step, entry: Entry, known: Mapping[str, Mapping[str, Value]]) -> Iterator[Way]:
    match step:
        case Assert():
            yield Way(step.id, "holds" if evaluate(step.that, known) else "does not hold")
        case Confirm() if entry.event == "ended":
            yield Way(step.id, "declined")
        case Manual():
            yield Way(step.id, "handed over")
        case Notify():
            yield Way(step.id, "notified")
