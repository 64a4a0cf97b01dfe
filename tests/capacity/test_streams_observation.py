"""Kafka Streams applications through their beans: what they show, and what stays marked as not observed."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase

import msgspec
import pytest

from eosctl.capacity.observed_sub_topologies import observe_inputs
from eosctl.capacity.partial_workload import PartialWorkload, merge, read_partial, write_partial
from eosctl.capacity.streams_observation import observe_streams
from eosctl.capacity.workload_file import parse_workload
from eosctl.collect.metrics.beans import bean_sample
from eosctl.collect.metrics.jmx import _samples
from eosctl.collect.metrics.streams_counters import QUERIES, resolve_streams
from eosctl.errors import EosctlError
from eosctl.model.metric_page import MetricSample
from eosctl.model.streams_reading import Carried, StoreReading, StreamsReading, TaskTopics
from eosctl.model.transaction import TopicPartition
from eosctl.model.workload import ApplicationKind
from eosctl.settings.clusters.endpoint_credentials import NO_CREDENTIALS
from tests.capacity.workloads import ROOT
from tests.commands.conftest import eosctl

PROCESS = "6f1c1f6e-8a3b-4c1d-9e2f-0123456789ab"
CLIENT = f"totals-{PROCESS}"
TASKS = ("0_0", "0_1")
CLUSTER = read_partial("cluster: {brokers: 3}\ntopics: {counts: {partitions: 4}}\napplications: {}\n", "a description")


def beans(*, records: float, commits: float, transactional: bool = True) -> list[MetricSample]:
    """Return what JMX has of one instance with two threads; counters grow with both numbers."""
    found = []

    def add(name: str, **attributes: float) -> None:
        for attribute, value in attributes.items():
            sample = bean_sample(name, attribute.replace("_", "-"), value)
            assert sample is not None
            found.append(sample)

    for number, task in enumerate(TASKS, 1):
        thread = f"{CLIENT}-StreamThread-{number}"
        add(f"kafka.streams:type=stream-thread-metrics,thread-id={thread}", commit_total=commits)
        place = f"thread-id={thread},task-id={task}"
        add(f"kafka.streams:type=stream-task-metrics,{place}", process_total=records)
        store = f"kafka.streams:type=stream-state-metrics,{place},rocksdb-state-id=seen"
        add(store, estimate_num_keys=500.0, total_sst_files_size=40_000.0, put_rate=1.0)
        add(f"kafka.streams:type=stream-state-metrics,{place},in-memory-state-id=last", put_rate=1.0)
        reader = f"kafka.consumer:type=consumer-fetch-manager-metrics,client-id={thread}-consumer,topic=lines"
        add(reader, records_consumed_total=records, bytes_consumed_total=records * 106)
        add(f"{reader},partition={number}", records_lag=0.0)
        restorer = f"kafka.consumer:type=consumer-fetch-manager-metrics,client-id={thread}-restore-consumer,topic=old"
        add(restorer, records_consumed_total=records, bytes_consumed_total=records * 100)
        writer = f"client-id={thread}-producer"
        add(f"kafka.producer:type=producer-metrics,{writer}", txn_commit_time_ns_total=commits * 9e6 * transactional)
        for topic in ("counts", "totals-seen-changelog"):
            sent = f"kafka.producer:type=producer-topic-metrics,{writer},topic={topic}"
            add(sent, record_send_total=records * 2, byte_total=records * 120)
    return found


def reading(at_s: float, **counters: float) -> StreamsReading:
    return resolve_streams("jmx://app:9999", round(at_s * 1000), beans(**counters))  # type: ignore[arg-type]


def observed() -> PartialWorkload:
    return observe_streams([reading(0, records=100, commits=10)], [reading(10, records=600, commits=60)])


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1"])
def test_both_releases_have_every_bean_that_is_read(release: str) -> None:
    table = (ROOT / "tests" / "fixtures" / "capacity" / "jmx" / f"{release}-streams.tsv").read_text()
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    for query in QUERIES:
        for attribute in query.attributes:
            assert any(fnmatchcase(bean, query.pattern) and attribute == name for bean, name in rows), attribute


def test_an_instance_shows_threads_commits_topics_and_stores() -> None:
    found = reading(0, records=100, commits=10)
    assert len(found.threads) == 2
    assert (found.commit_count, found.tasks) == (20, frozenset(TASKS))
    assert found.consumed == {"lines": Carried(200, 21_200)}
    assert found.assigned == {TopicPartition("lines", 1), TopicPartition("lines", 2)}
    assert found.sent["counts"] == Carried(400, 24_000)
    assert StoreReading("seen", "0_1", 500, 40_000) in found.stores
    assert StoreReading("last", "0_0") in found.stores


def test_the_workload_has_the_rates_of_the_interval() -> None:
    found = observed()
    application = {key: given.text for key, given in found.applications["totals"].items()}
    assert application == {
        "kind": "streams",
        "producers": "2",
        "instances": "1",
        "transactions": "10/s",
        "reads": '["lines"]',
        "writes": '{"counts": "auto", "totals-seen-changelog": "auto"}',
        "transactional_id": f"{len(CLIENT) + 2} B",
        "state": "80000 B",
    }
    topics = {name: {key: given.text for key, given in section.items()} for name, section in found.topics.items()}
    assert topics["lines"] == {"rate": "100/s", "value": "97 B", "partitions": "2"}
    changelog = topics["totals-seen-changelog"]
    assert (changelog["partitions"], changelog["cleanup"], changelog["live"]) == ("2", "compact", "80000 B")
    assert "partitions" not in topics["counts"]
    assert "old" not in topics
    assert "totals: stores without files are not part of state: last." in found.remarks


def task_topics(*tasks: str) -> tuple[TaskTopics, ...]:
    """Return the topics of tasks, each written as `ID:READ,..>WRITTEN,..`."""
    found = []
    for text in tasks:
        task, _, topics = text.partition(":")
        read, _, written = topics.partition(">")
        found.append(
            TaskTopics(task, frozenset(filter(None, read.split(","))), frozenset(filter(None, written.split(","))))
        )
    return tuple(found)


@pytest.mark.parametrize(
    ("tasks", "reads", "written_by"),
    [
        # Two sub-topologies; the changelog belongs to the second, which has the store.
        (
            ("0_0:lines>re", "0_1:lines>", "1_0:re>counts"),
            (("lines",), ("re",)),
            {"re": ("lines",), "counts": ("re",), "w-seen-changelog": ("re",)},
        ),
        # One sub-topology that joins two topics: there is one writer.
        (("1_0:lines,re>counts",), (("lines", "re"),), {}),
        # A release without these metrics.
        ((), (("lines",), ("re",)), {}),
        # Both write one topic, and what neither counted has no writer. A named topology.
        (
            ("a__0_0:lines>counts", "a__1_0:re>counts"),
            (("lines",), ("re",)),
            {"counts": ("lines", "re")},
        ),
    ],
)
def test_tasks_show_which_sub_topology_writes(
    tasks: tuple[str, ...], reads: tuple[tuple[str, ...], ...], written_by: dict[str, tuple[str, ...]]
) -> None:
    whole = reading(0, records=1, commits=1)
    one = msgspec.structs.replace(whole, task_topics=task_topics(*tasks), stores=(StoreReading("seen", "1_0"),))
    found = observe_inputs("w", [one], ("lines", "re"), ("re", "counts", "w-seen-changelog"))
    assert (found.reads, found.written_by) == (reads, written_by)


def test_stores_without_files_yet_are_named() -> None:
    before, after = reading(0, records=1, commits=1), reading(10, records=2, commits=2)
    empty = msgspec.structs.replace(after, stores=(StoreReading("seen", "0_0", 5, 0.0),))
    part = observe_streams([before], [empty])
    assert "totals: stores that have no files yet are not part of state: seen." in part.remarks
    assert "state" not in part.applications["totals"]
    marked = [line for line in write_partial("w", part).splitlines() if line.lstrip().startswith("# live:")]
    assert ["needed" in line for line in marked] == [False, False, True]


def test_with_a_description_it_is_a_plan() -> None:
    text = write_partial("w", merge([observed(), CLUSTER]))
    workload = parse_workload(text, "w.yaml")
    (application,) = workload.applications
    assert application.kind is ApplicationKind.STREAMS
    assert application.transactions_per_s == 10
    assert "# transaction_timeout: 60 s" in text
    assert "not observed, assumed" in text


def test_a_standby_does_not_count_twice() -> None:
    before, after = reading(0, records=1, commits=1), reading(10, records=2, commits=2)
    found = observe_streams([before, before], [after, after]).applications["totals"]
    assert (found["state"].text, found["instances"].text, found["producers"].text) == ("80000 B", "2", "4")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"records": 1, "commits": 5}, {"records": 9, "commits": 5}, "committed nothing"),
        (
            {"records": 1, "commits": 5, "transactional": False},
            {"records": 9, "commits": 9, "transactional": False},
            "not exactly_once_v2",
        ),
        ({"records": 1, "commits": 5}, {"records": 9, "commits": 4}, "restarted"),
    ],
)
def test_an_interval_without_transactions_is_refused(
    before: dict[str, float], after: dict[str, float], reason: str
) -> None:
    with pytest.raises(EosctlError) as refused:
        observe_streams([reading(0, **before)], [reading(10, **after)])
    assert reason in refused.value.why


def test_another_program_is_refused() -> None:
    with pytest.raises(EosctlError, match="no beans of Kafka Streams"):
        resolve_streams("jmx://broker:9999", 0, [])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--streams", "ftp://a:1"), "is not an address"),
        (("--streams", "jmx://me:secret@a:1"), "user name"),
        (("--streams", "jmx://a:1", "-b", "localhost:9"), "cannot be combined"),
    ],
)
def test_wrong_addresses_are_refused(arguments: tuple[str, ...], reason: str) -> None:
    done = eosctl("capacity", "observe", "/nonexistent/w.yaml", *arguments)
    assert done.code == 2
    assert reason in done.err
    assert "secret" not in done.err


def test_large_integers_are_read_through_jmx() -> None:
    output = json.dumps(
        [
            {"mBeanName": "a:type=b,k=1", "attribute": "n", "attributeType": "BigInteger", "value": "307"},
            {"mBeanName": "a:type=b,k=2", "attribute": "n", "attributeType": "BigInteger", "value": "x"},
            {"mBeanName": "a:type=b,k=3", "attribute": "n", "attributeType": "String", "value": "5"},
        ]
    )
    found = _samples("jmx://a:1", output, "", NO_CREDENTIALS)
    assert [(sample.labels["k"], sample.value) for sample in found] == [("1", 307.0)]
