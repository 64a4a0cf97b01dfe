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

from eosctl.logs.coverage import measure_coverage
from eosctl.logs.incidents.calls_for_action import Advice, group_records
from eosctl.logs.incidents.judge import judge_logs
from eosctl.logs.incidents.unknown_errors import group_unknown_errors
from eosctl.model.log_findings import LogFindings, SkippedFile
from eosctl.model.period import ALL_TIME, Period
from eosctl.model.severity import Severity

if TYPE_CHECKING:
    from eosctl.logs.layouts import Layout
    from eosctl.logs.scan import LogScan


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
    advice = _advice()
    judged = judge_logs(scan.events, scan.sources)
    events = tuple(event for event in scan.events if period.holds(event.time_ms))
    within = tuple(one for one in judged.incidents if period.touches(one.t_start_ms, one.t_end_ms))
    unexplained = [one for one in judged.unexplained if period.holds(one.time_ms)]
    groups = (
        *group_records((one for one in unexplained if one.category in advice), advice),
        *group_unknown_errors(one for one in unexplained if one.category not in advice),
    )
    return LogFindings(
        events=events,
        incidents=within,
        sources=scan.sources,
        skipped=skipped,
        unexplained=groups,
        coverage=measure_coverage(scan.sources, scan.events),
    )


def _advice() -> dict[str, Advice]:
    """Return the categories that call for action, as the catalog describes them."""
    from eosctl.logs.classifier.catalog import Weight, load_catalog

    severities = {Weight.CRITICAL: Severity.CRITICAL, Weight.ACT: Severity.WARNING}
    return {
        one.id: Advice(severities[one.weight], one.meaning, one.next_step)
        for one in load_catalog().categories
        if one.weight in severities
    }
