"""The exported configuration in the real agent of jmx_exporter beside a real broker keeps what the alerts ask for."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.prometheus_text import Sample, parse_samples
from eosctl.lab.apache.engine import ApacheEngine
from eosctl.model.client_config import ClientConfig
from eosctl.model.known_bug import parse_version
from eosctl.monitoring.catalogue import load_metrics
from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.monitoring.metric import Metric
from eosctl.render.machine import render_yaml
from eosctl.settings.endpoints import parse_endpoints

AGENT = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
AGENT_SHA256 = "7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
#: Beans that appear with an event which this test does not bring about.
EVENTFUL = {"uncleanable-partitions-count", "uncleanable-bytes"}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mvn") is None:
        pytest.skip("mvn is missing: the agent comes from Maven Central")
    folder = tmp_path_factory.mktemp("agent")
    command = ["mvn", "-q", "-B", COPY, f"-Dartifact={AGENT}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (jar,) = folder.glob("*.jar")
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == AGENT_SHA256
    return jar


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


async def one_transaction(bootstrap: str) -> None:
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        place = (await ensure_topic(client, "orders")).partitions[0].partition
        producer = TransactionalProducer(client, "app", now_ms=lambda: 0)
        await producer.init_transactions()
        await producer.send(place, [OutgoingRecord(b"k", b"v")])
        await producer.commit()


def shows(samples: list[Sample], metric: Metric) -> bool:
    """Tell whether every series of a metric was scraped, with the labels that the catalogue says."""
    keys = {key.replace("-", "_") for key in metric.keys} | ({"name"} if metric.is_yammer else set())
    names = {text.partition("{")[0] for text in metric.prometheus}
    found = {
        one.name for one in samples if one.labels.keys() == keys and one.labels.get("name", metric.name) == metric.name
    }
    return names <= found


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_the_exporter_keeps_the_catalogue_and_nothing_else(
    version: str, agent: Path, apache_running: Callable[..., AbstractContextManager[ApacheEngine]], tmp_path: Path
) -> None:
    configuration, port = tmp_path / "exporter.yaml", free_port()
    configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
    options = (f"-javaagent:{agent}=127.0.0.1:{port}:{configuration}",)
    with apache_running(version, tmp_path / "kafka", jvm_options=options) as engine:
        asyncio.run(one_transaction(engine.bootstrap))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            scraped = [one for one in parse_samples(answer.read().decode()) if one.name.startswith("kafka_")]
    wanted = [
        metric
        for metric in load_metrics()
        if metric.component == "broker" and metric.prometheus and metric.exists_in(parse_version(version))
    ]
    assert [metric.bean for metric in wanted if metric.name not in EVENTFUL and not shows(scraped, metric)] == []
    # Of the beans that are kept other attributes may appear, but no other bean.
    kept = {(f"{metric.domain}_{metric.bean_type}".replace(".", "_").replace("-", "_")) for metric in wanted}
    assert [one.name for one in scraped if not any(one.name.startswith(prefix) for prefix in kept)] == []
    names = {metric.name for metric in wanted}
    assert {one.labels["name"] for one in scraped if "name" in one.labels} <= names
