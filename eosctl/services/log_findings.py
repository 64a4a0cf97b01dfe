"""Evidence from log files: events and judged incidents, for every command that takes logs next to a cluster.

``collect_log_findings(paths, zone)`` returns a ``LogFindings``: ``incidents`` (each with kind, root cause, severity,
confidence, subject, times, ``evidence`` as file, offset, and line, explanation and next step), ``events`` (whose
``file`` and ``offset`` are those of the evidence, so that records can be quoted), ``sources``, ``skipped``,
``unexplained`` (records that call for action, and unknown errors, that no incident explains) and ``is_complete``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from eosctl.findings.other_programs import name_other_programs
from eosctl.logs.coverage import measure_counted, measure_coverage
from eosctl.logs.digest.totals import activity_of, moments_of, total_events
from eosctl.logs.incidents.joining.repeats import fold_returned
from eosctl.logs.incidents.judge import judge_logs
from eosctl.logs.incidents.remaining.calls_for_action import Advice, describe_groups
from eosctl.logs.incidents.remaining.record_groups import group_unexplained
from eosctl.logs.incidents.timeline.work import find_overcome
from eosctl.model.log_findings import LogFindings, SkippedFile
from eosctl.model.period import ALL_TIME, Period
from eosctl.model.severity import Severity

if TYPE_CHECKING:
    from eosctl.logs.files.sources import Unread
    from eosctl.logs.layout_catalog import Layout
    from eosctl.logs.scan import LogScan
    from spark_log_analytics.report_tables import TableReport


def collect_log_findings(
    paths: Iterable[Path],
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> LogFindings:
    """Read logs in this process and judge what they say.

    Args:
        paths: Log files and directories.
        zone: The zone of stamps without an offset; None means UTC, marked as assumed.
        layouts: Layouts to prefer to the known ones.
        progress: Called with what is read next, in words.
    """
    from eosctl.logs.scan import scan_paths

    return judge_scan(scan_paths(paths, zone, layouts, progress))


def judge_scan(scan: LogScan, period: Period = ALL_TIME) -> LogFindings:
    """Judge a scan and return the events of a period, with causes that may lie before it."""
    skipped = tuple(SkippedFile(*one) for one in scan.unread)
    judged = judge_logs(scan.events, scan.sources)
    events = tuple(event for event in scan.events if period.holds(event.time_ms))
    within = fold_returned(one for one in judged.incidents if period.touches(one.t_start_ms, one.t_end_ms))
    unexplained = (one for one in judged.unexplained if period.holds(one.time_ms))
    groups = describe_groups(group_unexplained(unexplained), _advice())
    order = {source.file: number for number, source in enumerate(scan.sources)}
    totals = total_events(events, order.__getitem__)
    findings = LogFindings(
        events=events,
        incidents=within,
        sources=scan.sources,
        skipped=skipped,
        unexplained=groups,
        coverage=measure_coverage(scan.sources, scan.events),
        totals=totals,
        activity=activity_of(totals, moments_of(events)),
        overcome=find_overcome(events),
    )
    return name_other_programs(findings)


def judge_tables(report: TableReport, unread: Iterable[Unread]) -> LogFindings:
    """Return the findings of a scan that was judged on Spark; of the events, they have only evidence."""
    findings = LogFindings(
        events=report.events,
        incidents=fold_returned(report.incidents),
        sources=report.sources,
        skipped=tuple(SkippedFile(*one) for one in unread),
        unexplained=describe_groups(report.groups, _advice()),
        coverage=measure_counted(report.sources, report.recognized),
        totals=report.totals,
        activity=report.activity,
    )
    return name_other_programs(findings)


def _advice() -> dict[str, Advice]:
    """Return the categories that call for action, as the catalog describes them."""
    from eosctl.logs.classifier.catalog import Weight, load_catalog

    severities = {Weight.CRITICAL: Severity.CRITICAL, Weight.ACT: Severity.WARNING}
    return {
        one.id: Advice(severities[one.weight], one.meaning, one.next_step)
        for one in load_catalog().categories
        if one.weight in severities
    }
