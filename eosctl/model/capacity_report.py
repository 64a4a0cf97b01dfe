"""A capacity plan with the requested additions."""

from __future__ import annotations

import msgspec

from eosctl.model.capacity_plan import Advice, CapacityPlan, GrowthPoint, Variant
from eosctl.model.capacity_ranges import PlanRanges
from eosctl.model.capacity_sensitivity import Sensitivity
from eosctl.model.prices import Costs


class CapacityReport(msgspec.Struct, frozen=True):
    """A plan with the requested additions: other settings, sensitivity, growth, costs of a month.

    `plan` has the likely value of each input; `ranges` is None if the file has no ranges.
    """

    plan: CapacityPlan
    what_if: tuple[Variant, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    growth: tuple[GrowthPoint, ...] = ()
    costs: Costs | None = None
    ranges: PlanRanges | None = None

    @property
    def fits(self) -> bool | None:
        """Return whether the workload fits with every plan within its ranges; None without a known limit."""
        return self.ranges.fits if self.ranges else self.plan.fits

    @property
    def advice(self) -> tuple[Advice, ...]:
        """Return what to change, by the sizing plan if the file has ranges."""
        return self.ranges.advice if self.ranges else self.plan.advice
