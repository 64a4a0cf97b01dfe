"""The log scan on a standalone Spark cluster: two executors whose Python knows nothing of eosctl."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from spark_log_analytics.scan import scan_paths

pytestmark = pytest.mark.apache

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
SITE = Path(pyspark.__file__).parents[1]
PATIENCE_S = 240


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def spark_process(folder: Path, name: str, *arguments: str) -> Iterator[Path]:
    """Run one of Spark's daemons in the foreground; yields what it prints to."""
    output = folder / f"{name}.out"
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [str(program), *arguments], stdout=sink, stderr=subprocess.STDOUT, cwd=folder, env=environment
        )
        try:
            yield output
        finally:
            process.terminate()
            process.wait(60)


def wait_for(output: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while words not in output.read_text(errors="replace"):
        assert time.monotonic() < deadline, output.read_text(errors="replace")[-2000:]
        time.sleep(0.1)


def bare_python(folder: Path) -> Path:
    """Make a Python with what a cluster's image has: pyarrow, pandas and what they need, but no eosctl."""
    packages = folder / "packages"
    packages.mkdir()
    for entry in SITE.iterdir():
        if not entry.name.startswith(("eosctl", "__editable__", "spark_log_analytics")) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    script = folder / "python3"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script


def test_two_executors_without_eosctl_give_the_events_of_the_scanner(tmp_path: Path) -> None:
    python = bare_python(tmp_path)
    known = subprocess.run([str(python), "-c", "import eosctl"], cwd=tmp_path, capture_output=True, check=False)
    assert known.returncode, "the executors' Python must not find eosctl"
    port = free_port()
    out = tmp_path / "result"
    master = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    worker = ("org.apache.spark.deploy.worker.Worker", "--cores", "2", "--memory", "2g", "--host", "127.0.0.1")
    url = f"spark://127.0.0.1:{port}"
    with spark_process(tmp_path, "master", *master) as told:
        wait_for(told, "New state: ALIVE")
        with spark_process(tmp_path, "worker", *worker, "--webui-port", "0", url) as told:
            wait_for(told, "Successfully registered with master")
            settings = ("spark.executor.cores=1", "spark.executor.memory=512m", "spark.driver.host=127.0.0.1")
            command = [sys.executable, "-m", "eosctl", "logs", "submit", str(FIXTURES / "second-producer-392")]
            command += ["--master", url, "--out", str(out), "--format", "json", "--split-mb", "1"]
            for setting in (*settings, "spark.ui.enabled=false", "spark.scheduler.minRegisteredResourcesRatio=1.0"):
                command += ["--conf", setting]
            environment = {**os.environ, "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, check=False
            )
            executors = sorted(path.name for path in (tmp_path / "work").glob("app-*/*") if path.is_dir())
    assert done.returncode == 0, done.stderr[-3000:]
    assert executors == ["0", "1"]
    assert done.stdout.count("producer_fenced: duplicate-transactional-id") == 3
    rows = [json.loads(line) for file in (out / "events-v1").glob("part-*") for line in file.read_text().splitlines()]
    events = scan_paths([FIXTURES / "second-producer-392"]).events
    assert sorted((row["file"], row["offset"], row["line"], row["category"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category) for event in events
    )
    shutil.rmtree(out)
