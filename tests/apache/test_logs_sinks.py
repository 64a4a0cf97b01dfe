"""Tables on other releases of Spark: the oldest, and one for which Delta Lake and Apache Iceberg publish jars."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.results import json_rows

pytestmark = [
    pytest.mark.apache,
    pytest.mark.long,
    pytest.mark.timeout(1800),
]  # two installations, five starts of Spark

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
OLDEST = "pyspark==3.5.9"
SPARK = "pyspark==4.1.3"
"""The newest minor release of Spark for which both projects publish jars (November 2026)."""
JARS = {
    "delta": ("io.delta:delta-spark_2.13:4.3.1", "io.delta:delta-storage:4.3.1"),
    "iceberg": ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",),
}
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


@contextmanager
def installed(release: str, folder: Path) -> Iterator[Path]:
    """Install another Spark temporarily, since it takes half a gigabyte."""
    options = ["-q", "--no-deps", "--no-compile", "--target", str(folder), release]
    command = [sys.executable, "-m", "pip", "install", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    yield folder / "pyspark"
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with installed(SPARK, tmp_path_factory.mktemp("spark-4.1")) as home:
        yield home


def copied(artifacts: tuple[str, ...], folder: Path) -> list[str]:
    if shutil.which("mvn") is None:
        pytest.skip("mvn is missing: the jars come from Maven Central")
    folder.mkdir()
    for artifact in artifacts:
        command = ["mvn", "-q", "-B", COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout[-2000:]
    return sorted(map(str, folder.glob("*.jar")))


def submit(home: Path, out: Path, table_format: str, jars: list[str], *more: str) -> None:
    command = [sys.executable, "-m", "eosctl", "logs", "submit", str(LOGS), "--out", str(out), "--master", "local[2]"]
    command += ["--format", table_format, *(word for jar in jars for word in ("--jars", jar)), *more]
    command += ["--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"]
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=out.parent, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("producer_fenced: duplicate-transactional-id") == 3


def delta_rows(table: Path) -> list[dict[str, Any]]:
    """Read the rows of the files that the table's log leaves standing."""
    live: dict[str, None] = {}
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for action in map(json.loads, commit.read_text().splitlines()):
            if "add" in action:
                live[action["add"]["path"]] = None
            if "remove" in action:
                live.pop(action["remove"]["path"])
    return [row for name in live for row in pq.read_table(table / name).to_pylist()]


def iceberg_count(table: Path) -> int:
    """Return the number of rows in the table's current snapshot."""
    version = (table / "metadata" / "version-hint.text").read_text().strip()
    output = json.loads((table / "metadata" / f"v{version}.metadata.json").read_text())
    current = next(one for one in output["snapshots"] if one["snapshot-id"] == output["current-snapshot-id"])
    return int(current["summary"]["total-records"])


def test_the_oldest_spark_writes_every_event(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    out, events = tmp_path / "result", scan_paths([LOGS]).events
    with installed(OLDEST, tmp_path_factory.mktemp("spark-3.5")) as home:
        submit(home, out, "json", [])
    rows = json_rows(out, "events")
    assert sorted((row["file"], row["byte_offset"], row["line"], row["category"]) for row in rows) == sorted(
        (event.file, event.offset, event.line, event.category) for event in events
    )


def test_delta_tables_hold_each_event_once_after_two_runs(spark_home: Path, tmp_path: Path) -> None:
    out, jars = tmp_path / "result", copied(JARS["delta"], tmp_path / "jars")
    events = scan_paths([LOGS]).events
    submit(spark_home, out, "delta", jars)
    submit(spark_home, out, "delta", jars, "--baseline", str(out))
    rows = delta_rows(out / "events-v3")
    assert sorted(
        (row["file"], row["byte_offset"], row["line"], row["host"], row["category"]) for row in rows
    ) == sorted((event.file, event.offset, event.line, event.host, event.category) for event in events)
    assert len(delta_rows(out / "incidents-v3")) == 3
    assert delta_rows(out / "new-failures-v3") == []


def test_iceberg_tables_hold_each_event_once_after_two_runs(spark_home: Path, tmp_path: Path) -> None:
    out, jars = tmp_path / "result", copied(JARS["iceberg"], tmp_path / "jars")
    events = scan_paths([LOGS]).events
    submit(spark_home, out, "iceberg", jars)
    written = [
        row for file in (out / "events_v3" / "data").glob("*.parquet") for row in pq.read_table(file).to_pylist()
    ]
    assert sorted((row["file"], row["byte_offset"], row["host"], row["category"]) for row in written) == sorted(
        (event.file, event.offset, event.host, event.category) for event in events
    )
    submit(spark_home, out, "iceberg", jars, "--baseline", str(out))
    counts = {name: iceberg_count(out / f"{name}_v3") for name in ("events", "incidents", "new_failures")}
    assert counts == {"events": len(events), "incidents": 3, "new_failures": 0}
