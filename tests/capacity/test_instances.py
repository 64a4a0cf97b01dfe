"""What each instance of an application needs, and what helps when disks or memory are too small."""

from __future__ import annotations

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.what_if import try_values
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_tree import parse_tree
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_plan import CapacityPlan, InstancePlan
from tests.capacity.workloads import STREAMS

MIB, GIB = 2**20, 2**30
STORES = "stores: {totals: {keys: 100000000, key: 50 B, value: 100 B}}"


def plan(*changes: tuple[str, str]) -> CapacityPlan:
    text = STREAMS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return plan_capacity(parse_workload(text, "w.yaml"))


def instance(*changes: tuple[str, str]) -> InstancePlan:
    found = plan(*changes).applications[0].instance
    assert found is not None
    return found


def advised(found: CapacityPlan) -> dict[str, str]:
    return {advice.setting: advice.reason for advice in found.advice}


def test_an_instance_has_its_share_of_threads_tasks_and_stores() -> None:
    one = instance()
    assert (one.instances, one.threads, one.tasks) == (4, 8, 8)
    assert one.heap_bytes == 512 * MIB + 10 * MIB + 8 * (32 + 50) * MIB
    assert one.off_heap_bytes == 8 * (50 + 48) * MIB + 50e9 / 4 * (0.0055 + 1.25 / 200)
    assert one.disk_bytes == 2 * 50e9 / 4


def test_standbys_double_stores_and_disk() -> None:
    one, two = instance(), instance(("state: 50 GB", "state: 50 GB\n    standbys: 1"))
    assert two.off_heap_bytes == 2 * one.off_heap_bytes
    assert two.disk_bytes == 2 * one.disk_bytes


def test_stores_give_the_state() -> None:
    found = plan(("state: 50 GB", STORES)).applications[0]
    assert found.instance is not None
    live = 100e6 * (50 + 100 + 8) * 1.3
    assert found.instance.disk_bytes == pytest.approx(2 * live / 4)
    # The changelog has no timestamps in its values, and none of RocksDB's structures.
    records = 100e6 / 4 / 0.5
    assert found.restore_ms == pytest.approx(records * (0.00234 + 150 * 6.6e-6))


def test_a_stated_restore_rate_counts() -> None:
    stores = STORES.replace("}}", "}}\n    restore_rate: 50 MB/s")
    assert plan(("state: 50 GB", stores)).applications[0].restore_ms == pytest.approx(
        100e6 * 150 / 4 / 0.5 / 50e6 * 1000
    )


def test_small_records_take_longer_to_restore() -> None:
    small = STORES.replace("100000000, key: 50 B, value: 100 B", "1000000000, key: 5 B, value: 10 B")
    many, few = (plan(("state: 50 GB", stores)).applications[0].restore_ms for stores in (small, STORES))
    assert many > 5 * few


def test_windowed_stores_have_a_rocksdb_for_each_segment() -> None:
    windowed = STORES.replace("100 B}", "100 B, windowed: yes}")
    more = instance(("state: 50 GB", windowed)).off_heap_bytes - instance(("state: 50 GB", STORES)).off_heap_bytes
    assert more == pytest.approx(2 * 8 * (50 + 48) * MIB, rel=0.01)


def test_a_state_and_stores_contradict_each_other() -> None:
    with pytest.raises(ConfigFileError) as refused:
        plan(("state: 50 GB", f"state: 50 GB\n    {STORES}"))
    assert "both state and stores" in refused.value.why


def test_a_mistake_in_a_store_is_named_with_its_place() -> None:
    with pytest.raises(ConfigFileError) as refused:
        plan(("state: 50 GB", STORES.replace("keys: 100000000", "keys: many")))
    assert "applications.enrich.stores.totals.keys" in refused.value.why


def test_a_missing_standby_is_advised() -> None:
    standby = "enrich: num.standby.replicas"
    assert standby in advised(plan())
    assert standby not in advised(plan(("state: 50 GB", "state: 50 GB\n    standbys: 1")))


def test_a_plan_counts_what_its_transactional_stores_cost() -> None:
    on = ("state: 50 GB", "state: 50 GB\n    transactional_stores: yes")
    without, found = plan(), plan(on)
    one, other = found.applications[0].instance, without.applications[0].instance
    assert one is not None
    assert other is not None
    assert (one.wiped_restore_ms, one.kept_restore_ms) == (other.wiped_restore_ms, other.kept_restore_ms)
    assert without.applications[0].restore_ms == other.wiped_restore_ms
    assert found.applications[0].restore_ms == one.kept_restore_ms < other.wiped_restore_ms
    assert one.memory_bytes == pytest.approx(other.memory_bytes + one.uncommitted_bytes)
    assert one.heap_bytes > other.heap_bytes
    setting = "enrich: enable.transactional.statestores"
    assert setting in advised(without)
    assert setting not in advised(found)


def test_what_if_compares_stores_that_are_wiped_and_kept() -> None:
    key = "applications.enrich.transactional_stores"
    wiped, kept = try_values(f"{key}=no,yes", parse_tree(STREAMS, "w.yaml"), "w.yaml")
    assert (wiped.value, kept.value) == ("no", "yes")
    assert 0 < kept.restore_ms < wiped.restore_ms
    assert kept.heap_bytes > wiped.heap_bytes


def test_transactional_stores_restore_a_memtable_of_each_task() -> None:
    rate = "\n    restore_rate: 50 MB/s"
    one = instance(("state: 50 GB", f"state: 50 GB{rate}"))
    assert one.kept_restore_ms == pytest.approx(8 * 16 * MIB / 50e6 * 1000)
    windowed = instance(("state: 50 GB", STORES.replace("100 B}", "100 B, windowed: yes}") + rate))
    assert windowed.kept_restore_ms == pytest.approx(3 * one.kept_restore_ms)
    assert 0 < one.uncommitted_bytes <= 2 * 64 * MIB


def test_a_small_store_is_restored_as_without_transactions() -> None:
    small = plan(("state: 50 GB", "state: 10 MB")).applications[0]
    assert small.instance is not None
    assert small.instance.kept_restore_ms == small.restore_ms


@pytest.mark.parametrize(("state", "pays"), [("50 GB", True), ("10 MB", False)])
def test_transactional_stores_are_advised_where_they_pay(state: str, pays: bool) -> None:
    reasons = advised(plan(("state: 50 GB", f"state: {state}")))
    assert ("enrich: enable.transactional.statestores" in reasons) is pays


@pytest.mark.parametrize(("limit", "short"), [("instance_memory: 1 GiB", "memory"), ("instance_disk: 10 GB", "disk")])
def test_an_instance_that_is_too_small_is_named(limit: str, short: str) -> None:
    reasons = advised(plan(("state: 50 GB", f"state: 50 GB\n    {limit}")))
    assert f"enrich: {short} of each instance" in reasons


def test_an_instance_that_is_large_enough_is_not_named() -> None:
    enough = "instance_memory: 8 GiB\n    instance_disk: 100 GB"
    assert not [
        name for name in advised(plan(("state: 50 GB", f"state: 50 GB\n    {enough}"))) if "each instance" in name
    ]


def test_a_full_disk_has_cheaper_ways_out_than_brokers() -> None:
    found = plan(("disk: 12 TB", "disk: 8 TB"))
    urgent = [advice.setting for advice in found.advice if "disk space" in advice.reason and advice.urgent]
    assert urgent[0].startswith("retention.ms of ")
    assert urgent[-2:] == ["disk of each broker", "brokers"]
    assert any(name.startswith("local.retention.ms of ") for name in urgent)


def test_the_shorter_retention_that_is_advised_fits() -> None:
    found = plan(("disk: 12 TB", "disk: 8 TB"))
    setting, value = next((a.setting, a.value) for a in found.advice if a.setting.startswith("retention.ms of "))
    topic = setting.removeprefix("retention.ms of ")
    shorter = plan(
        ("disk: 12 TB", "disk: 8 TB"), (f"  {topic}: {{", f"  {topic}: {{retention: {int(value) // 1000} s, ")
    )
    assert shorter.resource("disk space").utilisation == pytest.approx(1, abs=0.02)


def test_the_local_retention_that_is_advised_fits() -> None:
    found = plan(("disk: 12 TB", "disk: 8 TB"))
    setting, value = next((a.setting, a.value) for a in found.advice if a.setting.startswith("local.retention.ms of "))
    topic = setting.removeprefix("local.retention.ms of ")
    tiered = plan(
        ("disk: 12 TB", "disk: 8 TB"), (f"  {topic}: {{", f"  {topic}: {{local_retention: {int(value) // 1000} s, ")
    )
    assert tiered.resource("disk space").utilisation == pytest.approx(1, abs=0.02)


SUB_TOPOLOGIES = """
kind: Workload
name: w
cluster: {brokers: 3}
topics:
  in: {partitions: 60, rate: 3000/s, key: 16 B, value: 100 B}
  regions-repartition: {partitions: 12, rate: 3000/s, key: 4 B, value: 100 B}
  app-regions-changelog: {partitions: 12, rate: 3000/s, key: 4 B, value: 100 B, cleanup: compact, live: 1 GB}
applications:
  app:
    kind: streams
    producers: 6
    instances: 6
    reads: [in, regions-repartition]
    writes: {regions-repartition: auto, app-regions-changelog: 1}
    stores:
      regions: {keys: 1000000, key: 4 B, value: 100 B}
"""


def test_a_store_has_the_tasks_of_its_own_sub_topology() -> None:
    def cached(text: str) -> float:
        (application,) = plan_capacity(parse_workload(text, "w")).applications
        assert application.instance is not None
        return application.instance.off_heap_bytes // MIB

    assert cached(SUB_TOPOLOGIES) == 12 / 6 * 98
    # Without a changelog of its name it may be in the sub-topology with the most tasks.
    assert cached(SUB_TOPOLOGIES.replace("app-regions-changelog", "app-other-changelog")) == 60 / 6 * 98


def test_a_repartition_topic_keeps_what_was_not_read_yet() -> None:
    repartition = plan_capacity(parse_workload(SUB_TOPOLOGIES, "w")).topics[1]
    assert repartition.stored_bytes == pytest.approx(3 * (30 * repartition.written + 12 * 50 * MIB))


def test_tiered_storage_is_advised_only_where_it_exists() -> None:
    found = plan(("disk: 12 TB", "disk: 8 TB, kafka_version: 3.6, transaction_version: 0"))
    assert not [name for name in advised(found) if name.startswith("local.retention.ms")]


def test_tiered_storage_keeps_one_remote_copy_and_little_on_disk() -> None:
    found = plan(("readers: 1, writers: 8", "readers: 1, writers: 8, local_retention: 1 h"))
    orders = found.topics[0]
    assert orders.remote_bytes == pytest.approx(orders.written * 7 * 86_400)
    assert orders.stored_bytes == pytest.approx(3 * (orders.written * 3_600 + 2 * 32 * GIB))
    assert [figure.value for figure in found.figures if figure.formula == "F7"] == [orders.remote_bytes]


def test_the_loss_of_a_zone_is_a_figure_of_clusters_with_zones() -> None:
    def names(found: CapacityPlan) -> list[str]:
        return [figure.formula for figure in found.figures]

    assert "F24b" in names(plan())
    assert "F24b" not in names(plan((", zones: 3", "")))


def test_an_instance_can_keep_its_threads_and_the_restorer_busy() -> None:
    assert instance().cores == 9
    assert instance(("    state: 50 GB\n", "")).cores == 8
