"""Logs that are named by URLs: those of this machine are read, those of other file systems are refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.services.spark_job import DEFAULT_MASTER, DeployMode, failure_of, scan_job
from tests.commands.conftest import eosctl

FENCED = (
    "[2026-11-20 10:00:00,000] ERROR [Producer clientId=a, transactionalId=pay-1] Aborting producer batches due to "
    "fatal error (org.apache.kafka.clients.producer.internals.Sender)\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "my app.log"
    path.write_text(FENCED, "utf-8")
    return path


@pytest.mark.parametrize("spelling", ["file://{}", "file:{}", "FILE://{}"])
def test_file_urls_are_read_as_their_paths(spelling: str, log: Path) -> None:
    url = spelling.format(str(log).replace(" ", "%20"))
    report = eosctl("logs", "report", "--engine", "python", url, "-o", "json")
    assert (report.code, report.err) == (0, "")
    assert report.json["items"] == eosctl("logs", "report", "--engine", "python", log, "-o", "json").json["items"]
    assert len(report.json["items"]) == 1


def test_doctor_reads_file_urls(log: Path) -> None:
    done = eosctl("doctor", "--logs", f"file://{str(log).replace(' ', '%20')}", "-o", "json")
    assert "pay-1" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("logs", "report", "--engine", "python", "s3a://bucket/logs"),
        ("logs", "scan", "--engine", "python", "hdfs://name:8020/logs"),
        ("logs", "exceptions", "abfss://box@account/logs"),
        ("doctor", "--logs", "gs://bucket/app.log"),
        ("logs", "submit-data", "hdfs://name/kafka", "--out", "out", "--dry-run"),
    ],
)
def test_urls_of_other_file_systems_are_refused_by_name(words: tuple[str, ...]) -> None:
    done = eosctl(*words)
    assert done.code == 2
    assert "cannot be read" in done.err
    assert "Mount the storage" in done.err


def test_a_summary_is_not_written_to_another_file_system(tmp_path: Path) -> None:
    done = eosctl("logs", "submit-data", tmp_path, "--out", "s3a://bucket/out", "--dry-run")
    assert done.code == 2
    assert "cannot be written to a URL of s3a" in done.err


def test_a_spark_job_gets_urls_as_they_are() -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    url = "s3a://bucket/dt=2026-11-*/host={a,b}"
    done = eosctl("logs", "submit", url, "file:///var/my%20logs", "--out", "gs://bucket/out", "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert "main.py --out=gs://bucket/out " in done.out
    assert done.out.endswith(f" -- '{url}' '/var/my logs'\n")


def test_a_failed_job_over_urls_does_not_name_local_commands() -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    for path, follows in (("s3a://bucket/logs", ""), ("/logs", "eosctl logs report does the same without Spark.")):
        job = scan_job([path], "out", DEFAULT_MASTER, DeployMode.CLIENT, (), ())
        assert failure_of(job, 1).next_step == follows
        assert failure_of(job, 4).exit_code == 4
        assert "coverage" in failure_of(job, 4).next_step
