"""A scrape is read metric by metric: the worst value, where it is, and whether it is bad."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.knowledge.metrics import load_metrics
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.metric import MetricKind
from eosctl.model.metric_reading import Reading
from eosctl.monitoring.readings import read_metrics
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.sandbox.metrics.samples import render_samples
from tests.architecture.test_linear_patterns import assert_linear
from tests.commands.conftest import eosctl

LAG = 'kafka_cluster_Partition_Value{name="LastStableOffsetLag",topic="%s",partition="0"} %s\n'
IDLE = 'kafka_network_SocketServer_Value{name="NetworkProcessorAvgIdlePercent"} %s\n'
QUEUE = 'kafka_coordinator_transaction_TransactionMarkerChannelManager_Value{name="UnknownDestinationQueueSize"} %s\n'
REQUESTS = 'kafka_network_RequestMetrics_Count{name="RequestsPerSec",request="%s",version="3"} %s\n'
LOAD = "kafka_server_transaction_coordinator_metrics_partition_load_time_max %s\n"


def readings(page: str) -> dict[str, Reading]:
    return {reading.metric.name: reading for reading in read_metrics(parse_samples(page))}


def test_the_worst_series_is_shown_and_judged() -> None:
    found = readings(LAG % ("a", 3) + LAG % ("b", 70) + IDLE % 0.9 + QUEUE % 2 + LOAD % "NaN")
    lag = found["LastStableOffsetLag"]
    assert (lag.value, dict(lag.where)["topic"], lag.series_count, lag.is_bad) == (70, "b", 2, None)
    assert found["NetworkProcessorAvgIdlePercent"].is_bad is False
    assert found["UnknownDestinationQueueSize"].is_bad is True
    assert (found["partition-load-time-max"].value, found["partition-load-time-max"].is_bad) == (None, None)


@pytest.mark.parametrize(("value", "is_bad"), [(0.29, True), (0.3, False)])
def test_some_values_are_bad_when_they_are_low(value: float, is_bad: bool) -> None:
    assert readings(IDLE % value)["NetworkProcessorAvgIdlePercent"].is_bad is is_bad


def test_counts_are_summed() -> None:
    found = readings(REQUESTS % ("EndTxn", 3) + REQUESTS % ("Fetch", 4))["RequestsPerSec"]
    assert (found.value, found.where) == (7, ())


def test_no_place_is_named_when_all_are_alike() -> None:
    assert readings(LAG % ("a", 0) + LAG % ("b", 0))["LastStableOffsetLag"].where == ()
    assert dict(readings(LAG % ("a", 0))["LastStableOffsetLag"].where)["topic"] == "a"


def test_series_of_other_shapes_are_left_alone() -> None:
    assert readings('kafka_cluster_Partition_Value{name="LastStableOffsetLag"} 3\nup 1\n') == {}


def test_every_limit_is_one_of_a_value_that_is_shown() -> None:
    limited = [metric for metric in load_metrics() if metric.above is not None or metric.below is not None]
    assert len(limited) > 15
    for metric in limited:
        assert metric.above is None or metric.below is None
        assert metric.kind is MetricKind.GAUGE or metric.shown_attribute == "OneMinuteRate"


def test_the_sandbox_is_read(tmp_path: Path) -> None:
    async def page() -> str:
        async with simulate(ClusterShape(1, fast=True), tmp_path, seed=1) as simulation:
            return render_samples(node_samples(simulation.core.nodes[1]))

    found = readings(run_virtual(page()))
    assert {"UnderReplicatedPartitions", "UnknownDestinationQueueSize", "ProducerIdCount"} <= found.keys()
    assert not any(reading.is_bad for reading in found.values())


@contextmanager
def served(page: str) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: object) -> None:
            return None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
        finally:
            server.shutdown()
            thread.join()


def test_bad_values_come_first_and_make_the_exit_status() -> None:
    with served(LAG % ("a", 3) + IDLE % 0.9 + QUEUE % 2) as url:
        done = eosctl("metrics", "show", url, "-o", "tsv")
        only_bad = eosctl("metrics", "show", url, "--bad", "-o", "json")
    assert done.code == only_bad.code == 3
    assert [row[0] for row in done.rows] == ["bad", "bad", "ok", "-"]
    assert [(item["metric"], item["derived"]) for item in only_bad.json["items"]] == [
        ("marker-backlog", True),
        ("UnknownDestinationQueueSize", False),
    ]


def test_healthy_pages_exit_with_0() -> None:
    with served(IDLE % 0.9 + QUEUE % 0) as url:
        done = eosctl("metrics", "show", url, "--bad")
    assert (done.code, done.out) == (0, "No value is beyond its limit.\n")


def test_a_missing_page_is_reported() -> None:
    with served(IDLE % 0.9) as url:
        partial = eosctl("metrics", "show", url, "http://127.0.0.1:1/metrics")
        strict = eosctl("metrics", "show", url, "http://127.0.0.1:1/metrics", "--require-complete")
    assert (partial.code, strict.code) == (0, 4)
    assert "http://127.0.0.1:1/metrics does not answer" in partial.err
    assert eosctl("metrics", "show", "http://127.0.0.1:1/metrics").code == 1


@pytest.mark.parametrize("page", ["<html>hello</html>", "kafka_server_replicamanager_leadercount 1\n", ""])
def test_other_pages_are_refused(page: str) -> None:
    with served(page) as url:
        done = eosctl("metrics", "show", url)
    assert done.code == 1
    assert "next:" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "url", ["localhost:9404", "ftp://h/metrics", "http://h:99999/", "http://u:secret@h:1/metrics", "http://[::1/"]
)
def test_other_addresses_are_refused(url: str) -> None:
    done = eosctl("metrics", "show", url)
    assert done.code == 2
    assert "secret" not in done.err


def test_the_labels_of_a_long_line_are_read_in_linear_time() -> None:
    assert_linear(lambda size: list(parse_samples("kafka_x{" + 'a="",' * (4 * size) + " } 1\n")))
