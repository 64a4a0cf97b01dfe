"""Plans: golden cases through the whole path, what must hold for every workload, and what is refused."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.refusal import WorkloadRefused
from eosctl.capacity.what_if import PARAMETERS, grow, scale_rates, try_values
from eosctl.capacity.workload_file import parse_workload
from eosctl.capacity.workload_schema import APPLICATION_KEYS, CLUSTER_KEYS, TOPIC_KEYS
from eosctl.capacity.workload_tree import find_paths, parse_tree
from eosctl.errors import UsageError
from eosctl.model.capacity_plan import CapacityPlan, Variant
from eosctl.model.workload import Workload
from tests.capacity.workloads import STREAMS

GOLDEN = """\
kind: Workload
name: golden
cluster: {{brokers: 3, replication_factor: 3, transaction_version: 1}}
topics:
  in: {{partitions: 32, rate: 10000/s, value: 1000 B, linger: 100 ms}}
  repartition1: {{partitions: 32, rate: 10000/s, value: 1000 B, linger: 100 ms}}
  {changelog}: {{partitions: 32, rate: 10000/s, value: 100 B, linger: 100 ms}}
applications:
  app:
    kind: streams
    producers: 32
    commit_interval: {interval}
    transaction_timeout: 60 s
    transactional_id: 49 B
    partition_waves: 1
    reads: [in]
    writes: {writes}
"""


FUNCTIONS = """
kind: Workload
name: functions
cluster: {brokers: 3, heap: 6 GiB}
topics: {events: {partitions: 12, rate: 1000/s, key: 10 B, value: 500 B}}
applications: {fn: {kind: short-lived, producers: 20, transactions: 1000/s, writes: {events: 1}}}
"""


def workload(text: str = STREAMS) -> Workload:
    return parse_workload(text, "w.yaml")


def golden(writes: str, interval: str = "100 ms", changelog: str = "c" * 40) -> CapacityPlan:
    return plan_capacity(workload(GOLDEN.format(writes=writes, interval=interval, changelog=changelog)))


def test_golden_case_1() -> None:
    plan = golden("{repartition1: 1}")
    state = plan.topics[-2]
    assert plan.transactions_per_s == pytest.approx(320)
    assert plan.markers_per_s == pytest.approx(640)
    assert state.data_batches_per_s == pytest.approx(1_280)
    assert plan.eos_appends_per_s == pytest.approx(6_720)
    # 0.732 MB/s is published, with 202 B for all three records; the first has not got the offsets topic yet, and 4.x
    # brokers write the previous producer id.
    assert state.written * 3 == pytest.approx(320 * 3 * (177 + 202 + 202 + 157 + 4 * 10))
    assert state.written * 3 == pytest.approx(0.732e6, rel=0.05)


@pytest.mark.parametrize(("interval", "markers"), [("100 ms", 10_880), ("1 s", 1_088), ("10 s", 108.8)])
def test_golden_cases_2_and_3(interval: str, markers: float) -> None:
    plan = golden(f"{{repartition1: 32, {'c' * 40}: 1}}", interval)
    # At 100 ms a transaction has 31 records on average and cannot reach 32 partitions: the published figure is a bound.
    assert plan.markers_per_s == pytest.approx(markers, rel=0.025)
    assert plan.markers_per_s <= markers * 1.000001


def test_keyed_output_reaches_fewer_partitions_than_there_are() -> None:
    touched = golden(f"{{repartition1: auto, {'c' * 40}: 1}}").applications[0].data_partitions
    assert touched == pytest.approx(32 * (1 - (31 / 32) ** 31.25) + 1, rel=1e-3)


def test_chained_applications_wait_for_each_commit() -> None:
    text = STREAMS.replace(
        "applications:\n",
        "applications:\n  next: {kind: consume-process-produce, producers: 4, "
        "commit_interval: 100 ms, reads: [enriched], writes: {final: auto}}\n",
    )
    text = text.replace("topics:\n", "topics:\n  final: {partitions: 4, rate: 10000/s, value: 10 B}\n")
    by_name = {application.name: application for application in plan_capacity(workload(text)).applications}
    assert (by_name["enrich"].stage_count, by_name["next"].stage_count) == (1, 2)
    assert by_name["next"].visible_p99_ms == pytest.approx(186 + 12, abs=1)


def test_a_loop_of_applications_ends() -> None:
    text = STREAMS.replace(
        "applications:\n",
        "applications:\n  back: {kind: consume-process-produce, producers: 4, "
        "commit_interval: 100 ms, reads: [enriched], writes: {orders: auto}}\n",
    )
    assert {a.stage_count for a in plan_capacity(workload(text)).applications} == {2}


def test_circles_of_many_applications_end_soon() -> None:
    names = [f"app{number}" for number in range(30)]
    one = "kind: consume-process-produce, producers: 1, commit_interval: 1 s, reads: [all], writes: {all: auto}"
    text = "kind: Workload\nname: w\ncluster: {brokers: 3}\ntopics: {all: {partitions: 3, rate: 99/s, value: 1 B}}\n"
    text += "applications:\n" + "".join(f"  {name}: {{{one}}}\n" for name in names)
    # Each of them waits for all of them, and for itself once more.
    assert {a.stage_count for a in plan_capacity(workload(text)).applications} == {60}


def test_the_verdict_follows_the_limits() -> None:
    fits, tight = plan_capacity(workload()), plan_capacity(workload(STREAMS.replace("12 TB", "4 TB")))
    assert (fits.fits, fits.bottleneck) == (True, "disk space")
    assert (tight.fits, tight.bottleneck, tight.broker_count_needed) == (False, "disk space", 14)
    needed = plan_capacity(workload(STREAMS.replace("12 TB", "4 TB").replace("brokers: 6", "brokers: 14")))
    fewer = plan_capacity(workload(STREAMS.replace("12 TB", "4 TB").replace("brokers: 6", "brokers: 13")))
    assert (needed.fits, fewer.fits) == (True, False)


def test_without_limits_there_is_no_verdict() -> None:
    plan = golden("{repartition1: 1}")
    assert (plan.bottleneck, plan.fits, plan.broker_count_needed) == ("", None, None)


@given(st.floats(1.01, 50), st.sampled_from(["network in", "network out", "disk write", "disk space"]))
def test_more_load_never_needs_less(factor: float, resource: str) -> None:
    base = workload()
    one, other = plan_capacity(base), plan_capacity(scale_rates(base, factor))
    assert other.resource(resource).used > one.resource(resource).used
    assert other.eos_appends_per_s >= one.eos_appends_per_s * 0.999
    assert (other.broker_count_needed or 10**6) >= (one.broker_count_needed or 0)


@given(st.floats(1, 50))
def test_longer_intervals_cost_less_and_wait_longer(factor: float) -> None:
    base = workload()
    spec = base.applications[0]
    slow = replace(base, applications=(replace(spec, commit_interval_ms=100 * factor),))
    one, other = plan_capacity(base), plan_capacity(slow)
    assert other.eos_appends_per_s <= one.eos_appends_per_s * 1.000001
    assert other.visible_p99_ms >= one.visible_p99_ms


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("brokers: 6", "brokers: 2, zones: 1", "replication_factor 3 needs more than 2 brokers"),
        ("brokers: 6", "brokers: 6, min_insync_replicas: 4", "nothing could be written"),
        ("brokers: 6", "brokers: 6, brokers_lost: 6", "leaves no broker"),
        ("zones: 3", "zones: 7", "7 zones"),
        ("brokers: 6", 'brokers: 6, kafka_version: "3.9", transaction_version: 2', "needs Kafka 4.0"),
        ("commit_interval: 100 ms", "commit_interval: 31 s", "Streams refuses to start"),
        ("transaction_timeout: 30 s", "transaction_timeout: 1 h", "INVALID_TRANSACTION_TIMEOUT"),
        ("commit_interval: 100 ms", "commit_interval: 5 ms", "takes at least 13 ms"),
        ("changelog: 1}", "changelog: 33}", "cannot reach 33 of 32"),
        ("commit_interval: 100 ms", "transactions: 400/s", "too few"),
        ("enriched: {partitions: 32, rate: 10000/s", "enriched: {partitions: 32, rate: 0/s", "whose rate is 0"),
    ],
)
def test_what_cannot_be_is_refused_with_the_arithmetic(old: str, new: str, reason: str) -> None:
    text = STREAMS.replace(old, new).replace("zones: 1, disk", "disk")
    if "zones: 1" in new:
        text = text.replace(", zones: 3", "")
    if "400/s" in new:
        text = text.replace("changelog: 1}", "changelog: 20}")
    with pytest.raises(WorkloadRefused, match=reason) as raised:
        plan_capacity(workload(text))
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "setting"),
    [
        ("transaction_timeout: 30 s", "transaction_timeout: 5 s", "enrich: producer.transaction.timeout.ms"),
        ("brokers: 6", "brokers: 6, min_insync_replicas: 1", "replication.factor / min.insync.replicas"),
        ("brokers: 6", "brokers: 6, brokers_lost: 3", "replication.factor"),
        ("brokers: 6", "brokers: 6, transaction_version: 1", "transaction.version"),
        ("producers: 32", "producers: 40", "enrich: producers"),
        ("live: 50 GB", "live: 5 GB", "segment.bytes of changelog"),
        (r"rate: \d+/s", "rate: 100/s", "enrich: commit.interval.ms"),
        ("heap: 6 GiB", "heap: 100 MiB", "producer.id.expiration.ms"),
        ("12 TB", "1 TB", "disk of each broker"),
        (
            "key: 16 B, value: 1000 B, readers: 1",
            "value: 5 MB, readers: 1",
            "max.message.bytes of orders, max.request.size of its producers",
        ),
        ("10 Gb/s", "100 Mb/s", "brokers"),
        ("brokers: 6", "brokers: 6, network_threads: 1", "num.network.threads"),
    ],
)
def test_advice_comes_when_it_is_needed(old: str, new: str, setting: str) -> None:
    calm = plan_capacity(
        workload(STREAMS.replace("live: 50 GB", "live: 100 GB").replace("state: 50 GB", "state: 5 GB"))
    )
    told = plan_capacity(workload(re.sub(old, new, STREAMS)))
    assert setting not in {advice.setting for advice in calm.advice}
    assert setting in {advice.setting for advice in told.advice}


def test_brokers_are_advised_once_after_what_removes_the_cause() -> None:
    text = (Path(__file__).parents[2] / "docs/capacity/flink.yaml").read_text("utf-8")
    first, *rest = [one for one in plan_capacity(parse_workload(text, "flink.yaml")).advice if one.urgent]
    assert first.value == "POOLING"
    *others, brokers = [one.setting for one in rest]
    assert others == ["producer.id.expiration.ms", "heap of each broker", "num.network.threads"]
    assert brokers == "brokers"
    assert "heap for EOS state" in rest[-1].reason
    assert "network threads" in rest[-1].reason


def test_a_quiet_topic_does_not_fill_its_segments() -> None:
    text = STREAMS.replace("partitions: 32, rate: 5000/s, value: 200 B", "partitions: 32, rate: 1/s, value: 100 B")
    plan = plan_capacity(
        workload(text.replace("live: 50 GB", "live: 1 MB").replace("changelog: 1", "changelog: 0.001"))
    )
    changelog = plan.topics[2]
    assert changelog.stored_bytes == pytest.approx(3 * (2e6 + 7 * 86_400 * changelog.written))
    assert "segment.bytes of changelog" not in {one.setting for one in plan.advice}


def test_a_segment_outlives_a_short_retention() -> None:
    text = STREAMS.replace("readers: 1, writers: 8", "readers: 1, writers: 8, retention: 1 h")
    orders = plan_capacity(workload(text.replace("rate: 10000/s", "rate: 10/s"))).topics[0]
    # A partition's segment ends after a week or at 1 GiB, not after the retention.
    assert orders.stored_bytes == pytest.approx(3 * (3_600 + 7 * 86_400) * orders.written)


def test_many_brokers_are_not_advised_for_full_disks_or_heaps() -> None:
    for found, urgent in (
        (plan_capacity(workload(STREAMS.replace("disk: 12 TB", "disk: 1 TB"))), "disk of each broker"),
        (plan_capacity(workload(FUNCTIONS)), "fn: transactional.id"),
    ):
        assert (found.broker_count_needed or 0) > 20
        settings = [one.setting for one in found.advice]
        assert urgent in settings
        assert "brokers" not in settings


@pytest.mark.parametrize(
    ("setting", "key"),
    [("producer.id.expiration.ms", "producer_id_expiration: {} ms"), ("heap of each broker", "heap: {}")],
)
def test_what_is_advised_for_a_full_heap_is_enough(setting: str, key: str) -> None:
    text = (Path(__file__).parents[2] / "docs/capacity/flink.yaml").read_text("utf-8")
    found = plan_capacity(parse_workload(text, "flink.yaml"))
    value = next(one.value for one in found.advice if one.setting == setting)
    remedied = text.replace("heap: 6 GiB", key.format(value) + ("" if "heap" in key else ", heap: 6 GiB"))
    assert 0.2 < (plan_capacity(parse_workload(remedied, "w")).resource("heap for EOS state").utilisation or 0) <= 1


def test_a_full_disk_next_to_another_limit_advises_brokers_once() -> None:
    text = STREAMS.replace("disk: 12 TB", "disk: 1 TB").replace("network: 10 Gb/s", "network: 100 Mb/s")
    advice = plan_capacity(workload(text)).advice
    (brokers,) = [one for one in advice if one.setting == "brokers"]
    assert "disk space" in brokers.reason
    assert "network out" in brokers.reason


def asked(text: str, file: str = STREAMS) -> tuple[Variant, ...]:
    return try_values(text, parse_tree(file, "w.yaml"), "w.yaml")


def test_what_if_plans_each_value_and_says_what_is_impossible() -> None:
    now, slower, impossible = asked("commit.interval.ms=100,1s,5")
    assert now.eos_appends_per_s == plan_capacity(workload()).eos_appends_per_s
    assert slower.transactions_per_s == pytest.approx(now.transactions_per_s / 10, rel=0.01)
    assert "F15" in impossible.refusal


def test_what_if_of_a_key_is_the_plan_of_a_file_with_it() -> None:
    (variant,) = asked("topics.enriched.readers=9")
    plan = plan_capacity(workload(STREAMS.replace("value: 1000 B, readers: 2", "value: 1000 B, readers: 9")))
    assert variant.network_out == plan.resource("network out").used_after_loss
    assert asked("topics.1.readers=9")[0].network_out == variant.network_out


def test_what_if_states_a_key_that_the_file_assumes() -> None:
    without, with_it = asked("topics.enriched.compression=1,4")
    assert with_it.disk_bytes < without.disk_bytes


def test_what_if_leaves_what_shares_an_alias_as_it_is() -> None:
    topics = "orders: &same {partitions: 32, rate: 10000/s, key: 16 B, value: 1000 B}\n  enriched: *same"
    file = re.sub(r"orders: \{.*\n  enriched: .*", topics, STREAMS)
    twice = file.replace("enriched: *same", "enriched: {partitions: 32, rate: 10000/s, key: 16 B, value: 2000 B}")
    assert asked("topics.enriched.value=2000 B", file)[0].disk_bytes == asked("brokers_lost=1", twice)[0].disk_bytes


def test_what_if_finds_topics_with_dots_in_their_names() -> None:
    (dotted,) = asked("topics.enriched.v1.readers=9", STREAMS.replace("enriched", "enriched.v1"))
    (plain,) = asked("topics.enriched.readers=9")
    assert dotted.network_out == pytest.approx(plain.network_out, rel=1e-3)


def test_what_if_of_a_contradiction_carries_its_place() -> None:
    (variant,) = asked("cluster.replication_factor=9")
    assert "w.yaml:4:" in variant.refusal


def test_every_key_of_a_file_can_be_asked_for() -> None:
    paths = find_paths(parse_tree(STREAMS, "w.yaml"))
    for section, keys in (
        ("cluster", CLUSTER_KEYS),
        ("topics.orders", TOPIC_KEYS),
        ("applications.enrich", APPLICATION_KEYS),
    ):
        assert {f"{section}.{key}" for key in keys} <= set(paths)
    assert "applications.0.writes.enriched" in paths


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("topics.orders.rates=5/s", "topics.orders.rate"),
        ("clustr.brokers=3", "cluster.brokers"),
        ("applications.0.standby=1", "applications.0.standbys"),
    ],
)
def test_an_unknown_key_names_close_ones(text: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        asked(text)
    assert expected in caught.value.next_step


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("topics.orders.rate=5000", "topics.orders.rate: '5000' has no unit"),
        ("cluster.transaction_version=3", "there are 0, 1 and 2"),
        ("applications.enrich.transactions=5/s", "both commit_interval and transactions"),
        ("applications.enrich.naming=pooling", "an application of kind streams has no such setting"),
    ],
)
def test_a_wrong_value_has_the_message_of_the_file(text: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        asked(text)
    assert expected in caught.value.why


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_changes_the_workload(name: str) -> None:
    text = {"compression": "3", "transaction.version": "0", "rate": "1.5", "brokers": "9"}.get(name, "2")
    base = workload(STREAMS.replace("brokers: 6", "brokers: 6, brokers_lost: 0"))
    assert PARAMETERS[name].apply(base, PARAMETERS[name].parse(text)) != base


@pytest.mark.parametrize("text", ["commit.interval=1", "rate", "rate=", "brokers=x", "producers=0"])
def test_what_if_that_is_none_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        asked(text)


def test_growth_compounds_and_ends_at_the_date() -> None:
    points = grow(workload(), date(2026, 1, 1), date(2028, 1, 1))
    assert (points[0].factor, points[-1].date) == (1.0, "2028-01-01")
    assert points[-1].factor == pytest.approx(1.69, abs=0.01)
    with pytest.raises(UsageError):
        grow(workload(), date(2026, 1, 1), date(2026, 1, 1))
    with pytest.raises(UsageError, match="too far"):
        grow(workload(), date(2026, 1, 1), date.max)


def test_streams_starts_with_an_interval_equal_to_the_timeout() -> None:
    plan = plan_capacity(parse_workload(STREAMS.replace("interval: 100 ms", "interval: 30 s"), "w.yaml"))
    (advice,) = [advice for advice in plan.advice if advice.setting == "enrich: producer.transaction.timeout.ms"]
    assert advice.urgent


@pytest.mark.parametrize(
    ("reads", "kind", "producers", "expected"),
    [
        ("[orders, enriched]", "streams", 64, ""),
        ("[orders, enriched]", "streams", 65, "65 producers share 64 tasks"),
        ("[orders]", "streams", 33, "33 producers share 32 tasks"),
        ("[orders, changelog]", "consume-process-produce", 33, "33 producers share 32 partitions"),
    ],
)
def test_threads_are_compared_with_tasks_of_all_subtopologies(
    reads: str, kind: str, producers: int, expected: str
) -> None:
    text = STREAMS.replace("reads: [orders]", f"reads: {reads}").replace("kind: streams", f"kind: {kind}")
    text = text.replace("producers: 32", f"producers: {producers}")
    if kind != "streams":
        text = text.replace("    state: 50 GB\n", "")
    advice = [one.reason for one in plan_capacity(parse_workload(text, "w.yaml")).advice if "share" in one.reason]
    assert [one.startswith(expected) for one in advice] == ([True] if expected else [])
