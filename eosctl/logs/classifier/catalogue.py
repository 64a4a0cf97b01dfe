"""The catalogue of log categories: data in ``catalogue.toml``, read once."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Weight(StrEnum):
    """How much a record of a category matters by itself."""

    BENIGN = "benign"
    WATCH = "watch"
    ACT = "act"
    CRITICAL = "critical"


class Category(NamedTuple):
    """What a record can be.

    Attributes:
        id: The name, e.g. ``PRODUCER_FENCED``.
        weight: How much it matters.
        patterns: Regular expressions; any of them makes a record one of these.
        fields: Regular expressions with named groups.
        levels: The levels that the record must have one of; empty for any.
        loggers_not: Regular expressions; a record whose logger matches one is none of these.
        unless: Regular expressions; a record that matches one is none of these.
        meaning: What it tells.
        next_step: What to look at or do.
    """

    id: str
    weight: Weight
    patterns: tuple[str, ...]
    fields: tuple[str, ...]
    levels: frozenset[str]
    loggers_not: tuple[str, ...]
    unless: tuple[str, ...]
    meaning: str
    next_step: str


class Catalogue(NamedTuple):
    """All categories in the order in which they are tried, and the fields that any record can have."""

    categories: tuple[Category, ...]
    common_fields: tuple[str, ...]

    def find(self, category_id: str) -> Category | None:
        """Return a category by its id."""
        return next((category for category in self.categories if category.id == category_id), None)


@cache
def load_catalogue() -> Catalogue:
    """Read the catalogue that is shipped."""
    data = tomllib.loads(files("eosctl.logs.classifier").joinpath("catalogue.toml").read_text("utf-8"))
    categories = tuple(
        Category(
            id=name,
            weight=Weight(entry["severity"]),
            patterns=tuple(entry["any"]),
            fields=tuple(entry.get("fields", ())),
            levels=frozenset(entry.get("levels", ())),
            loggers_not=tuple(entry.get("loggers_not", ())),
            unless=tuple(entry.get("unless", ())),
            meaning=entry["meaning"],
            next_step=entry["next"],
        )
        for name, entry in data["category"].items()
    )
    return Catalogue(categories, tuple(data["common"]["fields"]))
