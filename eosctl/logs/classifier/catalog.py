"""Load the catalog once: log categories from ``catalog.toml``, and their incidents from ``incidents.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, cast

from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.severity import Severity

_DONE: Final = "<done>"
"""The place of a word of work in a pattern."""


class Weight(StrEnum):
    """The weight of a single record of a category."""

    BENIGN = "benign"
    WATCH = "watch"
    ACT = "act"
    CRITICAL = "critical"


class Category(NamedTuple):
    """A category of records.

    Attributes:
        id: The name, e.g. ``PRODUCER_FENCED``.
        weight: How much it matters.
        patterns: Regular expressions; a record that matches one of them belongs to the category.
        fields: Regular expressions with named groups.
        levels: The levels that the record must have one of; empty for any.
        loggers_not: Regular expressions; a record whose logger matches one does not belong to the category.
        unless: Regular expressions; a record that matches one does not belong to the category.
        meaning: The meaning of the record.
        next_step: What to check or do next.
    """

    id: EventCategory
    weight: Weight
    patterns: tuple[str, ...]
    fields: tuple[str, ...]
    levels: frozenset[str]
    loggers_not: tuple[str, ...]
    unless: tuple[str, ...]
    meaning: str
    next_step: str


class Catalog(NamedTuple):
    """All categories in matching order, the fields that any record can have, and programs' words for work done."""

    categories: tuple[Category, ...]
    common_fields: tuple[str, ...]
    words_of_work: tuple[str, ...]

    def find(self, category_id: str) -> Category | None:
        """Return a category by its id."""
        return next((category for category in self.categories if category.id == category_id), None)


class Alternative(NamedTuple):
    """Another verdict on the same records, where the input refutes the usual one.

    Attributes:
        shown: The observation that the input must have, one of ``remaining/observations.py``.
        kind: What happened.
        cause: The likely cause, as a slug.
        severity: How much it matters.
        confidence: How sure the verdict is, from 0 to 1.
        what: The verdict, with placeholders for the values of the observation, too.
        next_step: What to do, in the same form.
    """

    shown: str
    kind: str
    cause: str
    severity: Severity
    confidence: float
    what: str
    next_step: str


class CatalogedIncident(NamedTuple):
    """The incident that a category's records are, if no detector finds a cause in other records.

    Attributes:
        kind: What happened, e.g. ``transactional_id_expired``.
        cause: The likely cause, as a slug.
        severity: How much it matters.
        confidence: How much one such record shows, from 0 to 1.
        is_echo: Whether such records only repeat a failure that another record of the same program reports.
        at_least: Minimum number of records for an incident.
        lasting_s: Minimum time between the first and the last record, in seconds.
        alone_from: A field and the value from which one record is an incident; None without such a value.
        unfinished: The verdict on records that span a quarter of ``lasting_s`` or more up to the end of their log;
            empty if these are not an incident.
        brief: The verdict, of severity info, on enough records of a transaction that lasted for less than
            ``lasting_s``; empty if these are not an incident.
        brief_cause: The cause for this verdict.
        renewed_s: Maximum time until a program repeats the record while the fault lasts, in seconds.
        is_of_client: Whether the fault is a client's, even if a broker logs it.
        what: The verdict; ``{who}`` and names of the subject are placeholders for their values.
        next_step: What to do, in the same form.
        alternatives: Verdicts that replace this one where the input shows an observation, the best one first.
    """

    kind: str
    cause: str
    severity: Severity
    confidence: float
    is_echo: bool
    at_least: int
    lasting_s: int
    alone_from: tuple[EventField, int] | None
    unfinished: str
    brief: str
    brief_cause: str
    renewed_s: int
    is_of_client: bool
    what: str
    next_step: str
    alternatives: tuple[Alternative, ...]


@cache
def load_incidents() -> Mapping[EventCategory, CatalogedIncident]:
    """Read the incidents of categories, by category."""
    text = files("eosctl.logs.classifier").joinpath("incidents.toml").read_text("utf-8")
    data = cast(Mapping[EventCategory, Any], tomllib.loads(text))
    return {
        category: CatalogedIncident(
            kind=entry["kind"],
            cause=entry["cause"],
            severity=Severity(entry["severity"]),
            confidence=entry["confidence"],
            is_echo=entry.get("echo", False),
            at_least=entry.get("at_least", 1),
            lasting_s=entry.get("lasting_s", 0),
            alone_from=next(iter(entry.get("alone_from", {}).items()), None),
            unfinished=entry.get("unfinished", ""),
            brief=entry.get("brief", ""),
            brief_cause=entry.get("brief_cause", ""),
            renewed_s=entry.get("renewed_s", 0),
            is_of_client=entry.get("of_client", False),
            what=entry["what"],
            next_step=entry["next"],
            alternatives=tuple(
                Alternative(
                    shown=one["shown"],
                    kind=one.get("kind", entry["kind"]),
                    cause=one["cause"],
                    severity=Severity(one.get("severity", entry["severity"])),
                    confidence=one["confidence"],
                    what=one["what"],
                    next_step=one["next"],
                )
                for one in entry.get("instead", ())
            ),
        )
        for category, entry in data.items()
    }


@cache
def load_catalog() -> Catalog:
    """Read the built-in catalog."""
    data = tomllib.loads(files("eosctl.logs.classifier").joinpath("catalog.toml").read_text("utf-8"))
    words = tuple(data["words"]["done"])
    categories = tuple(
        Category(
            id=name,
            weight=Weight(entry["severity"]),
            patterns=tuple(one for pattern in entry["any"] for one in _for_each_word(pattern, words)),
            fields=tuple(entry.get("fields", ())),
            levels=frozenset(entry.get("levels", ())),
            loggers_not=tuple(entry.get("loggers_not", ())),
            unless=tuple(entry.get("unless", ())),
            meaning=entry["meaning"],
            next_step=entry["next"],
        )
        for name, entry in data["category"].items()
    )
    return Catalog(categories, tuple(data["common"]["fields"]), words)


def _for_each_word(pattern: str, words: Sequence[str]) -> Sequence[str]:
    """Return a pattern for each word of work, if it has a place for one: each has a text that is searched first."""
    return [pattern.replace(_DONE, in_any_case(word)) for word in words] if _DONE in pattern else [pattern]


def in_any_case(word: str) -> str:
    """Return the expression of a word with or without a capital letter.

    >>> in_any_case("sent")
    '[Ss]ent'
    """
    return f"[{word[0].upper()}{word[0]}]{word[1:]}"


@cache
def acting_categories() -> frozenset[EventCategory]:
    """Return the categories whose records call for action by themselves."""
    return frozenset(one.id for one in load_catalog().categories if one.weight in (Weight.ACT, Weight.CRITICAL))
