"""Read logs into events, to add to what a cluster shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from eosctl.errors import UsageError
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent


def read_events(paths: Sequence[Path], progress: Callable[[str], None]) -> Sequence[LogEvent]:
    """Read log files, and folders of them, into events.

    Raises:
        UsageError: A path does not exist.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"There is no file {missing[0]}.", "", "Name log files, or directories that hold some.")
    if not paths:
        return ()
    return scan_paths(list(paths), progress=progress).events
