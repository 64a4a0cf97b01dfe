"""Spark gives the rows of the scanner, with any splits."""

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

import pytest

from eosctl.logs.scan import plan_scan, scan_paths
from eosctl.services.log_findings import judge_scan
from spark_log_analytics.archive import build_archive
from tests.logs.results import json_rows
from tests.spark_log_analytics.scans import listed_on_spark, scan_on_spark

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
POISON = FIXTURES / "poison-record-392"
PAUSED = FIXTURES / "paused-process-431"

LAYOUT_MIX = (
    "2026-11-21 09:31:14,789 INFO [MainThread] sync: starting, transactional.id=a-1\n"
    "%1|1795253482.658|TXNERR|sync#producer-2| [thrd:main]: Fatal transaction error: x (_FENCED)\n"
    "2026-11-21 09:31:22,658 ERROR [MainThread] sync: failed\nTraceback (most recent call last):\n"
    '  File "a.py", line 3, in f\n    g()\ncimpl.KafkaException: fenced\n'
)


@pytest.mark.parametrize("split_bytes", [7_001, 1 << 26])
def test_any_split_gives_the_rows_of_the_scanner(split_bytes: int, spark: Any) -> None:
    assert scan_on_spark(spark, [POISON], split_bytes=split_bytes) == scan_paths([POISON])


def test_splits_of_a_few_bytes_give_the_rows_of_the_scanner(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "sync.log"
    path.write_text(LAYOUT_MIX)
    assert scan_on_spark(spark, [path], split_bytes=37) == scan_paths([path])


@contextmanager
def largest_result(spark: Any, size: str) -> Iterator[None]:
    """Limit what a job may send to the driver; Spark reads the limit when a stage starts."""
    settings, name = spark.sparkContext._jsc.sc().conf(), "spark.driver.maxResultSize"
    settings.set(name, size)
    try:
        yield
    finally:
        settings.remove(name)


def test_events_beyond_one_result_are_listed(spark: Any) -> None:
    """In one result they are too large for the driver, so the same scan fails there."""
    folder = FIXTURES / "rolling-restart-392"
    with largest_result(spark, "512k"):
        assert listed_on_spark(spark, [folder]).events == scan_paths([folder]).events
        with pytest.raises(Exception, match="maxResultSize"):
            scan_on_spark(spark, [folder], split_bytes=30_000)


def test_a_list_of_some_events_has_the_verdict_on_all(spark: Any) -> None:
    whole = judge_scan(scan_paths([POISON]))
    rare = min(whole.totals.by_category, key=lambda category: whole.totals.by_category[category])
    found = listed_on_spark(spark, [POISON], frozenset({rare}))
    assert found.events == tuple(event for event in whole.events if event.category == rare)
    assert found.incidents == whole.incidents


def test_the_data_source_gives_the_events_of_the_scanner(spark: Any) -> None:
    from spark_log_analytics.datasource import register
    from spark_log_analytics.rows import event_of

    register(spark)
    frame = spark.read.format("eos_logs").option("split_bytes", "30000").load(str(POISON))
    events = sorted(
        (event_of(row.asDict(recursive=True)) for row in frame.collect()), key=lambda one: (one.file, one.offset)
    )
    assert events == sorted(scan_paths([POISON]).events, key=lambda one: (one.file, one.offset))


def test_a_timeline_counts_exceptions_by_minute_and_root(spark: Any) -> None:
    from spark_log_analytics.job import (
        collect_counts,
        exception_timeline,
        new_failures,
        number_rows,
        scan_frame,
    )

    sources, _ = plan_scan([POISON])
    scanned = scan_frame(spark, sources).persist()
    events = number_rows(scanned, collect_counts(scanned)).persist()
    rows = [row.asDict() for row in exception_timeline(events).collect()]
    expected = [event for event in scan_paths([POISON]).events if event.exception]
    assert sum(row["event_count"] for row in rows) == len(expected)
    assert {row["root_class"] for row in rows} == {event.exception.root_class for event in expected if event.exception}
    first = new_failures(events, events.where("offset < 100000")).collect()
    assert [row["event_count"] for row in first] == []


def test_a_task_gets_only_its_own_files(spark: Any, tmp_path: Path) -> None:
    from pyspark.cloudpickle import dumps
    from pyspark.sql import functions as f

    from spark_log_analytics.job import _row_scanner, collect_scan, pack_splits, plan_reading, scan_frame
    from spark_log_analytics.split_rows import FEW_FILES, shapes_of, split_frame

    line = "[2026-11-26 10:00:00,{:03d}] ERROR failed {} (a.B)\n"
    for number in range(FEW_FILES + 20):
        (tmp_path / f"server.log.{number}").write_text(line.format(number, number) * 2)
    reading = plan_reading([tmp_path])
    bins = pack_splits(reading.sources, 300_000)
    shapes = shapes_of(bins)
    rows = split_frame(spark, bins, shapes).select(f.spark_partition_id().alias("part"), "bin").collect()
    assert {row.bin for row in rows} == set(range(len(bins)))
    assert len({row.part for row in rows}) == len(bins) > 4
    assert len(dumps(_row_scanner(shapes))) < 8192
    batches = scan_frame(spark, reading.sources, 70).toArrow().to_batches()
    here = scan_paths([tmp_path])
    assert collect_scan(reading, batches) == here
    assert len(here.events) == 2 * (FEW_FILES + 20)


def test_the_command_returns_the_same_on_spark() -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("java is missing (Debian: default-jre-headless)")

    def scan(engine: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "eosctl", "logs", "scan", str(PAUSED), "--engine", engine, "-o", "tsv"]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    here, there = scan("python"), scan("spark")
    assert there.stdout == here.stdout != ""
    assert list(without_broken_pipe(there.stderr)) == here.stderr.splitlines()


def without_broken_pipe(stderr: str) -> Iterator[str]:
    """Remove output that no setting silences: the JVM names a module, and a worker that outlives it cannot flush."""
    in_block = False
    for line in stderr.splitlines():
        starts = line.startswith("Exception ignored in: <_io.BufferedWriter")
        in_block = starts or (in_block and not line.startswith("BrokenPipeError"))
        if not in_block and not line.startswith("BrokenPipeError") and "incubator modules" not in line:
            yield line


def test_the_job_runs_under_spark_submit_from_its_archive(tmp_path: Path) -> None:
    pyspark = pytest.importorskip("pyspark", reason="the spark extra is not installed")
    if shutil.which("java") is None:
        pytest.skip("java is missing (Debian: default-jre-headless)")
    archive = build_archive(tmp_path / "eosctl_logs.zip")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    main = FIXTURES.parents[2] / "spark_log_analytics" / "main.py"
    command = [str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--py-files", str(archive)]
    command += ["--driver-java-options", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"]
    command += [str(main), str(FIXTURES / "second-producer-392"), "--out", str(tmp_path / "out"), "--format", "json"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    incidents = json.loads((tmp_path / "out" / "incidents.json").read_text())
    assert [one["root_cause"] for one in incidents] == ["duplicate-transactional-id"] * 3
    assert len(json_rows(tmp_path / "out", "events")) == len(scan_paths([FIXTURES / "second-producer-392"]).events)


def test_the_job_counts_exceptions_and_lists_new_ones(spark: Any, tmp_path: Path) -> None:
    """The baseline has one file of several; the job's result, compared with itself, has no new exceptions."""
    from spark_log_analytics.main import main

    expected = [event for event in scan_paths([PAUSED]).events if event.exception]
    early = Path(min(event.file for event in expected))
    of_all = {event.exception.fingerprint for event in expected if event.exception}
    known = {event.exception.fingerprint for event in scan_paths([early]).events if event.exception}
    assert known < of_all
    before, now = tmp_path / "before", tmp_path / "now"
    assert main([str(early), "--out", str(before), "--format", "json"]) == 0
    for baseline in (before, now):
        assert main([str(PAUSED), "--out", str(now), "--format", "json", "--baseline", str(baseline)]) == 0
        counted, new = (json_rows(now, table) for table in ("exceptions", "new_failures"))
        assert sum(row["event_count"] for row in counted) == len(expected)
        assert {row["fingerprint"] for row in new} == (of_all - known if baseline == before else set())


def test_the_archive_has_everything_that_the_scan_needs(tmp_path: Path) -> None:
    archive = build_archive(tmp_path / "eosctl_logs.zip")
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from pathlib import Path\n"
        "from eosctl.logs.scan import scan_paths\n"
        "from eosctl.logs.incidents.judge import judge_incidents\n"
        f"scan = scan_paths([Path({str(FIXTURES / 'second-producer-392')!r})])\n"
        "print(len(judge_incidents(scan.events, scan.sources)))\n"
    )
    # -S leaves out every installed package: the scanner and the judge need the standard library alone.
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_no_module_hides_one_of_pythons_own() -> None:
    """spark-submit puts the folder of main.py in front of the path: ``import compression`` must not find ours there."""
    own = {path.stem for path in (FIXTURES.parents[2] / "spark_log_analytics").iterdir()}
    assert not own & (sys.stdlib_module_names | {"annotationlib", "compression"})  # the last two are new in 3.14


def test_local_workers_import_the_installed_package(spark: Any) -> None:
    def report(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyspark

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"file": [pyspark.__file__]})

    pyspark = pytest.importorskip("pyspark", reason="the spark extra is not installed")
    [row] = spark.range(0, 1, 1, 1).mapInArrow(report, "file string").collect()
    assert row["file"] == pyspark.__file__


def test_lists_beyond_the_memory_are_refused(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_log_analytics import listing

    monkeypatch.setattr(listing, "EVENT_BYTES", 1 << 40)
    with pytest.raises(listing.TooManyEventsError, match="more than the memory"):
        listed_on_spark(spark, [FIXTURES / "poll-interval-392"])
