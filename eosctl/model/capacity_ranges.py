"""The plan of a workload whose guesses are ranges: each affected figure from its least to its largest value."""

from __future__ import annotations

import msgspec

from eosctl.model.capacity_plan import Advice, Grade, Unit


class RangedInput(msgspec.Struct, frozen=True):
    """An input that the workload file gives as a range, in the file's own words."""

    parameter: str
    low: str
    likely: str
    high: str


class FigureRange(msgspec.Struct, frozen=True):
    """A figure over all plans within the ranges; `high` is None where some plan has no such value."""

    section: str
    subject: str
    name: str
    title: str
    unit: Unit
    low: float | None
    likely: float | None
    high: float | None
    formula: str
    grade: Grade


class PlanRanges(msgspec.Struct, frozen=True):
    """What the ranges of a workload file do to its plan.

    `sized_by` are the values of the plan that uses most of a limit; `bottleneck`, `utilisation`, and `fits` are its
    verdict. `broker_count_needed` is the largest of all `plan_count` plans. `advice` is that of the sizing plan, and
    urgent advice of the others. `failures` are those of the sizing plan.
    """

    inputs: tuple[RangedInput, ...]
    figures: tuple[FigureRange, ...]
    plan_count: int
    sized_by: tuple[tuple[str, str], ...]
    bottleneck: str
    utilisation: float
    fits: bool | None
    broker_count_needed: int | None
    advice: tuple[Advice, ...]
    failures: tuple[str, ...] = ()
