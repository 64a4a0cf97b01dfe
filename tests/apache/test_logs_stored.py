"""Logs and results on HDFS and S3: the tables of local files, and errors that name cause and remedy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from eosctl.logs.scan import scan_paths
from eosctl.model.log_tables import LOG_TABLES, PUBLISHED, table_path
from tests.apache.hadoop_servers import FileSystem, S3Server, running_hdfs, running_s3
from tests.apache.spark_daemons import SHORT_LIVED_JAVA

pytestmark = [pytest.mark.apache, pytest.mark.long, pytest.mark.timeout(1800)]  # nine starts of Spark

NO_RETRIES = ("attempts.maximum=1", "retry.limit=1")
LOGS = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
OWN = frozenset({"run_id", "modified_at", "partitions"})
COUNTED = f"{len(scan_paths([LOGS]).events)} events of 8 files, 3 incidents"


class Local(NamedTuple):
    """The tables of the logs as local files, and what the command prints."""

    tables: dict[str, list[str]]
    printed: str


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileSystem]:
    with running_hdfs(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Run an S3 server with the logs in the bucket ``logs``, partitioned by day."""
    with running_s3(tmp_path_factory.mktemp("s3")) as running:
        client = running.client("s3")
        for bucket in ("logs", "reports", "closed"):
            client.create_bucket(Bucket=bucket)
        for file in (path for path in LOGS.rglob("*") if path.is_file()):
            client.upload_file(str(file), "logs", f"dt=2026-11-26/{file.relative_to(LOGS)}")
        yield running


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Local:
    """Return the result of the same logs as local files."""
    folder = tmp_path_factory.mktemp("local")
    done = submit(FileSystem(""), str(LOGS), folder)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("producer_fenced: ") > 0
    return Local(tables(folder, str(LOGS)), done.stdout)


def submit(system: FileSystem, logs: str, out: str | Path, *more: str) -> subprocess.CompletedProcess[str]:
    return run(system, "submit", logs, "--out", str(out), "--master", "local[2]", *more)


def run(system: FileSystem, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eosctl", "logs", *words]
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
        # The copy of a file has another time of change, and may be in other folders.
        return str({name: row[name] for name in row if name not in OWN}).replace(root, "ROOT")

    return {
        table.name: sorted(map(plain, pq.read_table(out / table_path(table.name, last)).to_pylist()))
        for table in LOG_TABLES
        if table.name not in (PUBLISHED, "tasks")
    }


def test_logs_on_hdfs_give_the_tables_of_local_files(hdfs: FileSystem, local: Local, tmp_path: Path) -> None:
    hdfs.shell("-put", str(LOGS), f"{hdfs.url}/logs")
    done = submit(hdfs, f"{hdfs.url}/logs", f"{hdfs.url}/reports")
    assert done.returncode == 0, done.stderr[-3000:]
    assert COUNTED in done.stderr
    assert done.stdout == local.printed
    again = submit(hdfs, f"{hdfs.url}/logs", f"{hdfs.url}/reports")
    assert "unchanged" in again.stderr, again.stderr[-3000:]
    assert again.stdout == local.printed
    hdfs.shell("-get", f"{hdfs.url}/reports", str(tmp_path / "reports"))
    found = tables(tmp_path / "reports", f"{hdfs.url}/logs")
    assert found == local.tables
    assert {table for table, rows in found.items() if not rows} == {"new_failures"}


def test_logs_on_s3_give_the_tables_of_local_files(s3: S3Server, local: Local, tmp_path: Path) -> None:
    system = s3.file_system("reports")
    done = submit(system, "s3a://logs/dt=*", f"{system.url}/november")
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == local.printed
    client = s3.client("s3")
    for found in client.list_objects_v2(Bucket="reports")["Contents"]:
        if not found["Key"].endswith("/"):
            file = tmp_path / found["Key"]
            file.parent.mkdir(parents=True, exist_ok=True)
            client.download_file("reports", found["Key"], str(file))
    assert tables(tmp_path / "november", "s3a://logs/dt=2026-11-26") == local.tables
    answer = run(system, "sql", "SELECT count(*) AS files FROM coverage", f"{system.url}/november", "-o", "tsv")
    assert answer.stdout.split() == [str(len(local.tables["coverage"]))], answer.stderr[-3000:]


def test_inputs_on_s3_that_fail_are_named(s3: S3Server, tmp_path: Path) -> None:
    key, secret = s3.user("reader", "s3:ListBucket", "s3:GetObject")
    os.environ["LAB_S3_CLOSED"] = "never-shown"
    wrong = [f"spark.hadoop.fs.s3a.bucket.closed.{name}.key=${{env.LAB_S3_CLOSED}}" for name in ("access", "secret")]
    silent = [
        f"spark.hadoop.fs.s3a.bucket.silent.{setting}" for setting in ("endpoint=http://127.0.0.1:1", *NO_RETRIES)
    ]
    words = [word for setting in (*wrong, *silent) for word in ("--conf", setting)]
    places = ["s3a://closed/logs", "s3a://absent/logs", "s3a://silent/logs", "s3a://logs/nowhere"]
    system = s3._replace(access_key=key, secret_key=secret).file_system("logs")
    done = submit(system, "s3a://logs/dt=*", tmp_path, *places, *words)
    said = done.stdout + done.stderr
    assert done.returncode == 4
    assert COUNTED in said, said[-3000:]
    assert "not read: s3a://closed/logs: the store denies access (HTTP status 403); check" in said
    assert "not read: s3a://absent/logs: the bucket absent does not exist at this endpoint; correct" in said
    assert "not read: s3a://silent/logs: 127.0.0.1:1 does not answer (Connection refused); correct" in said
    assert "not read: s3a://logs/nowhere: the path does not exist; correct" in said
    assert "why: Not read: s3a://closed/logs: the store denies access" in done.stderr
    assert "Further problems are listed above: 3." in done.stderr
    assert "Traceback" not in said
    assert all(hidden not in said for hidden in ("never-shown", secret))


def test_a_result_that_s3_does_not_take_is_an_error(s3: S3Server) -> None:
    key, secret = s3.user("listener", "s3:ListBucket", "s3:GetObject")
    system = s3._replace(access_key=key, secret_key=secret).file_system("reports")
    done = submit(system, str(LOGS), "s3a://reports/denied")
    assert done.returncode == 1
    assert "s3a://reports/denied cannot be used for the result: the store denies" in done.stderr, done.stderr[-3000:]
    asked = run(system, "sql", "SELECT 1", "s3a://absent/november")
    assert asked.returncode == 1
    assert "s3a://absent/november cannot be read" in asked.stderr, asked.stderr[-3000:]
    assert "The bucket absent does not exist at this endpoint" in asked.stderr
    assert all("Traceback" not in one.stdout + one.stderr for one in (done, asked))
