"""Read logs into events, to add to what a cluster shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.collect.logged_incidents import gaps_of_logs
from eosctl.errors import UsageError
from eosctl.logs.coverage import measure_coverage
from eosctl.logs.scan import scan_paths
from eosctl.model.evidence import EvidenceGap
from eosctl.model.log_event import LogEvent
from eosctl.model.log_findings import LogFindings, SkippedFile


class EventsRead(NamedTuple):
    """The events of logs.

    Attributes:
        events: The events; empty without logs.
        gaps: What was not read or not recognized.
    """

    events: Sequence[LogEvent]
    gaps: tuple[EvidenceGap, ...]


_NO_LOGS: Final = EventsRead((), ())


def read_events(paths: Sequence[Path], progress: Callable[[str], None]) -> EventsRead:
    """Read log files, and folders of them, into events.

    Raises:
        UsageError: A path does not exist.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"There is no file {missing[0]}.", "", "Name log files, or directories that hold some.")
    if not paths:
        return _NO_LOGS
    scan = scan_paths(list(paths), progress=progress)
    skipped = tuple(SkippedFile(*one) for one in scan.unread)
    coverage = measure_coverage(scan.sources, scan.events)
    read = LogFindings(scan.events, (), scan.sources, skipped, coverage=coverage)
    return EventsRead(scan.events, tuple(gaps_of_logs(read)))
