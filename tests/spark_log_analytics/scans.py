"""Scans and lists of events on Spark, as the commands make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eosctl.logs.files.inputs import opened_inputs
from eosctl.logs.scan import SPLIT_BYTES, LogScan
from eosctl.logs.topics.address import Topics
from eosctl.model.log_findings import LogFindings
from eosctl.model.period import ALL_TIME, Period
from eosctl.services.log_findings import judge_tables


def scan_on_spark(
    spark: Any, paths: Sequence[Path], topics: Sequence[Topics] = (), split_bytes: int = SPLIT_BYTES
) -> LogScan:
    """Scan, and let the driver have all events."""
    from spark_log_analytics.report_job import Input, ReportRequest, report_on_spark

    with opened_inputs(paths) as opened:
        request = ReportRequest(Input(opened, topics), split_bytes=split_bytes, collected_events=1_000_000)
        return report_on_spark(spark, request).scan


def listed_on_spark(
    spark: Any, paths: Sequence[Path], categories: frozenset[str] = frozenset(), period: Period = ALL_TIME
) -> LogFindings:
    """List events as of an input that is too large for the driver."""
    from spark_log_analytics.report_job import Input, ReportRequest, report_on_spark

    with opened_inputs(paths) as opened:
        request = ReportRequest(
            Input(opened, ()), period=period, split_bytes=30_000, collected_events=0, listed=categories
        )
        report = report_on_spark(spark, request)
    assert report.tables is not None
    return judge_tables(report.tables, report.scan.unread)
