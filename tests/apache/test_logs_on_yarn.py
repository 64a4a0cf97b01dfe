"""The log scan on YARN, with executors without eosctl, and the driver here or in the cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.apache.hadoop_servers import JARS
from tests.apache.spark_daemons import SHORT_LIVED_JAVA, bare_python
from tests.apache.yarn_servers import QUEUE, running_yarn
from tests.logs.results import json_rows

pytestmark = pytest.mark.apache

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


@pytest.fixture(scope="module")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_yarn(tmp_path_factory.mktemp("yarn")) as settings:
        yield settings


@pytest.mark.parametrize("place", ["client", "cluster"])
def test_a_job_on_yarn_returns_the_scanners_events(yarn: Path, tmp_path: Path, place: str) -> None:
    out = tmp_path / "result"
    done = _submit(yarn, tmp_path, str(LOGS), "--out", str(out), "--format", "json", "--deploy-mode", place)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json_rows(out, "events")
    events = scan_paths([LOGS]).events
    assert sorted((row["file"], row["byte_offset"], row["line"], row["category"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category) for event in events
    )
    log = (yarn.parent / "resourcemanager.out").read_text(errors="replace")
    assert f"QUEUENAME={QUEUE}" in log


def test_a_queue_that_yarn_lacks_is_named(yarn: Path, tmp_path: Path) -> None:
    done = _submit(yarn, tmp_path, str(LOGS), "--out", str(tmp_path / "result"), "--conf", "spark.yarn.queue=absent")
    assert done.returncode == 1
    assert "absent" in done.stderr
    assert not (tmp_path / "result").exists()


def _submit(yarn: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    java = [f"spark.{program}.extraJavaOptions={SHORT_LIVED_JAVA}" for program in ("driver", "yarn.am", "executor")]
    settings = (*java, "spark.executor.memory=512m", "spark.driver.memory=512m", "spark.yarn.am.memory=256m")
    # The machine of the test has Spark's jars; they need not be copied into the cluster.
    settings = (*settings, "spark.executor.instances=1", "spark.ui.enabled=false", f"spark.yarn.jars=local:{JARS}/*")
    command = [sys.executable, "-m", "eosctl", "logs", "submit", "--master", "yarn"]
    for setting in (f"spark.yarn.queue={QUEUE}", *settings):
        command += ["--conf", setting]
    python = str(bare_python(folder))
    environment = {**os.environ, "PYSPARK_PYTHON": python, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {"HADOOP_CONF_DIR": str(yarn), "YARN_CONF_DIR": str(yarn)}
    return subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
