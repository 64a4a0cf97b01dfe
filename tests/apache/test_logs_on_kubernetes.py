"""The log scan with executors as pods: the manifest's own words, against a stand-in for Kubernetes' API."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from eosctl.logs.scan import scan_paths
from tests.apache.hadoop_servers import JARS
from tests.apache.kubernetes_stand_in import running_kubernetes
from tests.apache.spark_daemons import SHORT_LIVED_JAVA, bare_python
from tests.logs.results import json_rows

pytestmark = pytest.mark.apache

ROOT = Path(__file__).parents[2]
MANIFEST = ROOT / "deploy" / "spark" / "kubernetes" / "logs.yaml"
LOGS = ROOT / "tests" / "fixtures" / "logs" / "second-producer-392"


def test_the_manifests_job_runs_executors_as_pods(tmp_path: Path) -> None:
    out = tmp_path / "result"
    image = {"SPARK_HOME": str(JARS.parent), "PYSPARK_PYTHON": str(bare_python(tmp_path))}
    with running_kubernetes(tmp_path, image) as kubernetes:
        done = _run(_words(kubernetes.url, out), tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json_rows(out, "events")
    events = scan_paths([LOGS]).events
    assert sorted((row["file"], row["byte_offset"], row["line"], row["category"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category) for event in events
    )
    executors = [pod["spec"]["containers"][0] for pod in kubernetes.pods]
    assert len(executors) == 2
    assert {one["image"] for one in executors} == {"eosctl-spark:latest"}
    (role,) = (one for one in yaml.safe_load_all(MANIFEST.read_text()) if one["kind"] == "Role")
    allowed = {(verb, kind) for rule in role["rules"] for verb in rule["verbs"] for kind in rule["resources"]}
    assert kubernetes.requests <= allowed
    assert any("Running task" in path.read_text(errors="replace") for path in tmp_path.glob("*exec-*.out"))


def _words(url: str, out: Path) -> list[str]:
    """Return the words of the manifest's container, with this test's places and without its pod's own name."""
    (job,) = (one for one in yaml.safe_load_all(MANIFEST.read_text()) if one["kind"] == "CronJob")
    (container,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    places = {
        "s3a://logs/kafka/": str(LOGS),
        "s3a://reports/kafka": str(out),
        "k8s://https://kubernetes.default.svc": f"k8s://{url}",
        "spark.kubernetes.driver.pod.name=$(POD_NAME)": "spark.ui.enabled=false",
        "spark.kubernetes.namespace=$(POD_NAMESPACE)": "spark.kubernetes.namespace=default",
        "spark.driver.host=$(POD_IP)": "spark.driver.host=127.0.0.1",
        # Ports of this machine may be in use.
        "spark.driver.port=7078": "spark.driver.port=0",
        "spark.driver.blockManager.port=7079": "spark.driver.blockManager.port=0",
        "spark.executor.memory=1g": "spark.executor.memory=512m",
    }
    words = [places.get(word, word) for word in container["args"]]
    assert not [word for word in words if "$(" in word]
    # The stand-in has no watch; Spark also asks for the list, by default every half minute.
    more = ["spark.kubernetes.executor.enableApiWatcher=false", "spark.kubernetes.executor.apiPollingInterval=1s"]
    more += [f"spark.{program}.extraJavaOptions={SHORT_LIVED_JAVA}" for program in ("driver", "executor")]
    return [*words, "--format", "json", *(word for setting in more for word in ("--conf", setting))]


def _run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = words
    assert program == "eosctl"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local")}
    environment["PYSPARK_PYTHON"] = str(folder / "python3")
    command = [sys.executable, "-m", "eosctl", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
