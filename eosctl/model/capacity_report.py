"""A capacity plan with the requested additions."""

from __future__ import annotations

import msgspec

from eosctl.model.capacity_plan import CapacityPlan, GrowthPoint, Variant
from eosctl.model.capacity_sensitivity import Sensitivity
from eosctl.model.prices import Costs


class CapacityReport(msgspec.Struct, frozen=True):
    """A plan with the requested additions: other settings, sensitivity, growth, costs of a month."""

    plan: CapacityPlan
    what_if: tuple[Variant, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    growth: tuple[GrowthPoint, ...] = ()
    costs: Costs | None = None
