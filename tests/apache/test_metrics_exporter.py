"""With a real broker, jmx_exporter keeps the alerts' series, and JMX, Jolokia, and the exporter agree."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import subprocess
import urllib.request
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.metrics.metric_source import read_pages, resolve_metric_source
from eosctl.collect.metrics.prometheus_text import Sample, parse_samples
from eosctl.errors import AuthenticationFailed
from eosctl.knowledge.metrics import load_metrics
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.model.client_config import ClientConfig
from eosctl.model.known_bug import parse_version
from eosctl.model.metric import Metric
from eosctl.model.secret import Secret
from eosctl.monitoring.evidence import wanted_metrics
from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.monitoring.readings import read_metrics
from eosctl.render.machine import render_yaml
from eosctl.settings.clusters.endpoint_credentials import EndpointCredentials
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.free_port import free_port

AGENT = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
AGENT_SHA256 = "7d61f737fd661610ccc14aea79764faa1ea94a340cbc8f0029b3d2edea3d80c1"
JOLOKIA = "org.jolokia:jolokia-agent-jvm:2.1.2:jar:javaagent"
JOLOKIA_SHA256 = "38be4960fce575b355e9142f3c3cb89e54fb52bbbef4e1d48a5a6a1df8adb9bf"
PASSWORD = "s3cret\"'#@!"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
#: Beans that appear with an event which this test does not bring about.
EVENTFUL = {"uncleanable-partitions-count", "uncleanable-bytes"}


def fetch_jar(artifact: str, sha256: str, folder: Path) -> Path:
    """Fetch a jar from Maven Central."""
    if shutil.which("mvn") is None:
        pytest.skip("mvn is missing: the agent comes from Maven Central")
    command = ["mvn", "-q", "-B", COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (jar,) = folder.glob("*.jar")
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == sha256
    return jar


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetch_jar(AGENT, AGENT_SHA256, tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="module")
def jolokia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetch_jar(JOLOKIA, JOLOKIA_SHA256, tmp_path_factory.mktemp("jolokia"))


async def one_transaction(bootstrap: str) -> None:
    async with connect(ClientConfig(parse_endpoints(bootstrap, "test"))) as client:
        place = (await ensure_topic(client, "orders")).partitions[0].partition
        producer = TransactionalProducer(client, "app", now_ms=lambda: 0)
        await producer.init_transactions()
        await producer.send(place, [OutgoingRecord(b"k", b"v")])
        await producer.commit()


def shows(samples: list[Sample], metric: Metric) -> bool:
    """Return whether every series of a metric was scraped, with the catalog's labels."""
    keys = {key.replace("-", "_") for key in metric.keys} | ({"name"} if metric.is_yammer else set())
    names = {text.partition("{")[0] for text in metric.prometheus}
    found = {
        one.name for one in samples if one.labels.keys() == keys and one.labels.get("name", metric.name) == metric.name
    }
    return names <= found


@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_the_exporter_keeps_only_the_catalogs_metrics(
    version: str, agent: Path, apache_running: Callable[..., AbstractContextManager[ApacheNodes]], tmp_path: Path
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


def jmx_options(port: int, folder: Path) -> tuple[str, ...]:
    """Return the options of a JVM with password-protected JMX."""
    password, access = folder / "jmxremote.password", folder / "jmxremote.access"
    password.write_text(f"monitor {PASSWORD}\n", "utf-8")
    password.chmod(0o600)
    access.write_text("monitor readonly\n", "utf-8")
    remote = {
        "port": port, "rmi.port": port, "host": "127.0.0.1", "ssl": "false", "authenticate": "true",
        "password.file": password, "access.file": access,
    }  # fmt: skip
    options = {f"com.sun.management.jmxremote.{name}": value for name, value in remote.items()}
    options["java.rmi.server.hostname"] = "127.0.0.1"
    return tuple(f"-D{name}={value}" for name, value in options.items())


Shown = tuple[set[tuple[str, frozenset[tuple[str, str]]]], set[str]]


def shown_by(url: str, credentials: EndpointCredentials) -> Shown:
    """Return the series of a source, and the catalog's metrics that are read from them."""
    pages = read_pages(resolve_metric_source(url), wanted_metrics(), lambda: 0, 120_000, credentials)
    samples = [one for page in pages for one in page.samples]
    series = {(one.name, frozenset(one.labels.items())) for one in samples}
    return series, {f"{one.metric.bean} {one.metric.name}" for one in read_metrics(samples)}


def test_every_source_has_the_same_values(
    agent: Path,
    jolokia: Path,
    apache_running: Callable[..., AbstractContextManager[ApacheNodes]],
    tmp_path: Path,
) -> None:
    configuration = tmp_path / "exporter.yaml"
    page_port, bridge_port, jmx_port = free_port(), free_port(), free_port()
    configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
    options = (
        f"-javaagent:{agent}=127.0.0.1:{page_port}:{configuration}",
        f"-javaagent:{jolokia}=host=127.0.0.1,port={bridge_port},user=monitor,password=bridge",
        *jmx_options(jmx_port, tmp_path),
    )
    through_jmx = EndpointCredentials("monitor", Secret(PASSWORD))
    through_http = EndpointCredentials("monitor", Secret("bridge"))
    with apache_running("4.3.1", tmp_path / "kafka", jvm_options=options) as engine:
        asyncio.run(one_transaction(engine.bootstrap))
        for _ in range(20):
            # Beans of requests appear with their first request, perhaps between two readings.
            page = shown_by(f"http://127.0.0.1:{page_port}/metrics", through_http)
            bridge = shown_by(f"http://127.0.0.1:{bridge_port}/jolokia", through_http)
            jmx = shown_by(f"jmx://127.0.0.1:{jmx_port}", through_jmx)
            if bridge == jmx and page[1] == jmx[1] and jmx[0] <= page[0]:
                break
        # The page has further attributes of the same beans.
        assert jmx[0] - page[0] == set()
        assert bridge == jmx
        assert page[1] == jmx[1]
        assert len(jmx[0]) > 500
        assert len(jmx[1]) > 70
        refusals = (
            (f"jmx://127.0.0.1:{jmx_port}", through_http),
            (f"http://127.0.0.1:{bridge_port}/jolokia", through_jmx),
        )
        for url, wrong in refusals:
            for credentials in (wrong, EndpointCredentials()):
                with pytest.raises(AuthenticationFailed) as refused:
                    shown_by(url, credentials)
                assert PASSWORD not in str(refused.value)
