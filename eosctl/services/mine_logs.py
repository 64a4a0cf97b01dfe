"""Read logs of brokers and applications into events and incidents, in this process or on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from eosctl.errors import ExitCode
from eosctl.findings.log_reading import outside_of
from eosctl.logs.digest.digest import digest_events
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_findings import LogFindings, Recognition, SkippedFile
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
    from eosctl.logs.topics.address import Topics
    from spark_log_analytics.report_job import SparkReport

Places: TypeAlias = "tuple[list[Path], list[Topics]]"
"""Files and topics."""


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
        exit_code: 4 where a file could not be read to its end, or no log record was recognized in any file or in one
            that was named, or lies in the period; else 0.
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
    places = files_and_topics(request.paths, request.connection, callbacks.remark)
    if takes_spark(request.engine, places[0], callbacks.remark):
        findings = _findings(_read_on_spark(request, places, callbacks, listed=wanted), request.period)
    else:
        findings = judge_scan(_scan(request, places, callbacks), request.period)
    mined = _mined(findings, request)
    if not wanted:
        return mined
    events = tuple(event for event in mined.findings.events if event.category in wanted)
    return mined._replace(findings=mined.findings._replace(events=events))


def _mined(findings: LogFindings, request: MineRequest) -> Mined:
    from eosctl.logs.topics.address import is_topic_url
    from eosctl.logs.topics.plan import FAR_AWAY

    has_topics_alone = all(is_topic_url(path) for path in request.paths)
    if not has_topics_alone and (outside := outside_of(findings, request.period)):
        findings = findings._replace(skipped=(*findings.skipped, outside))
    has_events = findings.totals.event_count > 0
    far_away = () if has_events else tuple(one for one in findings.skipped if one.reason == FAR_AWAY)
    is_unread = not findings.has_records and not has_topics_alone
    # A folder also holds files that are not logs; one that was named should be.
    named = {str(path) for path in request.paths}
    is_unread |= any(one.recognition is Recognition.NONE and one.file in named for one in findings.coverage)
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
    places = files_and_topics(request.paths, request.connection, callbacks.remark)
    if takes_spark(request.engine, [*places[0], *(baseline or ())], callbacks.remark):
        report = _read_on_spark(request, places, callbacks, baseline)
        mined = _mined(_findings(report, request.period), request)
        return MinedReport(mined, report.digest or digest_events(mined.findings.events, report.usual))
    mined = _mined(judge_scan(_scan(request, places, callbacks), request.period), request)
    usual = None
    if baseline is not None:
        before = files_and_topics(tuple(baseline), request.connection, callbacks.remark)
        usual = _scan(replace(request, period=ALL_TIME), before, callbacks).events
    return MinedReport(mined, digest_events(mined.findings.events, usual))


def _read_on_spark(
    request: MineRequest,
    places: Places,
    callbacks: Callbacks,
    baseline: Sequence[Path] | None = None,
    listed: frozenset[str] | None = None,
) -> SparkReport:
    """Read logs on Spark; of a large input, only the listed events leave the executors."""
    from eosctl.logs.files.inputs import opened_inputs

    zone, layouts = find_zone(request.zone), layouts_of(request.pattern)
    paths, topics = places
    before, past = files_and_topics(tuple(baseline or ()), request.connection, callbacks.remark)
    with (
        opened_inputs(paths, callbacks.progress) as opened,
        opened_inputs(before, callbacks.progress) as usual,
        spark_session(callbacks.remark) as spark,
        reading_topics(),
    ):
        from spark_log_analytics.report_job import Input, ReportRequest, report_on_spark

        return report_on_spark(
            spark,
            ReportRequest(
                logs=Input(opened, topics),
                baseline=None if baseline is None else Input(usual, past),
                zone=zone,
                layouts=layouts,
                period=request.period,
                listed=listed,
            ),
        )


def _findings(report: SparkReport, period: Period) -> LogFindings:
    return judge_scan(report.scan, period) if report.tables is None else judge_tables(report.tables, report.scan.unread)


def _scan(request: MineRequest, places: Places, callbacks: Callbacks) -> LogScan:
    """Scan in this process."""
    from eosctl.logs.scan import join_scans, scan_paths
    from eosctl.logs.topics.address import around
    from eosctl.logs.topics.plan import scan_topics

    zone, layouts = find_zone(request.zone), layouts_of(request.pattern)
    files, topics = places
    scan = scan_paths(files, zone, layouts, callbacks.progress)
    if not topics:
        return scan
    wanted = [around(one, request.period) for one in topics]
    with reading_topics():
        return join_scans([scan, *(scan_topics(one, zone, layouts, callbacks.progress) for one in wanted)])
