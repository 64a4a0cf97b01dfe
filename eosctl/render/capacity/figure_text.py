"""Figures as text, by their unit."""

from __future__ import annotations

from collections.abc import Callable
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


def figure_text(value: float, unit: Unit) -> str:
    """Write a figure with its unit."""
    return _BY_UNIT[unit](value)
