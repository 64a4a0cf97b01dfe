"""Read logs for a report or a list: few events reach the driver, and more are judged and counted where they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import tzinfo
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.files.inputs import Opened
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.scan import SPLIT_BYTES, LogScan, as_named
from eosctl.logs.topics.address import Topics
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_event import LogEvent
from eosctl.model.period import ALL_TIME, Period
from spark_log_analytics.job import (
    SMALL_FILE_EVENTS,
    Reading,
    collect_counts,
    collect_scan,
    in_period,
    plan_reading,
    scan_frame,
    whole_rows,
)
from spark_log_analytics.listing import list_events
from spark_log_analytics.report_tables import TableReport, digest_tables, report_tables
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
        listed: The categories whose events are listed, none for all; None for a digest of the messages instead.
    """

    logs: Input
    baseline: Input | None = None
    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()
    period: Period = ALL_TIME
    split_bytes: int = SPLIT_BYTES
    collected_events: int = COLLECTED_EVENTS
    listed: frozenset[str] | None = None


class SparkReport(NamedTuple):
    """The result of a scan for a report.

    Attributes:
        scan: The scan; without events if they are many.
        usual: The events of the baseline, if they are few and there is one.
        tables: The verdict on many events; None for few. Its events are those of a list, if one is wanted.
        digest: The digest of many events; None for few, and for a list.
    """

    scan: LogScan
    usual: Sequence[LogEvent] | None
    tables: TableReport | None = None
    digest: LogDigest | None = None


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
        name_of = self.opened.name_of if self.opened.names else None
        return whole_rows(self.rows, self.reading, self.splits, name_of)


def report_on_spark(spark: SparkSession, request: ReportRequest) -> SparkReport:
    """Read logs, and report on them.

    Raises:
        TopicError: A topic cannot be read.
        TooManyEventsError: This process cannot hold the events of a list.
    """
    with ExitStack() as cached:
        logs = _counted(spark, request, request.logs, request.period, cached)
        usual = None if request.baseline is None else _counted(spark, request, request.baseline, ALL_TIME, cached)
        most = max(one.event_count for one in (logs, usual) if one is not None)
        events = logs.events()
        if events is None or most <= request.collected_events:
            return SparkReport(logs.collected(), None if usual is None else usual.collected().events)
        scan = logs.without_events()
        tables = report_tables(events, scan.sources, logs.event_count, request.period)
        if request.listed is not None:
            listed = list_events(events, scan.sources, request.period, request.listed)
            return SparkReport(scan, None, tables._replace(events=listed))
        baseline = events.limit(0) if usual is not None and usual.rows is None else usual and usual.events()
        digest = digest_tables(in_period(events, request.period), tables.totals, baseline)
        return SparkReport(scan, None, tables, digest)


def _counted(spark: SparkSession, request: ReportRequest, wanted: Input, period: Period, cached: ExitStack) -> _Counted:
    reading = plan_reading([*wanted.opened.paths, *wanted.topics], request.zone, request.layouts, period)
    if not reading.sources and not reading.parts:
        return _Counted(reading, wanted.opened, None, ())
    rows = scan_frame(spark, reading.sources, request.split_bytes, reading.parts).persist()
    cached.callback(rows.unpersist)
    return _Counted(reading, wanted.opened, rows, collect_counts(rows))
