"""The log scan on a standalone Spark cluster with two executors without eosctl."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from eosctl.logs.scan import scan_paths
from eosctl.logs.topics.address import parse_topics
from eosctl.logs.topics.plan import scan_topics
from eosctl.testing import SandboxThread
from spark_log_analytics.kafka_data.business_key import parse_business_key
from spark_log_analytics.kafka_data.local import summarize_here
from spark_log_analytics.kafka_data.plan import plan_partitions
from tests.apache.shipped import shipped_logs
from tests.apache.spark_daemons import PATIENCE_S, SHORT_LIVED_JAVA, bare_python, spark_process, wait_for
from tests.free_port import free_port
from tests.logs import shipping
from tests.logs.partitions import SHIPPERS, expected
from tests.logs.results import json_rows

__all__ = ["shipped_logs"]
pytestmark = pytest.mark.apache

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
STORAGE = FIXTURES.parent / "storage"


class Cluster(NamedTuple):
    """A standalone cluster: its URL, its folder, and the Python of its executors."""

    url: str
    folder: Path
    python: Path

    def submit(self, *arguments: str, python: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of eosctl that submits to the cluster, optionally with another Python for executors."""
        java = [f"spark.{program}.extraJavaOptions={SHORT_LIVED_JAVA}" for program in ("driver", "executor")]
        settings = (*java, "spark.executor.cores=1", "spark.executor.memory=512m", "spark.driver.host=127.0.0.1")
        command = [sys.executable, "-m", "eosctl", "logs", *arguments, "--master", self.url]
        for setting in (*settings, "spark.ui.enabled=false", "spark.scheduler.minRegisteredResourcesRatio=1.0"):
            command += ["--conf", setting]
        environment = {**os.environ, "PYSPARK_PYTHON": str(python or self.python), "SPARK_LOCAL_IP": "127.0.0.1"}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600, check=False
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("spark")
    python = bare_python(folder)
    for package in ("eosctl", "cramjam", "google_crc32c"):
        known = subprocess.run([str(python), "-c", f"import {package}"], cwd=folder, capture_output=True, check=False)
        assert known.returncode, f"the executors' Python must not find {package}"
    port = free_port()
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--cores", "2", "--memory", "2g", "--host", "127.0.0.1")
    url = f"spark://127.0.0.1:{port}"
    with spark_process(folder, "master", *master) as output_log:
        wait_for(output_log, "New state: ALIVE")
        with spark_process(folder, "worker", *worker, "--webui-port", "0", url) as output_log:
            wait_for(output_log, "Successfully registered with master")
            yield Cluster(url, folder, python)


def test_executors_without_eosctl_return_the_scanners_events(cluster: Cluster, tmp_path: Path) -> None:
    out = tmp_path / "result"
    logs = str(FIXTURES / "second-producer-392")
    before = set((cluster.folder / "work").glob("app-*"))
    done = cluster.submit("submit", logs, "--out", str(out), "--format", "json", "--split-mb", "1")
    assert done.returncode == 0, done.stderr[-3000:]
    (application,) = set((cluster.folder / "work").glob("app-*")) - before
    # The worker may begin a third one while the job ends, in the place of one that has gone already.
    assert {"0", "1"} <= {path.name for path in application.iterdir() if path.is_dir()}
    assert done.stdout.count("producer_fenced: duplicate-transactional-id") == 3
    rows = json_rows(out, "events")
    events = scan_paths([FIXTURES / "second-producer-392"]).events
    assert sorted((row["file"], row["byte_offset"], row["line"], row["category"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category) for event in events
    )


def test_executors_read_secured_topics_without_showing_secrets(
    cluster: Cluster, shipped_logs: SandboxThread, tmp_path: Path
) -> None:
    url, config, out = (
        f"kafka://{shipped_logs.bootstrap}/logs",
        str(shipped_logs.client_properties()),
        tmp_path / "result",
    )
    output_log = tmp_path / "output_log"
    output_log.mkdir()
    logged = ("--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.compress=false")
    logged += ("--conf", f"spark.eventLog.dir={output_log}")
    before = set((cluster.folder / "work").glob("app-*"))
    done = cluster.submit("submit", url, "--command-config", config, "--out", str(out), "--format", "json", *logged)
    assert done.returncode == 0, done.stderr[-3000:]
    (application,) = set((cluster.folder / "work").glob("app-*")) - before
    assert {"0", "1"} <= {path.name for path in application.iterdir() if path.is_dir()}
    rows = json_rows(out, "events")
    settings = shipping.settings_of(shipped_logs)
    scan = scan_topics(replace(parse_topics(url), settings=settings))
    assert len(scan.events) == len(SHIPPERS) * len(expected())
    assert sorted(
        (row["file"], row["byte_offset"], row["line"], row["category"], row["host"]) for row in rows
    ) == sorted((event.file, event.offset, event.line, event.category, event.host) for event in scan.events)
    # The plans, the settings, and the command lines, as the user interface shows them; and what executors print.
    shown = [path.read_text(errors="replace") for path in output_log.rglob("*") if path.is_file()]
    assert any("SparkListenerSQLExecutionStart" in text for text in shown)
    shown += [path.read_text(errors="replace") for path in application.glob("*/std*")]
    for text in (*shown, done.stdout, done.stderr):
        assert settings["sasl.password"] not in text


def test_executors_without_the_client_library_report_it(
    cluster: Cluster, shipped_logs: SandboxThread, tmp_path: Path
) -> None:
    python = bare_python(tmp_path, "confluent_kafka")
    url, config = f"kafka://{shipped_logs.bootstrap}/logs", str(shipped_logs.client_properties())
    arguments = ("submit", url, "--command-config", config, "--out", str(tmp_path / "result"))
    done = cluster.submit(*arguments, python=python)
    assert done.returncode == 1
    assert f"confluent-kafka is not installed for {sys.executable}" in done.stderr
    assert "for the Python of every executor" in done.stderr


def test_executors_without_compiled_packages_read_kafka_files(cluster: Cluster, tmp_path: Path) -> None:
    data = STORAGE / "k431-tv2-transactions" / "data"
    out = tmp_path / "result"
    done = cluster.submit("submit-data", str(data), "--out", str(out), "--business-key", "key")
    assert done.returncode == 0, done.stderr[-3000:]
    here = summarize_here(plan_partitions([data]), parse_business_key("key"))
    output_log = json.loads((out / "summary.json").read_text())
    assert [(one["topic"], one["committed_count"], one["aborted_count"]) for one in output_log["topics"]] == [
        (one.topic, one.committed_count, one.aborted_count) for one in here.topics
    ]
    assert output_log["duplicate_key_count"] == here.duplicate_key_count == 14
    kinds = ("coordinated_transaction", "damage", "key_use", "partition_transaction", "sequence_break")
    assert sorted(path.name for path in out.glob("*-v1")) == [f"{kind}-v1" for kind in kinds]


def test_an_executor_that_is_killed_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    source = FIXTURES / "below-min-isr-392" / "broker-3" / "server.log.gz"
    for number in range(4):
        (logs / f"copy-{number}.log.gz").write_bytes(source.read_bytes())
    out = tmp_path / "result"
    arguments = ("submit", str(logs), "--out", str(out), "--format", "json", "--split-mb", "1")
    before = set((cluster.folder / "work").glob("app-*"))
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(cluster.submit, *arguments)
        killed = _kill_an_executor_at_work(cluster, before, job)
        done = job.result(timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert killed, "the job was over before an executor had begun"
    rows = json_rows(out, "events")
    events = scan_paths([logs]).events
    assert sorted((row["file"], row["byte_offset"], row["line"]) for row in rows) == sorted(
        (event.file, event.offset, event.line) for event in events
    )


def _kill_an_executor_at_work(cluster: Cluster, before: set[Path], job: Future[Any]) -> bool:
    """Kill the first executor of a new application once it runs a task; return whether that was in time."""
    deadline = time.monotonic() + PATIENCE_S
    while not job.done():
        assert time.monotonic() < deadline, "no executor has begun to work"
        for folder in set((cluster.folder / "work").glob("app-*")) - before:
            for output_log in folder.glob("*/stderr"):
                if "Running task" in output_log.read_text(errors="replace"):
                    return _kill_executor(folder.name, output_log.parent.name)
        time.sleep(0.02)
    return False


def _kill_executor(application: str, executor: str) -> bool:
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
        except OSError:
            continue
        if application.encode() in words and words[words.index(b"--executor-id") + 1] == executor.encode():
            os.kill(int(process.name), signal.SIGKILL)
            return True
    return False
