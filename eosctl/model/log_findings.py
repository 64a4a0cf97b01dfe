"""What a set of log files says: events, incidents, and how much of the files was understood."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.log_evidence import UnexplainedRecords


class SkippedFile(NamedTuple):
    """A file that was not read.

    Attributes:
        file: The file.
        reason: Why not, as a few words.
        is_failure: Whether it should have been read; false for files that hold no log.
    """

    file: str
    reason: str
    is_failure: bool


class Recognition(StrEnum):
    """How much of a file was recognized as log records."""

    EMPTY = "empty"
    NONE = "none"
    LITTLE = "little"
    MOST = "most"


class FileCoverage(NamedTuple):
    """How much of one file was recognized.

    Attributes:
        file: The file.
        recognition: The verdict.
        recognized_count: Lines that are the start of a log record, or that the catalogue knows.
        line_count: Lines that should each start a record, as far as the file was sampled.
    """

    file: str
    recognition: Recognition
    recognized_count: int
    line_count: int


class LogFindings(NamedTuple):
    """The events and incidents of a scan, the files that were read, those that were not, and unexplained records."""

    events: Sequence[LogEvent]
    incidents: Sequence[Incident]
    sources: Sequence[SourceSummary]
    skipped: Sequence[SkippedFile]
    unexplained: Sequence[UnexplainedRecords] = ()
    coverage: Sequence[FileCoverage] = ()

    @property
    def has_records(self) -> bool:
        """Return whether a log record was recognized in any file."""
        return any(one.recognition in (Recognition.LITTLE, Recognition.MOST) for one in self.coverage)

    @property
    def is_recognized(self) -> bool:
        """Return whether no file is of unknown content, in whole or for the most part."""
        return not any(one.recognition in (Recognition.NONE, Recognition.LITTLE) for one in self.coverage)

    @property
    def is_complete(self) -> bool:
        """Return whether every file that should be read was read to its end."""
        return not any(source.error for source in self.sources) and not any(one.is_failure for one in self.skipped)


class ExceptionKey(NamedTuple):
    """What exceptions are counted by.

    Attributes:
        minute_ms: The start of the minute, ms since the epoch; None where the record carries no time.
        class_name: The outermost class.
        root_class: The class of the last cause.
        application: Who printed it.
        host: The machine; empty where nothing names it.
    """

    minute_ms: int | None
    class_name: str
    root_class: str
    application: str
    host: str


class ExceptionCount(NamedTuple):
    """How often, and where first: the file, and the byte at which the record starts."""

    key: ExceptionKey
    event_count: int
    file: str
    offset: int
