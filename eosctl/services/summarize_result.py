"""Summarize the result of a log scan for a dashboard, with the queries that any analyst can run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec

from eosctl.model.log_dashboard import Cause, Example, Failure, Gap, LogDashboard, Slot
from eosctl.model.severity import Severity
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.query_logs import OpenedResult, QueryEngine, SparkNeeds, opened_result

TOP: Final = 10
EXAMPLES: Final = 3
MINUTES_BY_SECOND: Final = 10
HOURS_BY_MINUTE: Final = 3
DAYS_BY_HOUR: Final = 7

_SPAN: Final = "SELECT min(time), max(time) FROM events"
_SLOTS: Final = """
SELECT date_trunc('{unit}', time) AS slot, application, count(*) AS problems FROM events
WHERE time IS NOT NULL AND (level IN ('WARN', 'ERROR', 'FATAL', 'CRITICAL', 'SEVERE') OR exception IS NOT NULL)
GROUP BY date_trunc('{unit}', time), application ORDER BY slot, application
"""
_INCIDENTS: Final = """
SELECT root_cause, kind, severity, incident_id, started_at, ended_at, explanation, next_step
FROM incidents ORDER BY started_at, incident_id
"""
_EVIDENCE: Final = """
SELECT file, line, time, message FROM evidence WHERE incident_id = '{incident_id}' ORDER BY ordinal LIMIT {count}
"""
_FAILURES: Final = """
SELECT root_class, application, sum(event_count) AS thrown, min(minute) AS first_at FROM exceptions
GROUP BY root_class, application ORDER BY root_class, application
"""
_NEW: Final = "SELECT root_class, sum(event_count), min(first_at) FROM new_failures GROUP BY root_class"
_STATUSES: Final = "SELECT status, count(*) AS inputs FROM coverage GROUP BY status ORDER BY inputs DESC, status"
_GAPS: Final = """
SELECT file, status, reason FROM coverage WHERE status IN ('failed', 'partial', 'unrecognized', 'little')
ORDER BY status, file LIMIT 20
"""


class SummaryRequest(msgspec.Struct, frozen=True):
    """A result to summarize.

    Attributes:
        result: The directory of the result of ``logs submit``, or its URL.
        engine: What runs the queries; the summary is the same.
        spark: What Spark needs for them.
    """

    result: str
    engine: QueryEngine = QueryEngine.AUTO
    spark: SparkNeeds = SparkNeeds()


def summarize_result(request: SummaryRequest, callbacks: Callbacks = SILENT) -> LogDashboard:
    """Summarize the last published run of a result.

    Raises:
        UsageError: The result has no complete run.
        EosctlError: No engine can read it.
    """
    with opened_result(request.result, request.engine, callbacks, request.spark) as opened:
        run = opened.published
        unit = _unit(opened)
        causes = _causes(opened)
        new = opened.ask(_NEW)[1]
        failures = tuple(Failure(name or "", count, (), first or "") for name, count, first in new)
        return LogDashboard(
            run_id=run["run_id"],
            published_at=run["published_at"],
            inputs=tuple(run["inputs"]),
            event_count=run["event_count"],
            incident_count=run["incident_count"],
            unit=unit,
            slots=tuple(Slot(*row) for row in opened.ask(_SLOTS.format(unit=unit))[1]),
            causes=tuple(_with_examples(opened, cause, incident_id) for cause, incident_id in causes[:TOP]),
            cause_count=len(causes),
            failures=_failures(opened)[:TOP],
            new_failures=_by_count(failures)[:TOP] if run["baseline_run_id"] else None,
            statuses=tuple((status, count) for status, count in opened.ask(_STATUSES)[1]),
            gaps=tuple(Gap(*row) for row in opened.ask(_GAPS)[1]),
            is_complete=run["is_complete"],
        )


def _unit(opened: OpenedResult) -> str:
    """Return the length of a slot for the time that the events span."""
    ((first, last),) = opened.ask(_SPAN)[1]
    if first is None:
        return "minute"
    hours = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() / 3600
    if hours * 60 <= MINUTES_BY_SECOND:
        return "second"
    if hours <= HOURS_BY_MINUTE:
        return "minute"
    return "hour" if hours <= DAYS_BY_HOUR * 24 else "day"


def _causes(opened: OpenedResult) -> list[tuple[Cause, str]]:
    """Return the root causes, the worst and then the most frequent first, each with the id of its first incident."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in opened.ask(_INCIDENTS)[1]:
        found.setdefault(row[0], []).append(row[1:])
    causes = []
    for root_cause, rows in found.items():
        kinds = [row[0] for row in rows]
        cause = Cause(
            root_cause=root_cause,
            kind=max(kinds, key=kinds.count),
            severity=min((Severity(row[1]) for row in rows), key=lambda one: one.rank).value,
            incident_count=len(rows),
            first_at=rows[0][3],
            last_at=max(row[4] for row in rows),
            explanation=rows[0][5],
            next_step=rows[0][6],
            examples=(),
        )
        causes.append((cause, rows[0][2]))
    return sorted(causes, key=lambda one: (Severity(one[0].severity).rank, -one[0].incident_count, one[0].first_at))


def _with_examples(opened: OpenedResult, cause: Cause, incident_id: str) -> Cause:
    rows = opened.ask(_EVIDENCE.format(incident_id=incident_id, count=EXAMPLES))[1]
    shown = (Example(f"{file}:{line}", time or "", message or "") for file, line, time, message in rows)
    return cause._replace(examples=tuple(shown))


def _failures(opened: OpenedResult) -> tuple[Failure, ...]:
    found: dict[str, Failure] = {}
    for name, application, count, first in opened.ask(_FAILURES)[1]:
        known = found.get(name, Failure(name, 0, (), first or ""))
        earliest = min(filter(None, (known.first_at, first)), default="")
        found[name] = Failure(name, known.thrown_count + count, (*known.applications, application), earliest)
    return _by_count(found.values())


def _by_count(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    return tuple(sorted(failures, key=lambda one: (-one.thrown_count, one.root_class)))
