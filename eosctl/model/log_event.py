"""What was read in a log: one event, and what one source held in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

UNCLASSIFIED: Final = "UNCLASSIFIED"
"""The category of errors and throwables that fit none of the catalogue."""
FATAL_LEVELS: Final = frozenset({"FATAL", "CRITICAL"})
ERROR_LEVELS: Final = FATAL_LEVELS | {"ERROR", "SEVERE"}


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
    """A log record that means something.

    Attributes:
        file: The file as it was named by the caller.
        offset: Where the header line starts, in bytes of the (decompressed) file.
        line: The header's line, from 1.
        time_ms: When, ms since the epoch, UTC; None if the record carries no time.
        time_assumed: Whether zone, date or year had to be assumed.
        level: In upper case as printed; empty if the layout has none.
        thread: The thread's name, possibly cut by the layout.
        logger: The logger, possibly abbreviated by the layout.
        application: Who wrote it: the broker's directory, the service of the record, or the file's name.
        host: The machine it was written on, as far as the record or its file tells; empty when neither does.
        category: A category of the catalogue.
        fields: Values named by the catalogue: `transactional_id`, `producer_id`, `partition`, and so on.
        exception: The throwable, if one was printed.
        message: The message without the stack trace.
    """

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
    category: str
    fields: Mapping[str, str]
    exception: LoggedException | None
    message: str


class SourceSummary(NamedTuple):
    """What one file held.

    Attributes:
        file: The file.
        application: Who wrote it.
        layout: The layouts that were recognised, joined by `+`.
        size_bytes: Size after decompression.
        event_count: Records, whether they mean something or not.
        unmatched_line_count: Lines before the first header or, without any known layout, all lines.
        truncated_count: Records that were cut because they are too long.
        undecodable_count: Records with bytes that are not UTF-8.
        first_ms: Time of the first record that carries one.
        last_ms: Time of the last.
        error: Why the file could not be read to its end; empty when it was.
        beginning: Its first records as text, in which programs tell who they are; empty if it is not a file.
        sample_line_count: Lines of its first part that should begin a record; 0 where there is no sample.
        sample_unmatched_count: Lines among them that no layout explains.
        modified_ms: The file was last written, ms since the epoch; 0 where it is not a file.
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
