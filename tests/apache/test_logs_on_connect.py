"""The log scan on a Spark Connect server whose workers know nothing of eosctl; the client has no JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_log_analytics.scan import scan_paths
from tests.apache.spark_daemons import bare_python, free_port, spark_process, wait_for

pytestmark = pytest.mark.apache

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


@pytest.fixture(scope="module")
def connect_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("connect")
    port = free_port()
    command = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += ["--driver-java-options", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"]
    for setting in (
        "spark.ui.enabled=false",
        "spark.driver.bindAddress=127.0.0.1",
        "spark.connect.grpc.binding.address=127.0.0.1",
        f"spark.connect.grpc.binding.port={port}",
    ):
        command += ["--conf", setting]
    with spark_process(folder, "connect", *command, "spark-internal", python=bare_python(folder)) as told:
        wait_for(told, "Spark Connect server started")
        yield f"sc://127.0.0.1:{port}"


def test_a_connect_server_gives_the_events_and_incidents_of_the_scanner(connect_url: str, tmp_path: Path) -> None:
    out = tmp_path / "result"
    command = [sys.executable, "-m", "eosctl", "logs", "submit", str(LOGS), "--out", str(out), "--format", "json"]
    # A client needs no Java, so a JAVA_HOME without any must not matter.
    environment = {**os.environ, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        [*command, "--connect", connect_url, "--split-mb", "1"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("producer_fenced: duplicate-transactional-id") == 3
    rows = [json.loads(line) for file in (out / "events-v2").glob("part-*") for line in file.read_text().splitlines()]
    events = scan_paths([LOGS]).events
    assert sorted((row["file"], row["offset"], row["line"], row["category"], row["message"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category, event.message) for event in events
    )


def test_a_session_of_the_command_itself_may_be_a_connect_server(connect_url: str, tmp_path: Path) -> None:
    def report(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "eosctl", "logs", "scan", str(LOGS), "-o", "tsv", *options]
        environment = {**os.environ, "SPARK_REMOTE": connect_url, "JAVA_HOME": str(tmp_path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
        )

    there = report("--engine", "spark")
    assert there.returncode == 0, there.stderr[-3000:]
    assert there.stdout == report("--engine", "python").stdout
    assert there.stdout.count("\n") == len(scan_paths([LOGS]).events)
