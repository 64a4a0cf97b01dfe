"""What `spark-submit` writes has the texts of records and files; it reaches no terminal as commands."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

import pytest

from eosctl.cli import main
from eosctl.command_line.invocation import note
from eosctl.render.progress import show_progress
from eosctl.services.callbacks import Callbacks
from eosctl.services.spark_job import DeployMode, run_job, scan_job
from spark_log_analytics import submission

HOSTILE = r"""
import sys
print("out \x1b]0;planted\x07 \x9b31m")
print("error \x1b[2J \u202e", file=sys.stderr)
sys.stderr.write("\r[Stage 0:>   (0 + 2) / 2]\r")
sys.stderr.flush()
sys.stderr.buffer.write(b"bytes \xff\xfe\n")
sys.exit(5)
"""


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "spark" / "bin" / "spark-submit"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\n# -*- coding: utf-8 -*-\n{HOSTILE}", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(submission, "find_spark_submit", lambda _: program)
    monkeypatch.setattr("eosctl.services.spark_job.spark_obstacle", lambda: None)
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    return program


@pytest.mark.usefixtures("spark_home")
def test_lines_of_spark_submit_are_inert(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job = scan_job([str(tmp_path)], str(tmp_path / "out"), "local[1]", DeployMode.CLIENT, (), ())
    steps: list[str] = []
    ending = run_job(job, Callbacks(remark=note, progress=steps.append))
    written = capfd.readouterr()
    assert ending.status == 5
    assert not written.out
    assert "[Stage 0:>   (0 + 2) / 2]" in steps
    assert {"out", "error", "bytes"} <= set(written.err.split())
    assert r"\x1b]0;planted\x07" in written.err
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(written.err)


VERDICT = r"""
import json, os, pathlib, sys
incident = {"severity": "error", "kind": "producer_fenced", "root_cause": "duplicate-transactional-id"}
verdict = json.dumps([{**incident, "subject": {"transactional.id": "pay-1"}}])
pathlib.Path(os.environ["EOSCTL_JOB_RESULT"]).write_text(verdict)
print("7 events of 2 files, 1 incident: s3a://reports/november (run 1f0c)")
pathlib.Path(os.environ["EOSCTL_JOB_PROBLEMS"]).write_text("not read: s3a://logs/b.log: denied\n")
sys.exit(4)
"""


def test_a_verdict_that_lies_in_a_storage_is_printed(spark_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spark_home.write_text(f"#!{sys.executable}\n{VERDICT}", "utf-8")
    assert main(["logs", "submit", "s3a://logs", "--out", "s3a://reports/november"]) == 4
    written = capfd.readouterr()
    assert written.out == "ERROR  producer_fenced: duplicate-transactional-id  transactional.id pay-1\n"
    assert "7 events of 2 files, 1 incident: s3a://reports/november" in written.err
    assert "Not read: s3a://logs/b.log: denied." in written.err


def test_a_driver_in_the_cluster_hands_nothing_over(
    spark_home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(spark_home.parent))
    spark_home.write_text(f"#!{sys.executable}\n", "utf-8")
    there = ["--master", "yarn", "--deploy-mode", "cluster"]
    assert main(["logs", "submit", "hdfs:///logs", "--out", "hdfs:///reports", *there]) == 0
    written = capfd.readouterr()
    assert not written.out
    assert 'eosctl logs sql "SELECT * FROM incidents" hdfs:///reports' in written.err


def test_progress_on_a_terminal_is_inert() -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with show_progress(stream) as progress:
        progress("[Stage \x1b]0;planted\x07")
        progress("")
    assert r"\x1b]0;planted\x07" in stream.getvalue()
