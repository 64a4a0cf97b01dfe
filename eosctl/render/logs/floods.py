"""Shorten a flood of incidents: the first ones of each kind and cause are shown, and the others are counted.

A fault of the cluster can fence thousands of producers. Their incidents are all in the machine-readable results.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

Item = TypeVar("Item")

SHOWN_OF_A_KIND: Final = 20
OUTSIDE_CATALOG: Final = "error_outside_catalog"


class Shortened(NamedTuple, Generic[Item]):
    """The items to show, in their order, and those that are only counted, by group."""

    shown: Sequence[Item]
    counted: Sequence[Sequence[Item]]


def shorten(items: Iterable[Item], group_of: Callable[[Item], Hashable]) -> Shortened[Item]:
    """Keep the first ``SHOWN_OF_A_KIND`` items of each group; the largest rests come first."""
    shown: list[Item] = []
    counts: dict[Hashable, int] = {}
    rests: dict[Hashable, list[Item]] = {}
    for item in items:
        group = group_of(item)
        counts[group] = counts.get(group, 0) + 1
        (shown if counts[group] <= SHOWN_OF_A_KIND else rests.setdefault(group, [])).append(item)
    return Shortened(shown, sorted(rests.values(), key=len, reverse=True))


def worst_first(incidents: Iterable[Incident]) -> Sequence[Incident]:
    """Return incidents in the order of every report; the headline is about the first one.

    Among equally severe ones, an error outside of the catalog is the last.
    """
    return sorted(incidents, key=lambda one: (one.severity.rank, one.kind == OUTSIDE_CATALOG, one.t_start_ms))


def shorten_incidents(incidents: Iterable[Incident]) -> Shortened[Incident]:
    """Shorten incidents by severity, kind, and cause; the worst come first."""
    return shorten(worst_first(incidents), lambda one: (one.severity, one.kind, one.root_cause))


def rest_text(rest: Sequence[Incident]) -> str:
    """Describe incidents of one kind and cause that are only counted."""
    head, last = rest[0], rest[-1]
    count = count_text(len(rest), "more incident")
    return (
        f"{count} {head.kind}: {head.root_cause}, {time_text(head.t_start_ms)} to {time_text(last.t_start_ms)}; "
        "-o json lists all."
    )
