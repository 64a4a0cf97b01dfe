"""What a report needs of all events: their numbers, the first of the worst, and when each application had problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.model.log_event import LogEvent


class FirstRecord(NamedTuple):
    """The first record of a kind in the order of the scan.

    Attributes:
        order: The number of its file in the scan.
        offset: The byte at which it starts.
        file: The file.
        line: Its line, from 1.
        message: Its message.
    """

    order: int
    offset: int
    file: str
    line: int
    message: str


class EventTotals(NamedTuple):
    """The totals of events.

    Attributes:
        by_category: The number of events by category.
        error_count: The number of errors.
        first_error: The first of them; None without any.
        problem_count: The number of warnings, errors, and throwables.
        first_problem: The first of them; None without any.
        is_zone_assumed: Whether the zone of any time was assumed.
        first_ms: The earliest time; None if no event has one.
        last_ms: The latest time.
        by_application: The number of events with a time by application.
        servers: The applications that are brokers or controllers.
    """

    by_category: Mapping[str, int]
    error_count: int
    first_error: FirstRecord | None
    problem_count: int
    first_problem: FirstRecord | None
    is_zone_assumed: bool
    first_ms: int | None
    last_ms: int | None
    by_application: Mapping[str, int]
    servers: tuple[str, ...]

    @property
    def event_count(self) -> int:
        """Return the number of events."""
        return sum(self.by_category.values())


NO_EVENTS: Final = EventTotals(
    by_category={},
    error_count=0,
    first_error=None,
    problem_count=0,
    first_problem=None,
    is_zone_assumed=False,
    first_ms=None,
    last_ms=None,
    by_application={},
    servers=(),
)


class Moment(NamedTuple):
    """The number of problems of an application at a time, or from it to the next moment."""

    application: str
    time_ms: int
    problem_count: int


class Activity(NamedTuple):
    """When each application had problems.

    Attributes:
        first_ms: The earliest event.
        last_ms: The latest event.
        lanes: The applications to draw: brokers and controllers first, then by name; of many the busiest.
        moments: The problems of all applications.
    """

    first_ms: int
    last_ms: int
    lanes: tuple[str, ...]
    moments: tuple[Moment, ...]


class Overcome(NamedTuple):
    """What followed the errors and warnings of programs.

    Attributes:
        program_count: The number of programs that logged any.
        working: The first record of work after the last one of each program.
        ready: The first record of a client that is ready after it, of each program without one of work.
    """

    program_count: int
    working: tuple[LogEvent, ...]
    ready: tuple[LogEvent, ...]
