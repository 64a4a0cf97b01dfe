"""Reports on Spark: what the tables of many events show equals the report of one process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.digest.digest import digest_events
from eosctl.logs.files.inputs import opened_inputs
from eosctl.logs.scan import as_named, scan_paths
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_findings import LogFindings
from eosctl.model.log_totals import Activity
from eosctl.model.period import ALL_TIME, Period
from eosctl.services.log_findings import judge_scan, judge_tables
from tests.logs.results import json_rows
from tests.logs.test_seams import BEFORE, BEHIND, CUT, parts

pytestmark = pytest.mark.spark

FIXTURES = Path(__file__).parents[1] / "fixtures" / "logs"
FAULTS = [FIXTURES / "paused-process-431", FIXTURES / "poison-record-392"]
USUAL = [FIXTURES / "second-producer-392"]


def on_spark(
    spark: Any, paths: Sequence[Path], baseline: Sequence[Path] | None = None, period: Period = ALL_TIME, most: int = 0
) -> tuple[LogFindings, LogDigest]:
    """Report on Spark; with ``most`` 0, no events reach the driver."""
    from spark_log_analytics.report_job import Input, ReportRequest, report_on_spark

    with opened_inputs(paths) as opened, opened_inputs(baseline or ()) as usual:
        compared = None if baseline is None else Input(usual, ())
        request = ReportRequest(
            logs=Input(opened, ()), baseline=compared, period=period, split_bytes=300_000, collected_events=most
        )
        report = report_on_spark(spark, request)
    if report.tables is not None:
        assert report.digest is not None
        return judge_tables(report.tables, report.scan.unread), report.digest
    findings = judge_scan(report.scan, period)
    return findings, digest_events(findings.events, report.usual)


def in_process(
    paths: Sequence[Path], baseline: Sequence[Path] | None = None, period: Period = ALL_TIME
) -> tuple[LogFindings, LogDigest]:
    with opened_inputs(paths) as opened:
        findings = judge_scan(as_named(scan_paths(opened.paths), opened), period)
    usual = None if baseline is None else scan_paths(baseline).events
    return findings, digest_events(findings.events, usual)


def without_lists(findings: LogFindings) -> LogFindings:
    """Return findings without the lists of events, which Spark leaves on the executors."""
    activity = findings.activity and findings.activity._replace(moments=())
    return findings._replace(events=(), activity=activity, overcome=None)


def test_tables_give_the_report_of_one_process(spark: Any) -> None:
    there, digest = on_spark(spark, FAULTS, USUAL)
    here, expected = in_process(FAULTS, USUAL)
    assert without_lists(there) == without_lists(here)
    assert digest == expected
    evidence = {(one.file, one.offset) for incident in here.incidents for one in incident.evidence}
    assert 0 < len(there.events) < len(here.events)
    assert list(there.events) == [event for event in here.events if event in there.events]
    assert all((event.file, event.offset) in evidence for event in there.events)
    assert there.activity is not None and here.activity is not None
    for name in here.activity.lanes:
        assert _problems(there.activity, name) == _problems(here.activity, name)


def _problems(activity: Activity, application: str) -> int:
    return sum(one.problem_count for one in activity.moments if one.application == application)


def test_a_period_is_reported_with_earlier_causes(spark: Any) -> None:
    whole, _ = in_process(FAULTS)
    times = sorted(event.time_ms for event in whole.events if event.time_ms is not None)
    period = Period(times[len(times) // 3], times[len(times) * 2 // 3])
    there, digest = on_spark(spark, FAULTS, period=period)
    here, expected = in_process(FAULTS, period=period)
    assert without_lists(there) == without_lists(here)
    assert digest == expected


def test_few_events_are_reported_by_the_same_code(spark: Any) -> None:
    assert on_spark(spark, FAULTS, USUAL, most=1_000_000) == in_process(FAULTS, USUAL)


@pytest.mark.parametrize("most", [0, 1_000])
def test_a_record_that_rotation_cut_is_one(spark: Any, tmp_path: Path, most: int) -> None:
    paths = parts(tmp_path, BEFORE + CUT[:100], CUT[100:] + BEHIND)
    there, digest = on_spark(spark, paths, most=most)
    here, expected = in_process(paths)
    assert {event.category for event in here.events} >= {"PRODUCER_FENCED"}
    assert without_lists(there) == without_lists(here)
    assert digest == expected


def test_a_cut_record_is_one_row_of_the_tables(spark: Any, tmp_path: Path) -> None:
    from spark_log_analytics.main import main

    paths = parts(tmp_path, BEFORE + CUT[:100], CUT[100:] + BEHIND)
    out = tmp_path / "out"
    assert main([*map(str, paths), "--out", str(out), "--format", "json"]) == 0
    found = sorted((Path(row["file"]).name, row["byte_offset"]) for row in json_rows(out, "events"))
    assert found == sorted((Path(event.file).name, event.offset) for event in scan_paths(paths).events)
