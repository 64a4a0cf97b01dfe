"""An event of a log, and a summary of its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.model.event_names import ACTING_CATEGORIES, WATCHED_CATEGORIES, EventCategory, EventField

UNCLASSIFIED: Final = "UNCLASSIFIED"
"""The category of errors and throwables without a match in the catalog."""
NOISE: Final[EventCategory] = "KNOWN_NOISE"
"""The category of warnings and errors without an effect, which programs log on each start."""
FATAL_LEVELS: Final = frozenset({"FATAL", "CRITICAL"})
CALM_LEVELS: Final = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
"""Levels at which programs report no error."""
ERROR_LEVELS: Final = FATAL_LEVELS | {"ERROR", "SEVERE"}
PROBLEM_LEVELS: Final = ERROR_LEVELS | {"WARN"}
PROBLEM_CATEGORIES: Final = ACTING_CATEGORIES | WATCHED_CATEGORIES
"""The categories of records that are problems where they have no level."""


class LoggedException(NamedTuple):
    """The throwable of an event.

    Attributes:
        class_name: The outermost class as printed.
        root_class: The class of the last `Caused by`; `class_name` without one.
        chain: All classes from the outermost to the root.
        fingerprint: A hash of the chain and its frames without line numbers; equal for the same failure.
    """

    class_name: str
    root_class: str
    chain: tuple[str, ...]
    fingerprint: str


class LogEvent(NamedTuple):
    """A relevant log record."""

    file: str
    offset: int
    line: int
    time_ms: int | None
    time_assumed: bool
    level: str
    thread: str
    logger: str
    application: str
    host: str
    category: EventCategory
    fields: Mapping[EventField, str]
    exception: LoggedException | None
    message: str


def is_problem(event: LogEvent) -> bool:
    """Return whether an event is a warning, an error, or a throwable, and not known to have no effect.

    The category decides for an event without a known level: exports leave levels out.
    """
    if event.category == NOISE:
        return False
    if event.level in PROBLEM_LEVELS or event.exception is not None:
        return True
    return event.level not in CALM_LEVELS and event.category in PROBLEM_CATEGORIES


def is_error(event: LogEvent) -> bool:
    """Return whether an event is an error; without a known level, whether its category calls for action."""
    if event.level in ERROR_LEVELS:
        return event.category != NOISE
    has_level = event.level in CALM_LEVELS or event.level in PROBLEM_LEVELS
    return not has_level and event.category in ACTING_CATEGORIES


LAYOUTS_WITHOUT_DATE: Final = frozenset(
    {"logback-clock", "log4j2-short", "clock-logger", "jboss", "lager-clock", "undated", "klog"}
)
"""The layouts with timestamps that lack the year or the whole date."""


class ProgramSpan(NamedTuple):
    """The times of the first and the last record of one program in a file of several programs.

    Attributes:
        application: The program's name; empty if only its host is known.
        host: The host's name; empty if only the program is known.
        first_ms: The time of its first record that has one, milliseconds since 1970.
        last_ms: The time of its last record that has one, even if it has no category.
    """

    application: str
    host: str
    first_ms: int
    last_ms: int


class SourceSummary(NamedTuple):
    """A summary of a file.

    ``headings`` has a line for each part of a file of several programs: the offset where it begins, and a program's
    name, which may be empty. ``programs`` has the programs that its records name.
    """

    file: str
    application: str
    layout: str
    size_bytes: int
    event_count: int
    unmatched_line_count: int
    truncated_count: int
    undecodable_count: int
    first_ms: int | None
    last_ms: int | None
    error: str
    beginning: str = ""
    sample_line_count: int = 0
    sample_unmatched_count: int = 0
    modified_ms: int = 0
    headings: str = ""
    programs: tuple[ProgramSpan, ...] = ()
