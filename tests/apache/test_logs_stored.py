"""Logs and results on HDFS: the tables of local files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from eosctl.model.log_tables import LOG_TABLES, PUBLISHED, table_path
from tests.apache.hadoop_servers import FileSystem, running_hdfs
from tests.apache.spark_daemons import SHORT_LIVED_JAVA

pytestmark = [pytest.mark.apache, pytest.mark.long, pytest.mark.timeout(1800)]  # three starts of Spark

LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with running_hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture(scope="module")
def local_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the tables of the same logs as local files."""
    folder = tmp_path_factory.mktemp("local")
    done = submit(FileSystem(""), str(LOGS), folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return tables(folder, str(LOGS))


def submit(system: FileSystem, logs: str, out: str | Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eosctl", "logs", "submit", logs, "--out", str(out), "--master", "local[2]", *more]
    command += [word for jar in system.jars for word in ("--jars", str(jar))]
    settings = (*system.settings, "spark.ui.enabled=false", "spark.driver.host=127.0.0.1")
    for setting in (*settings, f"spark.driver.extraJavaOptions={SHORT_LIVED_JAVA}"):
        command += ["--conf", setting]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)


def tables(out: Path, root: str) -> dict[str, list[str]]:
    """Return the rows of all tables of the last run, with the root of the logs' names replaced."""
    runs = pq.read_table(out / table_path(PUBLISHED, "")).to_pylist()
    last = max(runs, key=lambda run: run["published_at"])["run_id"]

    def plain(row: dict[str, Any]) -> str:
        # The copy of a file has another time of change.
        return str({name: row[name] for name in row if name not in ("run_id", "modified_at")}).replace(root, "ROOT")

    return {
        table.name: sorted(map(plain, pq.read_table(out / table_path(table.name, last)).to_pylist()))
        for table in LOG_TABLES
        if table.name != PUBLISHED
    }


def test_logs_on_hdfs_give_the_tables_of_local_files(
    hdfs: FileSystem, local_tables: dict[str, list[str]], tmp_path: Path
) -> None:
    hdfs.shell("-put", str(LOGS), f"{hdfs.url}/logs")
    done = submit(hdfs, f"{hdfs.url}/logs", f"{hdfs.url}/reports")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "97 events of 8 files, 3 incidents" in done.stdout
    again = submit(hdfs, f"{hdfs.url}/logs", f"{hdfs.url}/reports")
    assert "unchanged" in again.stdout, again.stderr[-3000:]
    hdfs.shell("-get", f"{hdfs.url}/reports", str(tmp_path / "reports"))
    found = tables(tmp_path / "reports", f"{hdfs.url}/logs")
    assert found == local_tables
    assert {table for table, rows in found.items() if not rows} == {"new_failures"}
