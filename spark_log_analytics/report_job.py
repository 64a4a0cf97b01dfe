"""Read logs for a report: few events reach the driver, and more are judged and counted where they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.files.inputs import Opened
from eosctl.logs.layouts import Layout
from eosctl.logs.scan import SPLIT_BYTES, LogScan, as_named
from eosctl.logs.topics.address import Topics
from eosctl.model.log_event import LogEvent
from eosctl.model.period import ALL_TIME, Period
from spark_log_analytics.job import (
    SMALL_FILE_EVENTS,
    Reading,
    collect_counts,
    collect_scan,
    number_rows,
    plan_reading,
    scan_frame,
)
from spark_log_analytics.report_tables import TableReport, report_tables
from spark_log_analytics.rows import CountedSplit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLLECTED_EVENTS: Final = SMALL_FILE_EVENTS
"""The number of events that the driver takes; the tables of a report cost more than so few events."""


class Input(NamedTuple):
    """Files and topics to read."""

    opened: Opened
    topics: Sequence[Topics]


class ReportRequest(NamedTuple):
    """What a report is made of.

    Attributes:
        logs: The logs.
        baseline: Logs of a healthy period; None without a comparison.
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
        period: The time that matters.
        split_bytes: The number of bytes that a task reads.
        collected_events: The number of events up to which the driver gets them all.
    """

    logs: Input
    baseline: Input | None = None
    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()
    period: Period = ALL_TIME
    split_bytes: int = SPLIT_BYTES
    collected_events: int = COLLECTED_EVENTS


class SparkReport(NamedTuple):
    """The result of a scan for a report.

    Attributes:
        scan: The scan; without events if they are many.
        usual: The events of the baseline, if they are few and there is one.
        tables: The report of many events; None for few.
    """

    scan: LogScan
    usual: Sequence[LogEvent] | None
    tables: TableReport | None


class _Counted(NamedTuple):
    """An input after its first pass.

    Attributes:
        reading: The files and topics.
        opened: The names of the files.
        rows: The cached rows of its scan; None without anything to read.
        splits: The counts of its splits.
    """

    reading: Reading
    opened: Opened
    rows: DataFrame | None
    splits: Sequence[CountedSplit]

    @property
    def event_count(self) -> int:
        return sum(split.kept_count for split in self.splits)

    def without_events(self) -> LogScan:
        """Return the scan without its events."""
        return as_named(LogScan((), self.reading.summarize(self.splits), self.reading.unread), self.opened)

    def collected(self) -> LogScan:
        """Return the scan with its events, which must be few."""
        if self.rows is None:
            return self.without_events()
        return as_named(collect_scan(self.reading, self.rows.toArrow().to_batches()), self.opened)

    def events(self) -> DataFrame | None:
        """Return the events, with lines and names as they are reported."""
        if self.rows is None:
            return None
        return number_rows(self.rows, self.splits, self.opened.name_of if self.opened.names else None)


def report_on_spark(spark: SparkSession, request: ReportRequest) -> SparkReport:
    """Read logs, and report on them.

    Raises:
        TopicError: A topic cannot be read.
    """
    with ExitStack() as cached:
        logs = _counted(spark, request, request.logs, request.period, cached)
        usual = None if request.baseline is None else _counted(spark, request, request.baseline, ALL_TIME, cached)
        most = max(one.event_count for one in (logs, usual) if one is not None)
        events = logs.events()
        if events is None or most <= request.collected_events:
            return SparkReport(logs.collected(), None if usual is None else usual.collected().events, None)
        scan = logs.without_events()
        baseline = events.limit(0) if usual is not None and usual.rows is None else usual and usual.events()
        tables = report_tables(events, scan.sources, logs.event_count, request.period, baseline)
        return SparkReport(scan, None, tables)


def _counted(spark: SparkSession, request: ReportRequest, wanted: Input, period: Period, cached: ExitStack) -> _Counted:
    reading = plan_reading([*wanted.opened.paths, *wanted.topics], request.zone, request.layouts, period)
    if not reading.sources and not reading.parts:
        return _Counted(reading, wanted.opened, None, ())
    rows = scan_frame(spark, reading.sources, request.split_bytes, reading.parts).persist()
    cached.callback(rows.unpersist)
    return _Counted(reading, wanted.opened, rows, collect_counts(rows))
