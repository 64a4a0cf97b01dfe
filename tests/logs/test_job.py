"""What the Spark job leaves behind when Spark or the disk fails it; Spark itself is not started."""

from __future__ import annotations

import resource
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from pyspark.errors import PySparkException

from eosctl.logs.files.sources import SourceFile
from eosctl.logs.layouts import Verdict
from eosctl.logs.scan import SPLIT_BYTES
from spark_log_analytics import main as job
from spark_log_analytics.job import pack_splits
from spark_log_analytics.results import Run

LOG = str(Path(__file__).parents[1] / "fixtures" / "logs" / "poison-record-392" / "stream-1.log")


def run(out: Path) -> int:
    return job.main([LOG, "--out", str(out)])


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            "Job aborted.\n\tat a.B(B.java:1)\nCaused by: a.Error: x\nCaused by: java.io.IOException: No space left",
            "java.io.IOException: No space left",
        ),
        (
            "An error occurred while calling o94.save.\n: java.lang.NoClassDefFoundError: io/delta/X\n\tat a.B(B.java)",
            "java.lang.NoClassDefFoundError: io/delta/X",
        ),
        (
            (
                "thrown from the Python worker: Traceback (most recent call last):\n  File x, line 1\n    import a\n"
                "ModuleNotFoundError: No module named 'pyarrow'\n SQLSTATE: 38000"
            ),
            "ModuleNotFoundError: No module named 'pyarrow'",
        ),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta.", "Failed to find the data source: delta."),
    ],
)
def test_a_failing_job_reports_its_root_cause_without_verdict(
    message: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> Any:
        raise PySparkException(message)

    (tmp_path / "incidents.json").write_text("[]")  # of an earlier run
    monkeypatch.setattr(job, "_scan_and_save", fail)
    assert run(tmp_path) == 1
    error = capsys.readouterr().err
    assert reason in error
    assert "not complete" in error
    assert list(tmp_path.iterdir()) == []


def test_half_a_file_of_incidents_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(job, "_scan_and_save", lambda *_: job.Done(run_of_nothing(), True, 0, ()))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        assert run(tmp_path) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert "File too large" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def run_of_nothing() -> Run:
    return Run("0", (), (None, None), "", 0, 0, ())


@pytest.mark.parametrize(
    ("sizes_mb", "tasks"),
    [([1], 1), ([5] * 6, 1), ([100], 2), ([1000], 16), ([2000], 32), ([4000], 21), ([16_000], 63), ([64_000], 250)],
)
def test_tasks_grow_before_they_become_more(sizes_mb: list[int], tasks: int) -> None:
    verdict = Verdict((), 0, 0)
    sizes = enumerate(size << 20 for size in sizes_mb)
    sources = [SourceFile(f"{number}.log", "a", "", verdict, "", size, True, 0, None, b"") for number, size in sizes]
    bins = pack_splits(sources)
    assert len(bins) == tasks
    read = [(split.source.name, split.start) for one in bins for split in one]
    assert read == [(source.name, start) for source in sources for start in range(0, source.size_bytes, SPLIT_BYTES)]
