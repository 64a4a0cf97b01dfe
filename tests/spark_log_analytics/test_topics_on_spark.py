"""Spark reads topics with the scanner's own code: the rows equal those of the shipped files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.topics.address import parse_topics
from eosctl.logs.topics.plan import scan_topics
from eosctl.model.period import Period
from eosctl.testing import SandboxThread
from tests.logs.partitions import expected, lines_of, without_place
from tests.logs.results import json_rows
from tests.logs.shipping import create, ship
from tests.spark_log_analytics.scans import scan_on_spark

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def cluster() -> Iterator[SandboxThread]:
    with SandboxThread() as running:
        reached = {"bootstrap.servers": running.bootstrap}
        create(reached, "lines")
        ship(reached, "lines", lines_of(), "Vector")
        yield running


def test_the_job_gives_the_rows_of_one_process(cluster: SandboxThread, spark: Any) -> None:
    topics = parse_topics(f"kafka://{cluster.bootstrap}/lines")
    assert scan_on_spark(spark, [], [topics]) == scan_topics(topics)


def test_the_submitted_job_reads_a_topic(cluster: SandboxThread, spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    out = tmp_path / "out"
    assert main([f"kafka://{cluster.bootstrap}/lines", "--out", str(out), "--format", "json"]) == 0
    found = json.loads((out / "incidents.json").read_text())
    assert "poison-record" in {one["root_cause"] for one in found}
    assert main([f"kafka://{cluster.bootstrap}/missing", "--out", str(out)]) == 1


def test_the_submitted_job_reports_a_period(cluster: SandboxThread, spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    url, everything = f"kafka://{cluster.bootstrap}/lines", expected()
    moments = sorted({event.time_ms for event in everything if event.time_ms is not None})
    period = Period(moments[len(moments) // 3], moments[2 * len(moments) // 3])
    told = ["--from-ms", str(period.from_ms), "--until-ms", str(period.until_ms), "--format", "json"]
    # What was shipped now is far away from the time of its events.
    assert main([f"{url}?start=earliest&end=latest", "--out", str(tmp_path), *told]) == 0
    rows = json_rows(tmp_path, "events")
    wanted = [event.line - 1 for event in everything if period.holds(event.time_ms)]
    assert sorted(row["byte_offset"] for row in rows) == wanted
    assert 0 < len(wanted) < len(everything)


def test_the_data_source_gives_the_rows_of_the_file(cluster: SandboxThread, spark: Any) -> None:
    from spark_log_analytics.rows import event_of
    from spark_log_analytics.topics.datasource import register

    register(spark)
    reader = spark.read.format("eos_logs_kafka").option("kafka.bootstrap.servers", cluster.bootstrap)
    frame = reader.option("subscribe", "lines").option("maxRecordsPerPartition", "400").load()
    rows = sorted((event_of(row.asDict(recursive=True)) for row in frame.collect()), key=lambda one: one.offset)
    assert without_place(rows) == without_place(expected())
    assert [row.offset for row in rows] == [event.line - 1 for event in expected()]
