"""Two readings of brokers' counters are a workload whose plan does the same, however the exporter names them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.capacity.metrics_observation import Known, explain_unread, write_measured
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.collect.metrics.broker_counters import _counters, resolve_counters
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.errors import ConfigFileError, EosctlError, UsageError
from eosctl.model.broker_counters import BrokerCounters
from eosctl.model.capacity_plan import CapacityPlan
from tests.capacity.workloads import schema_errors
from tests.commands.conftest import eosctl

RECORDED = Path(__file__).parents[1] / "fixtures" / "capacity" / "metrics-4.3.1.tsv"
SECONDS = 10


def without_rules(bean: str, attribute: str) -> str:
    """Name a bean as jmx_exporter does without a configuration."""
    domain, keys = bean.split(":", 1)
    labels = dict(part.split("=") for part in keys.split(","))
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "type")
    return f"{domain.replace('.', '_')}_{labels['type']}_{attribute}{{{inside}}}"


def lower_case(suffix: str) -> Callable[[str, str], str]:
    """Name a bean as the widespread rules do: lower case, the metric in the name."""

    def name(bean: str, attribute: str) -> str:
        domain, keys = bean.split(":", 1)
        labels = dict(part.split("=") for part in keys.split(","))
        metric = labels["name"].lower()
        metric = metric.removesuffix("persec") + suffix if attribute == "Count" else metric
        inside = ",".join(f'{key}="{value}"' for key, value in labels.items() if key not in ("type", "name"))
        return f"{domain.replace('.', '_')}_{labels['type']}_{metric}".lower() + f"{{{inside}}}"

    return name


DIALECTS = (without_rules, lower_case("_total"), lower_case("persec_count"), lower_case("persec"))


def pages(dialect: Callable[[str, str], str]) -> tuple[str, str]:
    """Return what the exporter showed before and after the recorded load."""
    rows = [line.split("\t") for line in RECORDED.read_text().splitlines() if not line.startswith("#")]
    texts = []
    for column in (2, 3):
        lines = [f"{dialect(row[0], row[1])} {row[column]}" for row in rows]
        noise = "# HELP kafka x\n# TYPE kafka untyped\njvm_threads 12\n" + 'kafka_a_b_Mean{name="RequestsPerSec"} NaN\n'
        texts.append(noise + "\n".join(lines) + "\n")
    return texts[0], texts[1]


def readings(dialect: Callable[[str, str], str] = without_rules) -> tuple[BrokerCounters, BrokerCounters]:
    before, after = (
        resolve_counters("broker", at_ms, _counters(parse_samples(text)))
        for at_ms, text in zip((0, SECONDS * 1000), pages(dialect), strict=True)
    )
    return before, after


def planned(text: str) -> CapacityPlan:
    assert schema_errors(text) == []
    return plan_capacity(parse_workload(text, "seen.yaml"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_plan_of_what_was_counted_reproduces_it(dialect: Callable[[str, str], str]) -> None:
    before, after = readings(dialect)
    text = write_measured("seen", (before,), (after,), Known(6, ("orders",)))
    workload, plan = parse_workload(text, "seen.yaml"), planned(text)
    assert (workload.cluster.transaction_version, workload.cluster.transaction_log_partitions) == (2, 5)
    assert plan.transactions_per_s * SECONDS == pytest.approx(300)
    assert plan.markers_per_s * SECONDS == pytest.approx(900)
    topics = {topic.name: topic for topic in plan.topics}
    assert topics["orders"].data_batches_per_s * SECONDS == pytest.approx(600)
    assert topics["orders"].written * SECONDS == pytest.approx(268_800, rel=0.01)
    assert topics["__transaction_state"].data_batches_per_s * SECONDS == pytest.approx(1_206)
    assert topics["__transaction_state"].written * SECONDS == pytest.approx(181_620, rel=0.03)
    assert topics["__consumer_offsets"].written * SECONDS == pytest.approx(56_700, rel=0.03)
    # The load's records had 300 B.
    assert abs(workload.topic("orders").value_bytes - 300) <= 1


def test_older_clients_prove_no_transaction_version() -> None:
    def older(broker: BrokerCounters) -> BrokerCounters:
        requests = {(name, min(version, 4)): value for (name, version), value in broker.requests.items()}
        return replace(broker, requests=requests)

    before, after = map(older, readings())
    text = write_measured("seen", (before,), (after,), Known(6, ("orders",)))
    assert "No client sent EndTxn 5" in text
    assumed = {one.path for one in parse_workload(text, "seen.yaml").assumptions}
    assert {"cluster.transaction_version", "cluster.kafka_version"} <= assumed


def test_brokers_are_added_up() -> None:
    before, after = readings()
    two = write_measured("seen", (before, before), (after, after), Known(6, ("orders",)))
    assert planned(two).transactions_per_s * SECONDS == pytest.approx(600)
    assert parse_workload(two, "seen.yaml").cluster.replication_factor == 2


def test_values_that_metrics_lack_are_required() -> None:
    before, after = readings()
    with pytest.raises(UsageError, match="metrics do not show their topics"):
        write_measured("seen", (before,), (after,), Known(6))
    with pytest.raises(UsageError, match="Nothing was written to elsewhere"):
        write_measured("seen", (before,), (after,), Known(6, ("elsewhere",)))


def test_no_workload_comes_of_a_restart_or_of_nothing() -> None:
    before, after = readings()
    with pytest.raises(EosctlError, match="went back"):
        write_measured("seen", (after,), (replace(before, read_at_ms=20_000),), Known(6, ("orders",)))
    with pytest.raises(EosctlError, match="No transaction ended"):
        write_measured("seen", (before,), (before,), Known(6, ("orders",)))
    with pytest.raises(EosctlError, match="no metrics of a Kafka broker"):
        resolve_counters("other", 0, _counters(parse_samples("jvm_threads 12\n")))


def readings_without(*metrics: str) -> tuple[BrokerCounters, BrokerCounters]:
    """Return readings of an exporter that drops some metrics."""
    texts = (
        "\n".join(line for line in text.splitlines() if not any(f'"{metric}"' in line for metric in metrics))
        for text in pages(without_rules)
    )
    before, after = (
        resolve_counters("http://one", at_ms, _counters(parse_samples(text)))
        for at_ms, text in zip((0, SECONDS * 1000), texts, strict=True)
    )
    return before, after


#: Of the recorded load: 300 transactions with 600 records, 600 markers in `orders`, in 10 s.
DROPPED = {
    "ErrorsPerSec": ('writes: {"orders": "auto"}', "rate: 120/s", "transactions: 30/s", "partition_waves: 1.02"),
    "TotalProduceRequestsPerSec": ("rate: 60/s", "# batch_records: unknown", "partition_waves: 1.02"),
    "MessagesInPerSec": ("# rate: ", "# value: ", "transactions: 30/s", "partitions: 6"),
    "BytesInPerSec": ("# value: ", "rate: 60/s", "batch_records: 1.0"),
    "RequestsPerSec": ("# kafka_version: ", "# transaction_version: ", "transactions: 30/s", "rate: 60/s"),
    "LogEndOffset": ("# partitions: ", "# replication_factor: ", "# offsets_partitions: ", "rate: 60/s"),
}


@pytest.mark.parametrize("metric", sorted(DROPPED))
def test_a_dropped_metric_is_named_and_the_rest_is_filled(metric: str) -> None:
    before, after = readings_without(metric)
    (sentence,) = explain_unread((after,))
    assert sentence.startswith(f"{metric} is not among the metrics of http://one: ")
    text = write_measured("seen", (before,), (after,), Known(6, ("orders",)))
    assert f"# {sentence}" in text
    for expected in DROPPED[metric]:
        assert any(line.strip().startswith(expected) for line in text.splitlines()), (expected, text)
    if metric in ("ErrorsPerSec", "TotalProduceRequestsPerSec", "RequestsPerSec"):
        assert planned(text).transactions_per_s == pytest.approx(30)
    else:
        with pytest.raises(ConfigFileError, match="is missing"):
            parse_workload(text, "seen.yaml")


def test_several_dropped_metrics_are_named_in_one_file() -> None:
    before, after = readings_without("ErrorsPerSec", "TotalProduceRequestsPerSec")
    text = write_measured("seen", (before,), (after,), Known(6, ("orders",)))
    assert planned(text).transactions_per_s == pytest.approx(30)
    with pytest.raises(EosctlError, match="No transaction ended"):
        write_measured("seen", (before,), (before,), Known(6, ("orders",)))


@pytest.mark.parametrize("text", ["<html>", "a{b=c} 1", "a b", 'a{b="c} 1'])
def test_a_page_of_something_else_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(parse_samples(f"up 1\n{text}\n"))


@given(st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), st.text(max_size=9)))
def test_labels_survive_their_escaping(labels: dict[str, str]) -> None:
    escaped = {
        key: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for key, value in labels.items()
    }
    line = "a{" + ",".join(f'{key}="{value}"' for key, value in escaped.items()) + "} 1.5"
    (sample,) = parse_samples(line)
    assert (sample.labels, sample.value) == (labels, 1.5)


class Exporter(HTTPServer):
    """An exporter that shows one page after the other."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.texts = list(texts)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/metrics"


class Page(BaseHTTPRequestHandler):
    """One page."""

    def do_GET(self) -> None:
        assert isinstance(self.server, Exporter)
        body = self.server.texts.pop(0).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with Exporter(pages(without_rules)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_command_reads_an_exporter_twice(exporter: Exporter, tmp_path: Path) -> None:
    asked = ("--metrics", exporter.url, "--producers", "6", "--reads", "orders", "--duration", "20ms")
    done = eosctl("capacity", "observe", tmp_path / "w.yaml", *asked)
    assert (done.code, done.err) == (0, "")
    assert eosctl("capacity", "plan", tmp_path / "w.yaml").code == 0
    assert exporter.texts == []


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("--metrics", "http://127.0.0.1:1/metrics"), 2, "--producers is missing"),
        (("--metrics", "http://127.0.0.1:1/metrics", "--producers", "1"), 1, "does not answer"),
        (("--metrics", "ftp://127.0.0.1", "--producers", "1"), 2, "not an address of metrics"),
        (("--metrics", "jmx://127.0.0.1", "--producers", "1"), 2, "not an address of metrics"),
        (("--metrics", "http://u:secret@127.0.0.1:1/", "--producers", "1"), 2, "password in it"),
        (("--metrics", "http://127.0.0.1:1/", "-b", "127.0.0.1:1"), 2, "cannot be combined with"),
    ],
)
def test_sources_without_data_are_reported(
    tmp_path: Path, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    done = eosctl("capacity", "observe", tmp_path / "w.yaml", *arguments)
    assert done.code == code
    assert complaint in done.err
    assert "secret" not in done.err
    assert not (tmp_path / "w.yaml").exists()
