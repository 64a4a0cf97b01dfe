"""What each input of a capacity plan decides: the results that move when it is halved and doubled."""

from __future__ import annotations

from math import inf

import msgspec

from eosctl.model.capacity_plan import Unit


class Movement(msgspec.Struct, frozen=True):
    """A result that an input moves; `at_half` and `at_double` are None where the plan is refused or not varied."""

    result: str
    unit: Unit
    planned: float
    at_half: float | None
    at_double: float | None

    @property
    def effect(self) -> float:
        """Return the distance between the extremes as a share of the planned value."""
        values = [value for value in (self.planned, self.at_half, self.at_double) if value is not None]
        distance = max(values) - min(values)
        return distance / self.planned if self.planned else inf if distance else 0.0


class Sensitivity(msgspec.Struct, frozen=True):
    """An input with the results that it moves, the one that it moves most first.

    `half` and `double` are the values tried; empty where an input cannot have that value. A refusal says why the plan
    with a value is invalid. `not_varied` is the reason why no value was tried. `fits_at_half` and `fits_at_double` are
    the verdicts with them.
    """

    parameter: str
    value: str
    half: str = ""
    double: str = ""
    movements: tuple[Movement, ...] = ()
    refused_half: str = ""
    refused_double: str = ""
    fits_at_half: bool | None = None
    fits_at_double: bool | None = None
    not_varied: str = ""

    @property
    def effect(self) -> float:
        """Return the effect on the result that moves most; 0 if none moves."""
        return self.movements[0].effect if self.movements else 0.0
