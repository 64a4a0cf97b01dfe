"""Read logs of brokers and applications into events and incidents, in this process or on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.errors import ExitCode
from eosctl.logs.digest.digest import digest_events
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_findings import LogFindings, SkippedFile
from eosctl.model.period import ALL_TIME, Period
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connection import Connection
from eosctl.services.log_categories import check_categories
from eosctl.services.log_engine import EngineChoice, spark_session, takes_spark
from eosctl.services.log_findings import judge_scan, judge_tables
from eosctl.services.log_format import find_zone, layouts_of
from eosctl.services.log_places import files_and_topics, reading_topics

if TYPE_CHECKING:
    from eosctl.logs.scan import LogScan


class MineRequest(msgspec.Struct, frozen=True):
    """The logs to read, and how.

    Attributes:
        paths: Log files, folders of them, and topics (``kafka://HOST:PORT/TOPIC``); compressed files are read too.
        connection: How topics are reached; the address in a path goes first.
        zone: The zone of time stamps that have none, e.g. ``Europe/Berlin``; None for UTC, marked as assumed.
        pattern: The log4j or logback pattern of the files; None for the layouts that are recognized.
        engine: What reads the files; the result is the same.
        period: The time that matters.
        categories: The categories to keep events of; ``()`` for all.
    """

    paths: tuple[Path, ...]
    connection: Connection = Connection()
    zone: str | None = None
    pattern: str | None = None
    engine: EngineChoice = EngineChoice.AUTO
    period: Period = ALL_TIME
    categories: tuple[str, ...] = ()


class Mined(NamedTuple):
    """What logs hold.

    Attributes:
        findings: The events, the incidents with their causes, and what was not read or not understood.
        far_away: Files whose records lie far from the period; empty if any event was found.
        exit_code: 4 where a file could not be read to its end, or no log record was recognized; else 0.
    """

    findings: LogFindings
    far_away: tuple[SkippedFile, ...]
    exit_code: ExitCode


class MinedReport(NamedTuple):
    """What logs hold, and a digest of their messages: which are frequent, and which the baseline does not have."""

    mined: Mined
    digest: LogDigest


def mine_logs(request: MineRequest, callbacks: Callbacks = SILENT) -> Mined:
    """Read logs into events, and judge them.

    Args:
        request: The logs.
        callbacks: Called while the logs are read.

    Raises:
        UsageError: A file, a zone, a pattern, or a category does not exist, or topics are not named correctly.
        EosctlError: The topics cannot be read, or Spark was chosen and cannot be used.
    """
    wanted = check_categories(request.categories)
    mined = _mined(judge_scan(_scan(request, callbacks), request.period), request)
    if not wanted:
        return mined
    events = tuple(event for event in mined.findings.events if event.category in wanted)
    return mined._replace(findings=mined.findings._replace(events=events))


def _mined(findings: LogFindings, request: MineRequest) -> Mined:
    from eosctl.logs.topics.address import is_topic_url
    from eosctl.logs.topics.plan import FAR_AWAY

    has_events = findings.totals.event_count > 0
    far_away = () if has_events else tuple(one for one in findings.skipped if one.reason == FAR_AWAY)
    # A topic may have no records, but a file of logs holds some.
    is_unread = not findings.has_records and not all(is_topic_url(path) for path in request.paths)
    exit_code = ExitCode.INCOMPLETE if is_unread or not findings.is_complete else ExitCode.DONE
    return Mined(findings, far_away, exit_code)


def report_logs(
    request: MineRequest, baseline: Sequence[Path] | None = None, callbacks: Callbacks = SILENT
) -> MinedReport:
    """Read logs, and compare their messages with those of a time when all was well.

    Args:
        request: The logs.
        baseline: Logs of that time, of any period; None without a comparison.
        callbacks: Called while the logs are read.

    Raises:
        EosctlError: As `mine_logs`.
    """
    files, _ = files_and_topics(request.paths, request.connection, callbacks.remark)
    if takes_spark(request.engine, [*files, *(baseline or ())], callbacks.remark):
        return _report_on_spark(request, baseline, callbacks)
    here = replace(request, engine=EngineChoice.PYTHON)
    mined = mine_logs(here, callbacks)
    usual = None
    if baseline is not None:
        before = replace(here, paths=tuple(baseline), period=ALL_TIME)
        usual = mine_logs(before, callbacks).findings.events
    return MinedReport(mined, digest_events(mined.findings.events, usual))


def _report_on_spark(request: MineRequest, baseline: Sequence[Path] | None, callbacks: Callbacks) -> MinedReport:
    """Report on Spark; the events of a large input stay on the executors."""
    from eosctl.logs.files.inputs import opened_inputs

    zone, layouts = find_zone(request.zone), layouts_of(request.pattern)
    paths, topics = files_and_topics(request.paths, request.connection, callbacks.remark)
    before, past = files_and_topics(tuple(baseline or ()), request.connection, callbacks.remark)
    with (
        opened_inputs(paths, callbacks.progress) as opened,
        opened_inputs(before, callbacks.progress) as usual,
        spark_session(callbacks.remark) as spark,
        reading_topics(),
    ):
        from spark_log_analytics.report_job import Input, ReportRequest, report_on_spark

        report = report_on_spark(
            spark,
            ReportRequest(
                logs=Input(opened, topics),
                baseline=None if baseline is None else Input(usual, past),
                zone=zone,
                layouts=layouts,
                period=request.period,
            ),
        )
    if report.tables is None:
        mined = _mined(judge_scan(report.scan, request.period), request)
        return MinedReport(mined, digest_events(mined.findings.events, report.usual))
    return MinedReport(_mined(judge_tables(report.tables, report.scan.unread), request), report.tables.digest)


def _scan(request: MineRequest, callbacks: Callbacks) -> LogScan:
    from eosctl.logs.files.inputs import opened_inputs
    from eosctl.logs.scan import as_named, join_scans, scan_paths
    from eosctl.logs.topics.address import around
    from eosctl.logs.topics.plan import scan_topics

    zone, layouts = find_zone(request.zone), layouts_of(request.pattern)
    files, topics = files_and_topics(request.paths, request.connection, callbacks.remark)
    if takes_spark(request.engine, files, callbacks.remark):
        with (
            opened_inputs(files, callbacks.progress) as opened,
            spark_session(callbacks.remark) as spark,
            reading_topics(),
        ):
            from spark_log_analytics.job import scan_on_spark

            scan = scan_on_spark(spark, [*opened.paths, *topics], zone, layouts, period=request.period)
            return as_named(scan, opened)
    scan = scan_paths(files, zone, layouts, callbacks.progress)
    if not topics:
        return scan
    wanted = [around(one, request.period) for one in topics]
    with reading_topics():
        return join_scans([scan, *(scan_topics(one, zone, layouts, callbacks.progress) for one in wanted)])
