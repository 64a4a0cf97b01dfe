"""Checklists, and the record of a run through one."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class ItemKind(StrEnum):
    """How an item is answered: by checks, by a measured number, or by a person."""

    AUTOMATIC = "automatic"
    MEASURED = "measured"
    MANUAL = "manual"


class ItemState(StrEnum):
    """The state of an item."""

    DONE = "done"
    FAILED = "failed"
    OPEN = "open"
    NOT_APPLICABLE = "not-applicable"


class Limit(msgspec.Struct, frozen=True):
    """The range of good values; None for no bound."""

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
    """An item of a checklist.

    Attributes:
        id: Its name within the list.
        kind: How it is answered.
        title: The requirement; for a manual item the question.
        why: The risk without it.
        fix: What to do if it is not met.
        checks: For an automatic item: the checks that must pass. Checks that do not apply are ignored.
        sees: For an automatic item: kinds of subjects; the input must contain at least one of each.
        lacks: For an automatic item: kinds of subjects that the input must not contain.
        also: Checks that count if there is evidence for them, e.g. files in addition to a cluster.
        probe: For a measured item: the value that eosctl reads from a cluster; empty if a person measures.
        limit: For a measured item: the range of good values.
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
        state: The state of the item.
        evidence: Findings, a number, or a person's note.
        who: Who answered; `eosctl` for automatic answers.
        at: The time, RFC 3339 in UTC.
    """

    item: str
    state: ItemState
    evidence: str
    who: str
    at: str


class Signature(msgspec.Struct, frozen=True):
    """A person's signature of a record. `digest` is the SHA-256 of the signed answers."""

    who: str
    at: str
    note: str
    digest: str


class ChecklistRecord(msgspec.Struct, frozen=True):
    """A run through a checklist, as stored in a file."""

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
    """Return the id of an item's finding: `checklist/eos-go-live/kill-test`."""
    return f"{AREA}/{checklist.id}/{item.id}"
