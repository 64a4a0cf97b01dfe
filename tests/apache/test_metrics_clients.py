"""Producers, consumers, and Streams of both releases have all metrics of the catalog, through the agent."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.collect.metrics.prometheus_text import Sample, parse_samples
from eosctl.knowledge.metrics import load_metrics
from eosctl.model.known_bug import parse_version
from eosctl.model.metric import Metric
from eosctl.monitoring.exports import jmx_exporter_document
from eosctl.render.machine import render_yaml
from eosctl.testing import SandboxThread
from tests.apache.conftest import fetch_streams
from tests.apache.test_metrics_exporter import agent, shows
from tests.apache.test_streams import LONG_S, application, compile_word_count, write_lines
from tests.free_port import free_port

__all__ = ["agent"]


def missing(samples: list[Sample], version: str) -> list[Metric]:
    return [
        metric
        for metric in load_metrics()
        if metric.component in ("producer", "consumer", "streams")
        and metric.prometheus
        and metric.exists_in(parse_version(version))
        and not shows(samples, metric)
    ]


def scrape(port: int) -> list[Sample]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            return list(parse_samples(answer.read().decode()))
    except (urllib.error.URLError, ConnectionError):
        return []


@pytest.mark.parametrize("version", [pytest.param("3.9.2", marks=pytest.mark.long), "4.3.1"])
def test_a_streams_application_has_the_catalogs_metrics(version: str, agent: Path, tmp_path: Path) -> None:
    word_count = compile_word_count(fetch_streams(version), tmp_path)
    configuration, port = tmp_path / "exporter.yaml", free_port()
    configuration.write_text(render_yaml(jmx_exporter_document()), "utf-8")
    options = [f"-javaagent:{agent}=127.0.0.1:{port}:{configuration}", "-Dcache.bytes=1000000"]
    command = [word_count[0], *options, *word_count[1:]]
    with SandboxThread(brokers=1, emulate=version.rpartition(".")[0], fast=False) as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        for created in admin.create_topics([NewTopic("lines", 2), NewTopic("counts", 2)]).values():
            created.result(LONG_S)
        write_lines(sandbox.bootstrap, 300)
        with application(command, sandbox.bootstrap, tmp_path, "measured") as (running, log):
            ends_at = time.monotonic() + LONG_S
            while absent := missing(scrape(port), version):
                assert running.poll() is None, log.read_text()
                assert time.monotonic() < ends_at, [f"{one.bean} {one.name}" for one in absent]
                time.sleep(0.5)
