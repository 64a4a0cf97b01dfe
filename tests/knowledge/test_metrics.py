"""The catalog matches the metrics of real programs in every release, and has an entry for every quoted name."""

from __future__ import annotations

import csv
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from eosctl.checks.measured import Series
from eosctl.checks.operations import coordinator_loads_slowly
from eosctl.checks.registry import ALL_CHECKS
from eosctl.knowledge.metrics import find_metrics, load_metrics, load_missing, suggest_metrics
from eosctl.model.known_bug import parse_version
from eosctl.model.metric import Metric, MetricKind
from eosctl.model.reference import EntryKind
from eosctl.services.explain_kind import answer_named
from tests.commands.conftest import eosctl

FIXTURES = Path(__file__).parents[1] / "fixtures" / "metrics"
QUOTED = list(
    csv.DictReader(
        (FIXTURES / "quoted-names.tsv").read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE
    )
)
#: Facts about a JVM that the exporter adds; they are not beans of Kafka.
OF_THE_EXPORTER = {"jvm_memory_used_bytes (Prometheus)", "process_open_fds (Prometheus)"}

#: The values of these keys are part of the dumped bean: each is a bean of its own there.
KEPT_KEYS = {"state", "protocol", "delayedOperation"}

_MISSING = "No release of Kafka has a metric of this name."

Keys = frozenset[tuple[str, str]]


def keys_of(bean: str) -> Keys:
    """Return a bean's domain and keys; values that differ are blanks."""
    domain, _, rest = bean.partition(":")
    pairs = (part.split("=", 1) for part in rest.split(","))
    return frozenset(
        {("", domain), *((k, "" if v.startswith("{") or k in KEPT_KEYS else v.strip('"')) for k, v in pairs)}
    )


@cache
def dumped(version: str, component: str) -> frozenset[tuple[Keys, str]]:
    lines = (FIXTURES / f"{version}-{component}.tsv").read_text("utf-8").splitlines()[1:]
    return frozenset((keys_of(line.split("\t")[0]), line.split("\t")[1]) for line in lines)


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_every_metric_is_in_exactly_its_releases(version: str) -> None:
    wrong = [
        (metric.bean, attribute)
        for metric in load_metrics()
        for attribute in metric.attributes
        if ((keys_of(metric.bean), attribute) in dumped(version, metric.component))
        != metric.exists_in(parse_version(version))
    ]
    assert wrong == []


def test_a_planted_metric_is_not_seen() -> None:
    planted = Metric("AbortRate", "broker", "kafka.server", "ReplicaManager", (), MetricKind.GAUGE, "", "", "")
    assert (keys_of(planted.bean), "Value") not in dumped("4.3.1", "broker")


def series(text: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return a series' name and labels; values other than the metric's name are left out."""
    name, _, labels = text.partition("{")
    found = re.findall(r'(\w+)="([^"]*)', labels)
    return name, frozenset((key, value if key == "name" else "") for key, value in found)


def test_names_of_prometheus_are_those_that_jmx_exporter_prints() -> None:
    lines = (FIXTURES / "jmx-exporter-4.3.1.txt").read_text("utf-8").splitlines()
    printed = {series(line) for line in lines if line and not line.startswith("#")}
    # The recording keeps a choice of beans: all names of a bean that it has must be right.
    beans = {(name.rpartition("_")[0], labels) for name, labels in printed}
    checked = [
        text
        for metric in load_metrics()
        if metric.is_yammer and metric.exists_in(parse_version("4.3.1"))
        for text in metric.prometheus
        if (series(text)[0].rpartition("_")[0], series(text)[1]) in beans
    ]
    assert len(checked) > 50
    assert [text for text in checked if series(text) not in printed] == []
    for metric in load_metrics():
        if (
            not metric.is_yammer
            and metric.prometheus
            and metric.name in ("txn-commit-time-ns-total", "event-queue-size")
        ):
            assert series(metric.prometheus[0]) in printed


def is_missing(name: str) -> bool:
    """Return whether the reference answers that no release has the name."""
    return all(one.entry.means.startswith(_MISSING) for one in answer_named(name, EntryKind.METRIC).explanations)


@pytest.mark.parametrize("row", QUOTED, ids=[row["name"] for row in QUOTED])
def test_every_quoted_name_is_answered(row: dict[str, str]) -> None:
    name = row["name"]
    if name in OF_THE_EXPORTER:
        assert not find_metrics(name)
        return
    if row["exists in 4.3.1"] == "yes":
        (metric,) = find_metrics(name)
        assert not is_missing(name)
        assert metric.name in name or "{" in name
    elif row["exists in 3.9.2"] == "no":
        assert is_missing(name)
    else:
        # It existed once, or other rules of an exporter print a metric that does exist under this name.
        assert is_missing(name) or find_metrics(name)


def test_missing_metrics_are_not_in_the_catalog() -> None:
    beans = {(keys_of(metric.bean), metric.name) for metric in load_metrics()}
    for missing in load_missing():
        for name in missing.names:
            bean, _, attribute = name.partition(" ")
            if ":type=" in bean and "attr=" not in bean:
                assert (keys_of(bean), attribute or bean.rpartition("name=")[2]) not in beans


@pytest.mark.parametrize(
    ("text", "bean"),
    [
        ("laststableoffsetlag",
         "kafka.cluster:type=Partition,name=LastStableOffsetLag,topic={topic},partition={partition}"),
        ('kafka_cluster_Partition_Value{name="UnderMinIsr",topic="a",partition="0"}',
         "kafka.cluster:type=Partition,name=UnderMinIsr,topic={topic},partition={partition}"),
        ("kafka_network_requestmetrics_requestspersec_count",
         "kafka.network:type=RequestMetrics,name=RequestsPerSec,request={request},version={version}"),
        ("kafka_producer_producer_metrics_txn_commit_time_ns_total",
         "kafka.producer:type=producer-metrics,client-id={client-id}"),
        ("txn_commit_time_ns", "kafka.producer:type=producer-metrics,client-id={client-id}"),
        ("transaction-coordinator-metrics partition-load-time-max",
         "kafka.server:type=transaction-coordinator-metrics"),
    ],
)  # fmt: skip
def test_names_are_found_in_any_style(text: str, bean: str) -> None:
    assert [metric.bean for metric in find_metrics(text)] == [bean]


def test_spelling_distinguishes_existing_from_missing_names() -> None:
    assert is_missing("unknown-destination-queue-size")
    assert not is_missing("UnknownDestinationQueueSize")
    assert find_metrics("UnknownDestinationQueueSize")


def test_similar_names_are_suggested() -> None:
    assert "LastStableOffsetLag" in suggest_metrics("LastStabelOffsetLag")
    assert suggest_metrics("zzzzzzzz") == ()


def test_explain_shows_whether_a_metric_exists() -> None:
    real = eosctl("metrics", "explain", "LastStableOffsetLag")
    assert real.code == 0
    assert "kafka_cluster_Partition_Value" in real.out
    wrong = eosctl("metrics", "explain", "TransactionTimeoutRate", "-o", "json")
    assert wrong.code == 0
    (item,) = wrong.json["items"]
    assert item["entry"]["means"].startswith(_MISSING)
    (use,) = item["entry"]["facts"]
    assert use["label"] == "use"
    assert use["text"].endswith("name=PartitionsWithLateTransactionsCount")


def test_a_bean_is_explained_with_all_its_attributes() -> None:
    bean = "kafka.server:type=group-coordinator-metrics"
    items = eosctl("metrics", "explain", bean, "-o", "json").json["items"]
    attributes = {metric.name for metric in load_metrics() if metric.bean == bean}
    assert len(attributes) > 5
    assert {item["entry"]["name"] for item in items} == attributes
    assert {item["entry"]["kind"] for item in items} == {"metric"}


def test_list_is_limited_to_a_component_and_a_release() -> None:
    names = {
        row[0]
        for row in eosctl("metrics", "list", "--component", "broker", "--kafka-version", "3.9.2", "-o", "tsv").rows
    }
    assert "LastStableOffsetLag" in names
    assert "event-queue-size" not in names
    assert "txn-commit-time-ns-total" not in names
    missing = eosctl("metrics", "list", "--missing", "-o", "json").json["items"]
    assert len(missing) == sum(len(one.names) for one in load_missing())


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "nonsense-rate"),
        ("list", "--component", "zookeeper"),
        ("list", "--kafka-version", "new"),
        ("list", "--missing", "--kafka-version", "3.9.2"),
    ],
)
def test_mistakes_are_reported(arguments: tuple[str, ...]) -> None:
    done = eosctl("metrics", *arguments)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "next:" in done.err or "error:" in done.err


def test_checks_ask_for_series_that_exist() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("eosctl.checks.")]
    asked = {one for module in modules for one in vars(module).values() if isinstance(one, Series)}
    asked |= {one for one, _ in coordinator_loads_slowly.LOADS}
    known = {(series(text)[0], dict(series(text)[1]).get("name", "")) for m in load_metrics() for text in m.prometheus}
    assert len(ALL_CHECKS) > 60
    assert len(asked) >= 7
    assert [one for one in asked if (one.series, one.name) not in known] == []
