"""Figures as text, by their unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from eosctl.model.capacity_plan import Unit
from eosctl.text import both_bytes_text, byte_rate_text, milliseconds_text, number_text, rate_text

_BY_UNIT: Final[dict[Unit, Callable[[float], str]]] = {
    Unit.BYTES: both_bytes_text,
    Unit.BYTES_PER_S: byte_rate_text,
    Unit.PER_S: rate_text,
    Unit.COUNT: number_text,
    Unit.MILLISECONDS: milliseconds_text,
    Unit.SHARE: "{:.0%}".format,
}

SHOWN_GUESSES: Final = 2


def figure_text(value: float, unit: Unit) -> str:
    """Write a figure with its unit."""
    return _BY_UNIT[unit](value)


def guesses_text(guesses: Sequence[str]) -> str:
    """Name the unstated inputs of a figure: the two that move it most, and the number of the others.

    >>> guesses_text(["topics.orders.linger", "cluster.zones", "topics.orders.compression"])
    'topics.orders.linger, cluster.zones, 1 more'
    """
    more = len(guesses) - SHOWN_GUESSES
    return ", ".join([*guesses[:SHOWN_GUESSES], *([f"{more} more"] if more > 0 else [])])
