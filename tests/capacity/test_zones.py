"""The loss of a zone, and producers that are not applications."""

from __future__ import annotations

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.capacity_plan import Advice, CapacityPlan
from tests.capacity.workloads import STREAMS


def plan_with(cluster: str, old: str = "zones: 3") -> CapacityPlan:
    return plan_capacity(parse_workload(STREAMS.replace(old, cluster), "w.yaml"))


def advice_for(plan: CapacityPlan, setting: str) -> list[Advice]:
    return [one for one in plan.advice if one.setting == setting]


def value(plan: CapacityPlan, name: str) -> float | None:
    return next((one.value for one in plan.figures if one.name.startswith(name)), None)


@pytest.mark.parametrize(
    ("cluster", "copies_left", "setting", "wanted"),
    [
        ("zones: 3", 2, "", ""),
        ("zones: 6", 2, "", ""),
        ("zones: 2", 1, "zones", "3"),
        # One copy in each of two zones, and both are needed; of three copies, one zone would have two.
        ("zones: 2, replication_factor: 2", 1, "replication.factor", "4"),
        ("zones: 2, replication_factor: 4", 2, "", ""),
    ],
)
def test_a_lost_zone_leaves_copies(cluster: str, copies_left: int, setting: str, wanted: str) -> None:
    plan = plan_with(cluster)
    assert value(plan, "copies of a partition that are left") == copies_left
    found = [
        one for name in ("zones", "replication.factor") for one in advice_for(plan, name) if "a zone" in one.reason
    ]
    assert [(one.setting, one.value, one.urgent) for one in found] == ([(setting, wanted, True)] if setting else [])


def test_one_zone_has_no_verdict() -> None:
    assert value(plan_with("zones: 1"), "copies of a partition that are left") is None


def test_brokers_that_only_suffice_without_a_lost_zone() -> None:
    # 6 brokers send 30 MB/s each; after the loss of one 33, of a zone with two of them 40.
    sent = value(plan_with("zones: 3"), "network out of each broker that is left when a zone is lost")
    assert sent is not None
    before = next(one for one in plan_with("zones: 3").resources if one.name == "network out")
    assert before.used_after_loss < sent
    between = (before.used_after_loss + sent) / 2 / 0.6
    plan = plan_with(f"network: {between:.0f} B/s", "network: 10 Gb/s")
    assert plan.fits
    (advice,) = advice_for(plan, "brokers_lost")
    assert (advice.value, advice.urgent) == ("2", False)
    assert "network out" in advice.reason


def test_writers_outside_of_applications_leave_states() -> None:
    def states(writers: int, rate: str) -> float:
        audit = f"  audit: {{partitions: 32, rate: {rate}, value: 100 B, writers: {writers}}}\napplications:"
        found = value(plan_with(audit, "applications:"), "producer states, all replicas")
        assert found is not None
        return found

    assert states(108, "1000/s") - states(8, "1000/s") == pytest.approx(100 * 32 * 3)
    own = "enriched: {partitions: 32, rate: 10000/s, key: 16 B, value: 1000 B, readers: 2"
    plans = [plan_with(f"{own}{stated}}}", f"{own}}}") for stated in ("", ", writers: 1", ", writers: 101")]
    unstated, first, last = (value(plan, "producer states, all replicas") or 0 for plan in plans)
    assert (first - unstated, last - unstated) == pytest.approx((32 * 3, 101 * 32 * 3))
    # A record an hour of each reaches at most 24 of the 32 partitions within a day.
    assert states(8, "1000/s") - states(8, "8/h") == pytest.approx(8 * (32 - 24) * 3)
