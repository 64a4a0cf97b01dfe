"""The table of sensitivity: which input moves which result, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isinf
from typing import Final

from eosctl.model.capacity_plan import CapacityPlan
from eosctl.model.capacity_sensitivity import Movement, Sensitivity
from eosctl.render.capacity.figure_text import figure_text

SENSITIVITY_TITLE: Final = "SENSITIVITY, each input halved and doubled alone"
SENSITIVITY_HEADER: Final = (
    *("INPUT", "VALUE", "MOVES-MOST", "AT-HALF", "PLANNED", "AT-DOUBLE", "CHANGE", "ALSO-MOVES", "VERDICT"),
)
#: The rows of a table that is not wide.
FIRST_ROWS: Final = 15
_NAMED_RESULTS: Final = 3


def sensitivity_rows(
    rows: Sequence[Sensitivity], plan: CapacityPlan, limit: int | None = None
) -> list[tuple[str, ...]]:
    """Return a row for each input that moves a result, the most effective first; at most `limit`."""
    return [_row(row, plan) for row in rows if row.movements][:limit]


def sensitivity_notes(rows: Sequence[Sensitivity], limit: int | None = None) -> Iterator[str]:
    """Yield what the table does not show: further inputs, refusals, inputs without effect, and inputs not varied."""
    hidden = sum(bool(row.movements) for row in rows) - (limit or len(rows))
    if hidden > 0:
        yield f"{hidden} more inputs move a result: -o wide lists all."
    for row in rows:
        for value, refusal in ((row.half, row.refused_half), (row.double, row.refused_double)):
            if refusal:
                yield f"Refused: {row.parameter} = {value}: {refusal}."
    if still := [row.parameter for row in rows if not row.movements and not row.not_varied and not _is_refused(row)]:
        yield f"Moves nothing by 0.5 % or more, except limits used by less than 5 %: {', '.join(still)}."
    reasons = sorted((row for row in rows if row.not_varied), key=lambda row: (row.not_varied, row.parameter))
    for reason, group in groupby(reasons, key=lambda row: row.not_varied):
        yield f"Not varied ({reason}): {', '.join(row.parameter for row in group)}."


def change_text(movement: Movement) -> str:
    """Write the relative changes at half and at double of an input."""
    return " ".join(_share(movement.planned, value) for value in (movement.at_half, movement.at_double))


def _is_refused(row: Sensitivity) -> bool:
    return bool(row.refused_half or row.refused_double)


def _row(row: Sensitivity, plan: CapacityPlan) -> tuple[str, ...]:
    first, *others = row.movements
    also = ", ".join(movement.result for movement in others[:_NAMED_RESULTS])
    more = f", and {len(others) - _NAMED_RESULTS} more" if len(others) > _NAMED_RESULTS else ""
    return (
        row.parameter,
        row.value,
        first.result,
        _value(first, first.at_half),
        _value(first, first.planned),
        _value(first, first.at_double),
        change_text(first),
        also + more,
        _verdict(row, plan),
    )


def _value(movement: Movement, value: float | None) -> str:
    return "-" if value is None else figure_text(value, movement.unit)


def _share(planned: float, value: float | None) -> str:
    if value is None:
        return "-"
    if not planned:
        return "from 0" if value else "+0%"
    share = value / planned - 1
    return "-" if isinf(share) else f"{share:+.0%}"


def _verdict(row: Sensitivity, plan: CapacityPlan) -> str:
    """Write which value changes the verdict."""
    texts = {True: "fits", False: "does not fit"}
    changed = [
        f"{texts[fits]} at {value}"
        for value, fits in ((row.half, row.fits_at_half), (row.double, row.fits_at_double))
        if fits is not None and fits != plan.fits
    ]
    return ", ".join(changed)
