"""Incidents as a Spark table equal those of the scanner's events, with any splits."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from tests.logs.results import json_rows

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
STORIES = ("below-min-isr-392", "hanging-transaction-392", "poll-interval-392")
"""Scenarios with lists in subjects, a file without timestamps, and an application that no broker names."""


@pytest.mark.parametrize("name", STORIES)
def test_the_table_of_incidents_equals_the_scanners(name: str, spark: Any) -> None:
    from eosctl.logs.scan import plan_scan
    from spark_log_analytics.incidents import INCIDENT_COLUMNS, incident_of, incidents
    from spark_log_analytics.job import collect_counts, number_rows, scan_frame

    scan = scan_paths([FIXTURES / name])
    sources, _ = plan_scan([FIXTURES / name])
    rows = scan_frame(spark, sources, split_bytes=200_000).persist()
    table = incidents(number_rows(rows, collect_counts(rows)), scan.sources)
    assert table.schema == spark.createDataFrame([], INCIDENT_COLUMNS).schema
    found = tuple(incident_of(row.asDict(recursive=True)) for row in table.collect())
    rows.unpersist()
    assert found == judge_incidents(scan.events, scan.sources)
    assert found


def test_without_events_there_are_no_incidents(spark: Any) -> None:
    from spark_log_analytics.incidents import incidents
    from spark_log_analytics.rows import EVENT_COLUMNS

    assert incidents(spark.createDataFrame([], EVENT_COLUMNS)).collect() == []


def test_the_job_writes_its_verdict_as_a_table_too(spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    assert main([str(FIXTURES / "below-min-isr-392"), "--out", str(tmp_path), "--format", "json"]) == 0
    reported = json.loads((tmp_path / "incidents.json").read_text())
    rows = json_rows(tmp_path, "incidents")
    assert [(one["kind"], _ms(one["started_at"]), one["evidence_count"]) for one in rows] == [
        (one["kind"], one["t_start_ms"], len(one["evidence"])) for one in reported
    ]
    places = [(one["file"], one["byte_offset"], one["line"]) for one in json_rows(tmp_path, "evidence")]
    assert sorted(places) == sorted(tuple(place.values()) for one in reported for place in one["evidence"])
    # The table has a list for every name, the file for those that are about several.
    subject = {name: [value] if isinstance(value, str) else value for name, value in reported[0]["subject"].items()}
    assert subject == rows[0]["subject"]


def _ms(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * 1000)


HERE = """
import sys
from eosctl.cli import main
sys.exit(main(["logs", "report", sys.argv[1], "--engine", "spark", "-o", "json"]))
"""


def test_workers_take_no_module_of_the_current_directory(tmp_path: Path) -> None:
    for name in ("zipfile.py", "socket.py", "pyarrow.py"):
        (tmp_path / name).write_text("raise ImportError('a module of the current directory ran')\n")
    log = Path(__file__).parents[1] / "fixtures" / "logs" / "second-producer-392"
    done = subprocess.run(
        [sys.executable, "-P", "-c", HERE, str(log)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "a module of the current directory ran" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["incidents"]
