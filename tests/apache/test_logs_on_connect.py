"""The log scan on a Spark Connect server with workers without eosctl; the client has no JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.logs.topics.address import parse_topics
from eosctl.logs.topics.plan import scan_topics
from eosctl.testing import SandboxThread
from spark_log_analytics.archive import build_archive
from tests.apache.shipped import shipped_logs
from tests.apache.spark_daemons import SHORT_LIVED_JAVA, bare_python, spark_process, wait_for
from tests.free_port import free_port
from tests.logs import shipping
from tests.logs.partitions import SHIPPERS, expected
from tests.logs.results import json_rows

__all__ = ["shipped_logs"]
pytestmark = pytest.mark.apache

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


class Server(NamedTuple):
    """A Spark Connect server: its URL, and where it keeps what its user interface shows."""

    url: str
    events: Path

    def shown(self) -> str:
        """Return what there is to see of the sessions so far."""
        return "".join(path.read_text(errors="replace") for path in self.events.rglob("*") if path.is_file())


@contextmanager
def serving(folder: Path, code: Path | None = None) -> Iterator[Server]:
    port, events = free_port(), folder / "events"
    events.mkdir()
    command = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--driver-java-options", SHORT_LIVED_JAVA]
    for setting in (
        "spark.ui.enabled=false",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.eventLog.enabled=true",
        "spark.eventLog.compress=false",
        f"spark.eventLog.dir={events}",
        "spark.connect.grpc.binding.address=127.0.0.1",
        f"spark.connect.grpc.binding.port={port}",
    ):
        command += ["--conf", setting]
    python = bare_python(folder)
    with spark_process(folder, "connect", *command, "spark-internal", python=python, code=code) as outcome:
        wait_for(outcome, "Spark Connect server started")
        yield Server(f"sc://127.0.0.1:{port}", events)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("connect")) as running:
        yield running


def test_connect_returns_the_events_and_incidents_of_the_scanner(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "result"
    command = [sys.executable, "-m", "eosctl", "logs", "submit", str(LOGS), "--out", str(out), "--format", "json"]
    # A client needs no Java, so a JAVA_HOME without any must not matter.
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        [*command, "--connect", server.url, "--split-mb", "1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("producer_fenced: duplicate-transactional-id") == 3
    rows = json_rows(out, "events")
    events = scan_paths([LOGS]).events
    assert sorted(
        (row["file"], row["byte_offset"], row["line"], row["category"], row["message"]) for row in rows
    ) == sorted((event.file, event.offset, event.line, event.category, event.message) for event in events)


def test_a_session_of_the_command_itself_may_be_a_connect_server(server: Server, tmp_path: Path) -> None:
    def report(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "eosctl", "logs", "scan", str(LOGS), "-o", "tsv", *options]
        environment = {**os.environ, "SPARK_REMOTE": server.url, "JAVA_HOME": str(tmp_path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
        )

    there = report("--engine", "spark")
    assert there.returncode == 0, there.stderr[-3000:]
    assert there.stdout == report("--engine", "python").stdout
    assert there.stdout.count("\n") == len(scan_paths([LOGS]).events)


SOURCE = """
import sys
from spark_log_analytics.session import session
from spark_log_analytics.topics.datasource import register

kind, brokers, config, out, checkpoint = sys.argv[1:]
outcome = {"kafka.bootstrap.servers": brokers, "subscribe": "logs", "config": config, "startingOffsets": "earliest"}
with session() as spark:
    register(spark)
    if kind == "batch":
        spark.read.format("eos_logs_kafka").options(**outcome).load().write.json(out)
    else:
        rows = spark.readStream.format("eos_logs_kafka").options(**outcome).load().writeStream.format("json")
        started = rows.option("checkpointLocation", checkpoint).option("path", out).trigger(availableNow=True).start()
        assert started.awaitTermination(300)
        assert started.exception() is None, started.exception()
"""


@pytest.mark.long  # with the code shipped again
def test_secured_topics_return_equal_rows_without_secrets(
    server: Server, shipped_logs: SandboxThread, tmp_path: Path
) -> None:
    url, properties = f"kafka://{shipped_logs.bootstrap}/logs", str(shipped_logs.client_properties())
    options = ("--command-config", properties, "--format", "json", "--connect", server.url)
    outcome = run(tmp_path, server, "-m", "eosctl", "logs", "submit", url, "--out", str(tmp_path / "out"), *options)
    found = [
        (row["file"], row["byte_offset"], row["line"], row["category"]) for row in json_rows(tmp_path / "out", "events")
    ]
    assert sorted(found) == rows_of_topic(shipped_logs)
    outcome += run_source(tmp_path, server, shipped_logs, "batch")
    assert rows_of(tmp_path / "batch") == rows_of_topic(shipped_logs)
    assert "SparkListenerConnectOperationStarted" in server.shown()
    assert shipping.settings_of(shipped_logs)["sasl.password"] not in server.shown() + outcome


@pytest.mark.long  # with servers of its own
def test_a_stream_needs_the_code_on_the_servers_path(shipped_logs: SandboxThread, tmp_path: Path) -> None:
    """What a session brings along reaches the tasks; where a stream plans, Spark does without it."""
    (tmp_path / "server").mkdir()
    with serving(tmp_path / "server", build_archive(tmp_path / "eosctl_logs.zip")) as server:
        outcome = run_source(tmp_path, server, shipped_logs, "stream")
        assert shipping.settings_of(shipped_logs)["sasl.password"] not in server.shown() + outcome
    assert rows_of(tmp_path / "stream") == rows_of_topic(shipped_logs)


def run(folder: Path, server: Server, *arguments: str) -> str:
    """Run a client program without Java; return its output."""
    environment = {**os.environ, "SPARK_REMOTE": server.url, "JAVA_HOME": str(folder)}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def run_source(folder: Path, server: Server, shipped_logs: SandboxThread, kind: str) -> str:
    config = folder / "client.json"
    config.write_text(json.dumps(shipping.settings_of(shipped_logs)))
    return run(
        folder,
        server,
        "-c",
        SOURCE,
        kind,
        shipped_logs.bootstrap,
        str(config),
        str(folder / kind),
        str(folder / "checkpoint"),
    )


Place = tuple[str, int, int, str]


def rows_of(table: Path) -> list[Place]:
    rows = [json.loads(line) for file in table.glob("part-*") for line in file.read_text().splitlines()]
    return sorted((row["file"], row["offset"], row["line"], row["category"]) for row in rows)


def rows_of_topic(shipped_logs: SandboxThread) -> list[Place]:
    topics = replace(
        parse_topics(f"kafka://{shipped_logs.bootstrap}/logs"), settings=shipping.settings_of(shipped_logs)
    )
    events = scan_topics(topics).events
    assert len(events) == len(SHIPPERS) * len(expected())
    return sorted((event.file, event.offset, event.line, event.category) for event in events)
