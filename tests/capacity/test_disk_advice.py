"""What a plan recommends for full disks where no single topic is enough, and for intervals that hardly matter."""

from __future__ import annotations

import pytest

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.quantities import parse_bytes
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.capacity_plan import CapacityPlan

TWO_TOPICS = """\
apiVersion: eosctl/v1
kind: Workload
name: two
cluster: {brokers: 3, disk: 500 GB}
topics:
  a: {partitions: 6, rate: 1000/s, value: 1 KB, retention: 10 d}
  b: {partitions: 6, rate: 1000/s, value: 1 KB, retention: 10 d}
applications: {}
"""
LAMBDAS = """\
apiVersion: eosctl/v1
kind: Workload
name: functions
cluster: {brokers: 3, disk: 1 TB, heap: 4 GiB}
topics:
  events: {partitions: 30, rate: 3000/s, key: 16 B, value: 500 B, retention: 3 d}
applications:
  functions: {kind: short-lived, producers: 3000, transactions: 3000/s, writes: {events: 1}}
"""
ALERTS = """\
apiVersion: eosctl/v1
kind: Workload
name: alerts
cluster: {brokers: 3}
topics:
  scored: {partitions: 12, rate: SCORED/s, value: 450 B}
  alerts: {partitions: 12, rate: 50/s, key: 16 B, value: 800 B}
applications:
  job: {kind: flink, producers: 48, commit_interval: 10 s, transaction_timeout: 15 min, writes: {alerts: auto}}
"""


def plan(text: str) -> CapacityPlan:
    return plan_capacity(parse_workload(text, "w.yaml"))


def test_several_topics_are_shortened_where_one_is_not_enough() -> None:
    before = plan(TWO_TOPICS)
    assert before.fits is False
    advice = {one.setting: one.value for one in before.advice}
    assert {"retention.ms of a, b", "local.retention.ms of a, b", "disk of each broker"} <= set(advice)
    kept = [int(text) for text in advice["retention.ms of a, b"].split(", ")]
    text = TWO_TOPICS
    for retention_ms in kept:
        text = text.replace("retention: 10 d", f"retention: {retention_ms} ms", 1)
    assert plan(text).fits
    assert plan(text).resource("disk space").utilisation == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("release", ["3.8", "4.4"])
def test_tiered_storage_and_larger_disks_help_together(release: str) -> None:
    table = "  table: {partitions: 6, rate: 1/s, key: 8 B, value: 1 KB, cleanup: compact, live: 400 GB}\n"
    tiered = TWO_TOPICS.replace("applications", f"{table}applications").replace(
        "disk: 500 GB", "disk: 500 GB, kafka_version: RELEASE"
    )
    text = tiered.replace("RELEASE", f'"{release}", transaction_version: 0')
    before = {one.setting: one.value for one in plan(text).advice}
    if release == "3.8":
        assert list(before) == ["disk of each broker"]
        return
    setting, alone = "local.retention.ms of a, b, disk of each broker", parse_bytes(before["disk of each broker"])
    first, second, disk = before[setting].split(", ")
    assert parse_bytes(disk) < 0.6 * alone
    for local_ms in (first, second):
        text = text.replace("retention: 10 d}", f"retention: 10 d, local_retention: {local_ms} ms}}", 1)
    assert plan(text.replace("disk: 500 GB", f"disk: {parse_bytes(disk) * 1.01} B")).fits
    assert not plan(text).fits


def test_renewed_ids_come_before_shorter_retention() -> None:
    advice = [one for one in plan(LAMBDAS).advice if "disk space" in one.reason]
    assert advice[0].setting == "transactional ids of functions"
    assert "way 1 of 5: __transaction_state stores 1.7" in advice[0].reason


@pytest.mark.parametrize(
    ("scored", "settings"), [(30_000, set()), (50, {"job: execution.checkpointing.interval in ms"})]
)
def test_few_markers_among_many_records_change_no_interval(scored: int, settings: set[str]) -> None:
    found = {one.setting for one in plan(ALERTS.replace("SCORED", str(scored))).advice}
    assert {setting for setting in found if "interval" in setting} == settings


def test_an_interval_is_recommended_below_the_timeout() -> None:
    text = ALERTS.replace("SCORED", "50").replace("10 s, transaction_timeout: 15 min", "1 s, transaction_timeout: 30 s")
    advice = next(one for one in plan(text).advice if "interval" in one.setting)
    assert 1_000 < int(advice.value) <= 10_000


def test_before_4_0_transactions_are_those_of_version_0() -> None:
    workload = parse_workload(TWO_TOPICS.replace("brokers: 3,", 'brokers: 3, kafka_version: "3.9",'), "w.yaml")
    assert workload.cluster.transaction_version == 0
    assert ("cluster.transaction_version", "0") in {(one.path, one.value) for one in workload.assumptions}


@pytest.mark.parametrize(
    ("limits", "stored"),
    [
        ("cleanup: compact, live: 1 TB", 3 * 2 * 1e12),
        ('cleanup: "compact,delete", live: 1 TB, retention: 30 d', 3 * 2 * 1e12),
        ('cleanup: "compact,delete", live: 1 TB, retention: 1 d', 3 * 86_400 * 1e6),
        ('cleanup: "delete, compact", retention: 1 d', 3 * 86_400 * 1e6),
        ("cleanup: delete, retention: 1 d", 3 * 86_400 * 1e6),
    ],
)
def test_compact_and_delete_keeps_the_smaller_of_both(limits: str, stored: float) -> None:
    topic = f"t: {{partitions: 6, rate: 1000/s, value: 1000 B, batch_records: 1000000, {limits}}}"
    text = f"kind: Workload\nname: w\ncluster: {{brokers: 3, segment: 1 MB}}\ntopics: {{{topic}}}\napplications: {{}}\n"
    workload = parse_workload(text, "w.yaml")
    # Records have up to 12 B of their own, and each partition one active segment.
    assert plan_capacity(workload).topics[0].stored_bytes == pytest.approx(stored, rel=0.02)
    listed = {assumption.path: assumption.value for assumption in workload.assumptions}
    assert ("topics.t.live" in listed) == ("compact" in limits and "live" not in limits)
    assert listed.get("topics.t.live", "unknown") == "unknown"
