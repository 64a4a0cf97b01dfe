"""The worked examples of docs/capacity.md: every figure follows from its file, and from its arithmetic."""

from __future__ import annotations

from math import exp

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_plan import CapacityPlan, Unit
from eosctl.render.capacity.figure_text import figure_text
from tests.capacity.workloads import ROOT

PAGE = (ROOT / "docs" / "capacity.md").read_text()
EPOCHS, DAY_S = 32_766, 86_400


def plan_of(name: str, *change: str) -> CapacityPlan:
    text = (ROOT / "docs" / "capacity" / f"{name}.yaml").read_text()
    if change:
        assert change[0] in text
        text = text.replace(*change)
    return plan_capacity(parse_workload(text, name))


def values(plan: CapacityPlan) -> dict[str, float]:
    return {figure.title: figure.value for figure in list_figures(plan) if figure.value is not None}


def section(heading: str) -> str:
    _, _, rest = PAGE.partition(f"\n### {heading}")
    assert rest, heading
    return rest.partition("\n### ")[0].partition("\n## ")[0]


FLINK, STREAMS, CONNECT = "A Flink sink of 64 subtasks", "Kafka Streams with 100 threads", "A source connector"
SMALL, KIP_447, KIP_890 = "500 small producers", "KIP-447", "KIP-890"
SHOWN = [
    (FLINK, "flink", "producer states, all replicas"),
    (STREAMS, "streams-100-threads", "transactions"),
    (STREAMS, "streams-100-threads", "markers"),
    (STREAMS, "streams-100-threads", "an instance of clicks: tasks"),
    (CONNECT, "connect", "transactions"),
    (CONNECT, "connect", "markers"),
    (CONNECT, "connect", "producer states, all replicas"),
    (SMALL, "500-producers", "transactions"),
    (SMALL, "500-producers", "services: data partitions"),
    (SMALL, "500-producers", "markers"),
    (SMALL, "500-producers", "__transaction_state appends, one copy"),
    (SMALL, "500-producers", "producer states, all replicas"),
    *(
        (KIP_447, name, figure)
        for name in ("kip-447-per-partition", "kip-447-per-thread")
        for figure in (
            "transactions",
            "relay: data partitions",
            "markers",
            "__transaction_state appends, one copy",
            "producer states, all replicas",
            "requests to all brokers",
            "brokers needed",
        )
    ),
    *(
        (KIP_890, name, figure)
        for name in ("kip-890-tv1", "kip-890-tv2")
        for figure in (
            "producer states, all replicas",
            "markers",
            "__transaction_state appends, one copy",
            "__transaction_state bytes, one copy",
            "requests to all brokers",
        )
    ),
]


@pytest.mark.parametrize(("heading", "name", "figure"), SHOWN)
def test_the_page_has_the_figure_of_the_plan(heading: str, name: str, figure: str) -> None:
    plan = plan_of(name)
    (found,) = (one for one in list_figures(plan) if one.title == figure)
    assert found.value is not None
    text = figure_text(found.value, found.unit)
    cells = {cell.strip() for line in section(heading).splitlines() if line.startswith("|") for cell in line.split("|")}
    assert text in cells or any(f" {text}," in f" {cell}" or f" {text} on" in cell for cell in cells), text


def test_the_text_of_streams_has_the_figures_of_its_plan() -> None:
    text, plan = section("10,000 messages a second through"), plan_of("streams")
    reached = 32 * (1 - (31 / 32) ** 31.25)
    assert plan.markers_per_s == pytest.approx(320 * (2 * reached + 1 + 1), rel=1e-3)
    slower = plan_of("streams", "commit_interval: 100 ms", "commit_interval: 1 s")
    half_a_second = plan_of("streams", "commit_interval: 100 ms", "commit_interval: 500 ms")
    for figure in (
        f"{plan.markers_per_s:,.0f} markers/s",
        percent(plan.eos_append_share),
        f"{reached:.1f}\npartitions",
    ):
        assert figure in text
    assert f"makes them {percent(slower.eos_append_share)}" in text
    assert half_a_second.eos_appends_per_s == pytest.approx(plan.eos_appends_per_s / 3, rel=0.03)
    assert half_a_second.visible_p99_ms == pytest.approx(900, rel=0.05)


def test_the_text_of_the_pipeline_has_the_figures_of_its_plan() -> None:
    text, plan = section("100,000 messages a second"), plan_of("pipeline")
    (application,) = plan.applications
    log = application.transaction_log_appends_per_s * 3
    assert text.count(f"{percent(plan.eos_append_share)} of all appends") == 2
    assert f"{100_000 / 48:,.0f} records" in text
    assert f"{application.data_partitions:.2f} partitions" in text
    assert f"{application.partition_waves:.1f} requests" in text
    assert log / plan.eos_appends_per_s == pytest.approx(0.5, abs=0.03)


def test_the_text_of_small_producers_has_the_figures_of_its_plan() -> None:
    text, plan = section("2,000 small producers"), plan_of("small-producers")
    audit = next(topic for topic in plan.topics if topic.name == "audit")
    slower = plan_of("small-producers", "transactions: 4000/s", "commit_interval: 5 s")
    assert f"{percent(audit.markers_per_s * 78 / audit.written)} of its bytes" in text
    assert plan.eos_append_share == pytest.approx(0.75)
    assert plan.bottleneck == "disk space"
    assert slower.eos_appends_per_s == pytest.approx(plan.eos_appends_per_s / 10, rel=0.01)


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def test_flink_follows_its_arithmetic_on_both_strategies() -> None:
    incrementing = values(plan_of("flink"))
    assert incrementing["producer states, all replicas"] == 64 * 1_440 * 64 * 3 == 17_694_720
    assert incrementing["payments-job: transactional ids"] == 64 * 1_440 * 7 + 128
    pooling = values(plan_of("flink", "naming: incrementing", "naming: pooling"))
    assert pooling["payments-job: transactional ids"] == 128
    assert round(pooling["producer states, all replicas"]) == 25_116
    for figure in ("17,694,720", "645,248", "25,116", "2.67 GB", "3.8 MB"):
        assert figure in section(FLINK)
    assert incrementing["heap for producer states, at most"] / 3 == pytest.approx(2.67e9, rel=0.002)
    assert pooling["heap for producer states, at most"] / 3 == pytest.approx(3.8e6, rel=0.005)


def test_streams_follows_its_arithmetic() -> None:
    found = values(plan_of("streams-100-threads"))
    reached = 100 * (1 - 0.99**50)
    assert found["transactions"] == pytest.approx(1_000)
    assert found["markers"] == pytest.approx(1_000 * (reached + 1 + 1 + 1), rel=1e-3)
    assert found["an instance of clicks: heap"] == (512 + 10 + 10 * 82) * 2**20
    assert found["an instance of clicks: RocksDB memory"] == pytest.approx(
        100 * 2 / 10 * 98 * 2**20 + 200e6 * 84 * 1.3 / 10 * 2 * (0.0055 + 1.25 / 76)
    )
    assert found["an instance of clicks: disk"] == pytest.approx(200e6 * 84 * 1.3 / 10 * 2 * 2)
    for figure in ("1.41 GB", "2.15 GB", "8.74 GB", "39.5 + 1 + 1"):
        assert figure in section(STREAMS)


def test_connect_follows_its_arithmetic() -> None:
    found = values(plan_of("connect"))
    assert found["markers"] == 80 * (3 + 1)
    ids = 2 * DAY_S / EPOCHS + 1
    assert found["producer states, all replicas"] == pytest.approx(40 * (120 + 25) * 3 * ids, rel=1e-3)


def test_500_producers_follow_their_arithmetic() -> None:
    found = values(plan_of("500-producers"))
    transactions = 500 * (1 - exp(-5))
    partitions = 24 * (1 - (23 / 24) ** (2_500 / transactions))
    assert found["transactions"] == pytest.approx(transactions)
    assert found["markers"] == pytest.approx(transactions * partitions, rel=1e-3)
    ids = transactions / 500 * DAY_S / EPOCHS + 1
    assert found["producer states, all replicas"] == pytest.approx(500 * 24 * 3 * ids, rel=1e-3)
    assert f"{plan_of('500-producers').eos_append_share:.0%}" == "69%"


def test_kip_447_follows_its_arithmetic() -> None:
    for name, producers in (("kip-447-per-partition", 1_000), ("kip-447-per-thread", 40)):
        plan = plan_of(name)
        found = values(plan)
        rate = producers * 10 * (1 - exp(-20_000 / producers / 10))
        assert found["transactions"] == pytest.approx(rate)
        assert found["producer states, all replicas"] == (producers * (100 + 1) + 20 * 1_000) * 3
        (application,) = plan.applications
        assert found["markers"] == pytest.approx(rate * (application.data_partitions + 1))
        appends = rate * (application.partition_waves + 3)
        assert found["__transaction_state appends, one copy"] == pytest.approx(appends)
        assert f"{application.partition_waves:.3g}" in section(KIP_447)


def test_kip_890_follows_its_arithmetic() -> None:
    for name, ids in (("kip-890-tv1", 1), ("kip-890-tv2", 10 * DAY_S / EPOCHS + 1)):
        plan = plan_of(name)
        found = values(plan)
        assert found["producer states, all replicas"] == pytest.approx(20 * 12 * 3 * ids, rel=1e-3)
        assert found["markers"] == pytest.approx(800, rel=1e-3)
        assert f"{plan.applications[0].partition_waves:.3g}" in section(KIP_890)
        heap = figure_text(found["heap for producer states, at most"], Unit.BYTES)
        assert heap.partition(" (")[0] in section(KIP_890)
