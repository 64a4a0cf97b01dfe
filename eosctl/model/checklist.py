"""Checklists: what must be so before something is done, and the record of one run through them."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class ItemKind(StrEnum):
    """How an item is answered: by checks, by a number with a limit, or by a person."""

    AUTOMATIC = "automatic"
    MEASURED = "measured"
    MANUAL = "manual"


class ItemState(StrEnum):
    """What became of an item."""

    DONE = "done"
    FAILED = "failed"
    OPEN = "open"
    NOT_APPLICABLE = "not-applicable"


class Limit(msgspec.Struct, frozen=True):
    """Between which values a number is good; None if there is no bound."""

    unit: str
    at_least: int | None = None
    at_most: int | None = None

    def holds(self, value: int) -> bool:
        """Return whether a value is good."""
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{word} {bound} {self.unit}" for word, bound in bounds if bound is not None)


class ChecklistItem(msgspec.Struct, frozen=True):
    """One thing to make sure of.

    Attributes:
        id: Its name within the list.
        kind: How it is answered.
        title: What must be so; for a manual item the question.
        why: What goes wrong otherwise.
        fix: What to do when it is not so.
        checks: Of an automatic item: the checks that must pass. One that does not apply counts for nothing.
        sees: Of an automatic item: kinds of subjects; the input must hold at least one of each.
        lacks: Of an automatic item: kinds of subjects of which the input must hold none.
        also: Checks whose findings count when there is evidence for them: files beside a cluster, or the reverse.
        probe: Of a measured item: what eosctl reads off a cluster; empty when a person measures.
        limit: Of a measured item: which values are good.
    """

    id: str
    kind: ItemKind
    title: str
    why: str
    fix: str
    checks: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    sees: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    probe: str = ""
    limit: Limit | None = None


class Checklist(msgspec.Struct, frozen=True):
    """A list of items with a purpose; `version` changes when an item changes."""

    id: str
    title: str
    purpose: str
    version: int
    items: tuple[ChecklistItem, ...]


class Answer(msgspec.Struct, frozen=True):
    """The newest answer to an item.

    Attributes:
        item: The item's id.
        state: What became of it.
        evidence: Findings, a number, or the note of a person.
        who: Who answered; `eosctl` for what it found out itself.
        at: When, RFC 3339 in UTC.
    """

    item: str
    state: ItemState
    evidence: str
    who: str
    at: str


class Signature(msgspec.Struct, frozen=True):
    """Somebody answers for a record. `digest` is the SHA-256 of the answers that were signed."""

    who: str
    at: str
    note: str
    digest: str


class ChecklistRecord(msgspec.Struct, frozen=True):
    """One run through a checklist, as it is kept in a file between sittings."""

    schema: str
    schema_version: int
    checklist: str
    version: int
    cluster: str
    started_at: str
    answers: tuple[Answer, ...] = ()
    signatures: tuple[Signature, ...] = ()

    def answer(self, item: str) -> Answer | None:
        """Return the answer to an item, or None."""
        return next((one for one in self.answers if one.item == item), None)


AREA: Final = "checklist"


def check_id(checklist: Checklist, item: ChecklistItem) -> str:
    """Return the id of an item's finding: ``checklist/eos-go-live/kill-test``."""
    return f"{AREA}/{checklist.id}/{item.id}"
