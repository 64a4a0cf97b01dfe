"""Partition verification is enabled by the default of all brokers, where that default decides."""

from __future__ import annotations

import pytest

from eosctl.actions.verification import VERIFICATION_SETTING, plan_verification
from eosctl.errors import PlanRefused
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.snapshot import ClusterSnapshot
from tests.analysis.scenes import broker


def cluster(*values: tuple[str, SettingSource]) -> ClusterSnapshot:
    brokers = (
        broker(node_id, settings=(Setting(VERIFICATION_SETTING, value, source),))
        for node_id, (value, source) in enumerate(values, 1)
    )
    return ClusterSnapshot(0, "c", brokers=tuple(brokers))


@pytest.mark.parametrize("source", [SettingSource.STATIC_BROKER, SettingSource.DYNAMIC_DEFAULT_BROKER])
def test_the_default_changes_brokers_without_own_value(source: SettingSource) -> None:
    plan = plan_verification(cluster(("false", source), ("true", SettingSource.DYNAMIC_BROKER)))
    assert plan.broker_ids == (1,)


def test_a_value_of_its_own_is_removed_first() -> None:
    found = cluster(("false", SettingSource.STATIC_BROKER), ("false", SettingSource.DYNAMIC_BROKER))
    with pytest.raises(PlanRefused, match="on broker 2") as refused:
        plan_verification(found)
    assert f"--entity-name 2 --delete-config {VERIFICATION_SETTING}" in refused.value.next_step


def test_nothing_is_planned_where_it_is_on() -> None:
    with pytest.raises(PlanRefused, match="No broker reports"):
        plan_verification(cluster(("true", SettingSource.DEFAULT)))
