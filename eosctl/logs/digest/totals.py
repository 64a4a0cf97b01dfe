"""Count events for a report; the totals of parts of the logs can be merged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from eosctl.model.log_event import LogEvent, is_error, is_problem
from eosctl.model.log_totals import NO_EVENTS, Activity, EventTotals, FirstRecord, Moment
from eosctl.model.server_loggers import is_of_server

MAX_LANES: Final = 24


def total_events(events: Iterable[LogEvent], order_of: Callable[[str], int]) -> EventTotals:
    """Count events.

    Args:
        events: The events, in any order.
        order_of: Returns the number of a file in the scan.
    """
    categories, applications, servers = Counter[str](), Counter[str](), set[str]()
    errors: list[FirstRecord] = []
    problems: list[FirstRecord] = []
    error_count = problem_count = 0
    first_ms = last_ms = None
    is_zone_assumed = False
    for event in events:
        categories[event.category] += 1
        is_zone_assumed = is_zone_assumed or event.time_assumed
        if event.time_ms is not None:
            applications[event.application] += 1
            first_ms = event.time_ms if first_ms is None else min(first_ms, event.time_ms)
            last_ms = event.time_ms if last_ms is None else max(last_ms, event.time_ms)
            if event.application not in servers and is_of_server(event):
                servers.add(event.application)
        if is_problem(event):
            problem_count += 1
            problems = [min([*problems, _record(event, order_of)])]
            if is_error(event):
                error_count += 1
                errors = [min([*errors, _record(event, order_of)])]
    return EventTotals(
        by_category=dict(sorted(categories.items())),
        error_count=error_count,
        first_error=errors[0] if errors else None,
        problem_count=problem_count,
        first_problem=problems[0] if problems else None,
        is_zone_assumed=is_zone_assumed,
        first_ms=first_ms,
        last_ms=last_ms,
        by_application=dict(sorted(applications.items())),
        servers=tuple(sorted(servers)),
    )


def merge_totals(parts: Iterable[EventTotals]) -> EventTotals:
    """Merge the totals of several parts of the logs."""
    found = [NO_EVENTS, *parts]
    categories, applications = Counter[str](), Counter[str]()
    for one in found:
        categories.update(one.by_category)
        applications.update(one.by_application)
    return EventTotals(
        by_category=dict(sorted(categories.items())),
        error_count=sum(one.error_count for one in found),
        first_error=min((one.first_error for one in found if one.first_error), default=None),
        problem_count=sum(one.problem_count for one in found),
        first_problem=min((one.first_problem for one in found if one.first_problem), default=None),
        is_zone_assumed=any(one.is_zone_assumed for one in found),
        first_ms=min((one.first_ms for one in found if one.first_ms is not None), default=None),
        last_ms=max((one.last_ms for one in found if one.last_ms is not None), default=None),
        by_application=dict(sorted(applications.items())),
        servers=tuple(sorted({name for one in found for name in one.servers})),
    )


def activity_of(totals: EventTotals, moments: Iterable[Moment]) -> Activity | None:
    """Return when each application had problems; None if no event has a time.

    Args:
        totals: The totals of all events.
        moments: The problems with a time.
    """
    if totals.first_ms is None or totals.last_ms is None:
        return None
    busiest = sorted(totals.by_application.items(), key=lambda one: (-one[1], one[0]))[:MAX_LANES]
    lanes = sorted((name for name, _ in busiest), key=lambda name: (name not in totals.servers, name))
    return Activity(totals.first_ms, totals.last_ms, tuple(lanes), tuple(moments))


def moments_of(events: Iterable[LogEvent]) -> tuple[Moment, ...]:
    """Return the problems of events by application and time."""
    counts = Counter(
        (event.application, event.time_ms) for event in events if event.time_ms is not None and is_problem(event)
    )
    return tuple(Moment(application, time_ms, count) for (application, time_ms), count in sorted(counts.items()))


def to_json(totals: EventTotals) -> str:
    """Encode totals as text, to move them between processes."""
    return json.dumps(totals)


def from_json(text: str) -> EventTotals:
    """Decode totals."""
    found = EventTotals(*json.loads(text))
    return found._replace(
        first_error=found.first_error and FirstRecord(*found.first_error),
        first_problem=found.first_problem and FirstRecord(*found.first_problem),
        servers=tuple(found.servers),
    )


def _record(event: LogEvent, order_of: Callable[[str], int]) -> FirstRecord:
    return FirstRecord(order_of(event.file), event.offset, event.file, event.line, event.message)
