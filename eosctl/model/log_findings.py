"""What a set of log files says: events, incidents, and how much of the files was understood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary


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


class UnjudgedRecords(NamedTuple):
    """Critical records of one category that belong to no incident.

    Attributes:
        category: The category.
        record_count: How many there are.
        file: Where the first one is.
        line: Its line, from 1.
    """

    category: str
    record_count: int
    file: str
    line: int


class LogFindings(NamedTuple):
    """The events and incidents of a scan, the files that were read, those that were not, and what is in no incident."""

    events: Sequence[LogEvent]
    incidents: Sequence[Incident]
    sources: Sequence[SourceSummary]
    skipped: Sequence[SkippedFile]
    unjudged: Sequence[UnjudgedRecords] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every file that should be read was read to its end."""
        return not any(source.error for source in self.sources) and not any(one.is_failure for one in self.skipped)
