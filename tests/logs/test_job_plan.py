"""``eosctl logs submit --explain`` shows a job's plan, and starts nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from eosctl.cli import main
from eosctl.model.log_tables import LOG_TABLES
from eosctl.services import submit_job

LINE = "[2026-11-21 09:30:06,000] INFO [Partition orders-0 broker=1] Log loaded (kafka.cluster.Partition)\n"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(submit_job, "run_job", None)  # A call would fail.
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "server.log").write_text(LINE * 20_000)
    (folder / "old.log.gz").write_bytes(gzip.compress(LINE.encode() * 100))
    return folder


def test_a_plan_names_inputs_tasks_slices_and_tables(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "result"
    assert main(["logs", "submit", str(logs), "--out", str(out), "--split-mb", "1", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Input: 2 files, 1.")
    [scan] = [line for line in lines if line.startswith("  scan:")]
    assert scan.startswith("  scan: 3 splits of up to 1.05 MB in 3 tasks, the largest with ")
    assert scan.endswith("; 1 file cannot be divided.")
    assert any(line.startswith("  judge: one task up to 300,000 events.") for line in lines)
    named = [line.split()[0] for line in lines[lines.index("Tables (parquet):") + 1 :]]
    assert named == [table.name for table in LOG_TABLES]
    assert f"{out}/run-ID/new-failures-v3 (empty without --baseline)" in "\n".join(lines)
    assert not out.exists()


def test_what_only_the_job_lists_is_named_without_secrets(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = "kafka://host:9092/logs?kafka.sasl.password=open-sesame"
    there = ["s3a://key:open-sesame@logs/x", topics, "--out", "s3a://reports", "--format", "iceberg"]
    assert main(["logs", "submit", str(logs), *there, "--explain"]) == 0
    out = capsys.readouterr().out
    assert "sesame" not in out
    assert "kafka://host:9092/logs: the brokers name its offsets when the job runs." in out
    assert "@logs/x: Spark lists it when the job runs." in out
    assert "  events        eosctl.events_v3\n" in out


def test_a_plan_without_some_of_its_input_says_so(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    absent = str(logs / "absent.log")
    assert main(["logs", "submit", str(logs), absent, "--out", "/result", "--explain"]) == 4
    shown = capsys.readouterr()
    assert f"  not read: {absent}: No such file or directory" in shown.out
    assert "The plan does not cover all of the input." in shown.err
    assert main(["logs", "submit", absent, "--out", "/result", "--explain"]) == 2
    assert "holds no file to read" in capsys.readouterr().err
