"""The result of scanning log files: events, incidents, and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.log_totals import NO_EVENTS, Activity, EventTotals, Overcome


class SkippedFile(NamedTuple):
    """A file that was not read.

    Attributes:
        file: The file.
        reason: The reason, in a few words.
        is_failure: Whether it should have been read; false for files without logs.
    """

    file: str
    reason: str
    is_failure: bool


class Recognition(StrEnum):
    """The share of a file that was recognized as log records."""

    EMPTY = "empty"
    NONE = "none"
    LITTLE = "little"
    MOST = "most"


class FileCoverage(NamedTuple):
    """The coverage of a file."""

    file: str
    recognition: Recognition
    recognized_count: int
    line_count: int


class LogFindings(NamedTuple):
    """The events and incidents of a scan, read and skipped files, and unexplained records.

    Attributes:
        events: The events; of many that Spark judged, only the evidence of incidents.
        incidents: The incidents.
        sources: The files that were read.
        skipped: The files that were not read.
        unexplained: Records that call for action, and unknown errors, that no incident explains.
        coverage: How much of each file was recognized.
        totals: The totals of all events.
        activity: When each application had problems; None without times.
        overcome: What followed errors and warnings; None if only a part of the events is known.
    """

    events: Sequence[LogEvent]
    incidents: Sequence[Incident]
    sources: Sequence[SourceSummary]
    skipped: Sequence[SkippedFile]
    unexplained: Sequence[UnexplainedRecords] = ()
    coverage: Sequence[FileCoverage] = ()
    totals: EventTotals = NO_EVENTS
    activity: Activity | None = None
    overcome: Overcome | None = None

    @property
    def has_records(self) -> bool:
        """Return whether a log record was recognized in any file."""
        return any(one.recognition in (Recognition.LITTLE, Recognition.MOST) for one in self.coverage)

    @property
    def is_recognized(self) -> bool:
        """Return whether the content of every file was mostly recognized."""
        return not any(one.recognition in (Recognition.NONE, Recognition.LITTLE) for one in self.coverage)

    @property
    def is_complete(self) -> bool:
        """Return whether every file that should be read was read completely."""
        return not any(source.error for source in self.sources) and not any(one.is_failure for one in self.skipped)


class ExceptionKey(NamedTuple):
    """The key by which exceptions are counted."""

    minute_ms: int | None
    class_name: str
    root_class: str
    application: str
    host: str


class ExceptionCount(NamedTuple):
    """The number of exceptions, and the position of the first: the file, the byte, and the line (from 1) of the record.

    The line is 0 where it was not counted.
    """

    key: ExceptionKey
    event_count: int
    file: str
    offset: int
    line: int = 0
