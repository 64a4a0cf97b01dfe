"""Transactions of Kafka Streams reach the topics that the tasks of their thread write, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.sub_topologies import spread_tasks
from eosctl.capacity.workload_file import parse_workload
from eosctl.errors import ConfigFileError
from eosctl.model.capacity_plan import CapacityPlan
from tests.capacity.workloads import schema_errors
from tests.commands.conftest import eosctl

WRITTEN_BY = "    written_by: {x-store-changelog: x-repartition, out: x-repartition}\n"
TWO = """\
kind: Workload
name: two
cluster: {brokers: 6}
topics:
  in: {partitions: 32, rate: 10000/s, key: 16 B, value: 300 B, writers: 4}
  x-repartition: {partitions: 32, rate: 10000/s, key: 16 B, value: 300 B}
  x-store-changelog: {partitions: 32, rate: 10000/s, key: 16 B, value: 60 B, cleanup: compact, live: 10 GB}
  out: {partitions: 32, rate: 10000/s, key: 16 B, value: 60 B}
applications:
  x:
    kind: streams
    producers: 64
    commit_interval: 100 ms
    reads: [in, x-repartition]
    writes: {x-repartition: auto, x-store-changelog: auto, out: 1}
"""
#: 31.25 records with random keys reach as many of 32 partitions.
SPREAD = 32 * (1 - (31 / 32) ** 31.25)


def plan_of(text: str) -> CapacityPlan:
    return plan_capacity(parse_workload(text, "two.yaml"))


def markers(plan: CapacityPlan) -> dict[str, float]:
    return {topic.name: topic.markers_per_s for topic in plan.topics}


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(1, 200))
def test_tasks_are_spread_evenly_over_threads(counts: Sequence[int], threads: int) -> None:
    groups = spread_tasks(counts, threads)
    busy = min(threads, sum(counts))
    assert sum(group.thread_count for group in groups) == busy
    for at, count in enumerate(counts):
        assert sum(group.thread_count * group.tasks[at] for group in groups) == count
        assert all(count // busy <= group.tasks[at] <= ceil(count / busy) for group in groups)
    totals = {sum(group.tasks) for group in groups}
    assert totals <= {sum(counts) // busy, ceil(sum(counts) / busy)}


def test_a_thread_with_one_task_writes_the_topics_of_that() -> None:
    plan = plan_of(TWO + WRITTEN_BY)
    assert plan.transactions_per_s == pytest.approx(640)
    found = markers(plan)
    assert found["x-repartition"] == pytest.approx(320 * SPREAD)
    assert (found["x-store-changelog"], found["out"]) == (pytest.approx(320), pytest.approx(320))
    assert found["__consumer_offsets"] == pytest.approx(640)
    assert plan.markers_per_s == pytest.approx(320 * SPREAD + 320 + 320 + 640)


def test_a_thread_with_a_task_of_each_reaches_all() -> None:
    plan = plan_of((TWO + WRITTEN_BY).replace("producers: 64", "producers: 32"))
    assert plan.markers_per_s == pytest.approx(320 * (SPREAD + 1 + 1 + 1))


def test_a_sub_topology_with_little_input_commits_seldom() -> None:
    text = TWO + WRITTEN_BY
    plan = plan_of(
        text.replace("x-repartition: {partitions: 32, rate: 10000/s", "x-repartition: {partitions: 32, rate: 32/s")
    )
    # Each of 32 threads reads one record a second, at random times.
    assert plan.transactions_per_s == pytest.approx(320 + 32, rel=0.06)


def test_sub_topologies_are_planned_like_applications() -> None:
    apart = """\
  x:
    kind: streams
    producers: 32
    commit_interval: 100 ms
    reads: [in]
    writes: {x-repartition: auto}
  y:
    kind: streams
    producers: 32
    commit_interval: 100 ms
    reads: [x-repartition]
    writes: {x-store-changelog: auto, out: 1}
"""
    together, separate = plan_of(TWO + WRITTEN_BY), plan_of(TWO.partition("  x:\n")[0] + apart)
    assert markers(together) == pytest.approx(markers(separate))
    assert together.eos_appends_per_s == pytest.approx(separate.eos_appends_per_s)
    log = [next(t.written for t in plan.topics if t.name == "__transaction_state") for plan in (together, separate)]
    assert log[0] == pytest.approx(log[1])
    entries = [sum(one.producer_entries for one in plan.applications) for plan in (together, separate)]
    assert entries[0] == pytest.approx(entries[1])


def test_unstated_writers_give_a_range_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    (report,) = eosctl("capacity", "plan", path, "-o", "json").json["items"]
    found = {one["title"]: one for one in report["ranges"]["figures"]}["markers"]
    assert found["low"] == pytest.approx(320 * SPREAD + 320 + 320 + 640)
    assert found["high"] == found["likely"] == pytest.approx(320 * SPREAD + 320 + 640 + 640)
    assert found["grade"] == "assumed"
    assert report["ranges"]["inputs"][0]["parameter"] == "applications.x.written_by"
    why = {one["path"]: one["why"] for one in report["plan"]["assumptions"]}["applications.x.written_by"]
    assert why.startswith("which sub-topology writes x-store-changelog, out is not stated")
    path.write_text(TWO + WRITTEN_BY)
    (report,) = eosctl("capacity", "plan", path, "-o", "json").json["items"]
    assert report["ranges"] is None
    assert "applications.x.written_by" not in {one["path"] for one in report["plan"]["assumptions"]}


def test_a_changelog_named_like_a_repartition_topic_is_found() -> None:
    """As the store of an aggregation has (``KSTREAM-AGGREGATE-STATE-STORE-0000000004``)."""
    named = TWO.replace("x-store-changelog", "x-changelog") + "    written_by: {out: x-repartition}\n"
    stated = TWO + WRITTEN_BY
    assert plan_of(named).eos_appends_per_s == pytest.approx(plan_of(stated).eos_appends_per_s)


def test_writers_do_not_matter_where_each_thread_has_all_tasks(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO.replace("producers: 64", "producers: 32"))
    (report,) = eosctl("capacity", "plan", path, "-o", "json").json["items"]
    assert report["ranges"] is None


def test_a_range_and_unstated_writers_are_combined(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(
        TWO.replace(
            "in: {partitions: 32, rate: 10000/s", "in: {partitions: 32, rate: {low: 1/s, likely: 2/s, high: 3/s}"
        )
    )
    (report,) = eosctl("capacity", "plan", path, "-o", "json").json["items"]
    assert [one["parameter"] for one in report["ranges"]["inputs"]] == ["topics.in.rate", "applications.x.written_by"]
    assert {name for name, _ in report["ranges"]["sized_by"]} == {"topics.in.rate", "applications.x.written_by"}


def test_what_if_takes_other_writers(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    asked = ("--what-if", "applications.x.written_by.out=in,x-repartition", "-o", "json")
    (report,) = eosctl("capacity", "plan", path, *asked).json["items"]
    least = 320 * SPREAD + 320 + 320 + 640
    assert [one["markers_per_s"] for one in report["what_if"]] == [pytest.approx(least), pytest.approx(least)]


HOPS = """\
kind: Workload
name: hops
cluster: {brokers: 3, client_round_trip: 0 ms, replication_round_trip: 0 ms}
topics:
  in: {partitions: 8, rate: 1000/s, value: 1 kB}
  a-repartition: {partitions: 8, rate: 1000/s, key: 8 B, value: 1 kB}
  b-repartition: {partitions: 8, rate: 1000/s, key: 8 B, value: 1 kB}
  out: {partitions: 8, rate: 1000/s, key: 8 B, value: 1 kB}
applications:
  x:
    kind: streams
    producers: 8
    commit_interval: 100 ms
    reads: [in, a-repartition, b-repartition]
    writes: {a-repartition: auto, b-repartition: auto, out: 1}
    written_by: {a-repartition: in, b-repartition: BEFORE_B, out: b-repartition}
"""


@pytest.mark.parametrize(("before", "commits"), [("a-repartition", 3), ("in", 2), ("[in, a-repartition]", 3)])
def test_a_record_waits_for_a_commit_at_each_hop(before: str, commits: int) -> None:
    (application,) = plan_of(HOPS.replace("BEFORE_B", before)).applications
    assert application.stage_count == commits


def test_a_join_by_a_foreign_key_waits_for_three_commits() -> None:
    registered, answered = "x-SUBSCRIPTION-REGISTRATION-0-topic", "x-SUBSCRIPTION-RESPONSE-0-topic"
    text = HOPS.replace("a-repartition", registered).replace("b-repartition", answered)
    text = text.replace("  out:", "  shops: {partitions: 8, rate: 1/s, value: 1 kB}\n  out:")
    text = text.replace(f"[in, {registered}, {answered}]", f"[[in, {answered}], [shops, {registered}]]")
    text = text.replace("BEFORE_B", "shops").replace(f"out: {answered}", "out: in")
    (application,) = plan_of(text).applications
    assert (application.stage_count, application.task_count) == (3, 16)


@pytest.mark.parametrize(
    ("written_by", "reason"),
    [
        ("{outs: in}", "'outs' is none of the topics of writes; did you mean out?"),
        ("{out: inn}", "'inn' is none of the topics of reads; did you mean in?"),
        ("{out: [in, out]}", "'out' is none of the topics of reads"),
        ("{out: []}", "written_by.out is empty"),
        ("{}", "written_by is empty"),
        ("out", "written_by is not a mapping"),
        ("{out: in, out: in}", "written_by has out twice"),
        ("{out: {low: in}}", "a single value is expected here"),
        ("{x-store-changelog: [in, x-repartition]}", "is written by one sub-topology: that of its store"),
    ],
)
def test_writers_that_make_no_sense_are_refused(written_by: str, reason: str) -> None:
    with pytest.raises(ConfigFileError) as raised:
        plan_of(f"{TWO}    written_by: {written_by}\n")
    assert reason in str(raised.value)


def test_a_changelog_has_a_partition_for_each_task() -> None:
    text = TWO.replace("in: {partitions: 32", "in: {partitions: 16")
    with pytest.raises(ConfigFileError, match="x-store-changelog has 32, and the sub-topology of in has 16 tasks"):
        plan_of(f"{text}    written_by: {{x-store-changelog: in}}\n")


def test_only_streams_have_sub_topologies() -> None:
    text = (TWO + WRITTEN_BY).replace("kind: streams", "kind: consume-process-produce")
    with pytest.raises(ConfigFileError, match="written_by: an application of kind consume-process-produce"):
        plan_of(text)
    assert schema_errors(TWO + WRITTEN_BY) == []
    assert schema_errors(text) != []
