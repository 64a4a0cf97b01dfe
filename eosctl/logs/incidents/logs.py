"""Which records one program wrote: files are cut when they are rotated, and collectors put many programs into one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server

OVERLAP_MS: Final = 1_000
"""Parts of one log follow each other; those that overlap by more are of programs that ran side by side."""


class ProgramLogs:
    """Tells the logs of programs apart by their files, and by who wrote their records.

    The records of a file are of one program unless several are named in it, or one beside the server whose it is;
    files of one name in one folder whose times follow each other are parts of one log.
    """

    def __init__(self, events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> None:
        owners = {source.file: source.application for source in sources}
        writers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for event in events:
            if event.application != owners.get(event.file):
                writers[event.file].add((event.application, event.host))
        of_servers = {event.file for event in events if is_of_server(event)}
        self._shared = frozenset(file for file, found in writers.items() if len(found) > 1 or file in of_servers)
        self._wholes = _whole_logs(sources)

    def of_file(self, file: str) -> str:
        """Name the log that a file is a part of."""
        return self._wholes.get(file, file)

    def of(self, event: LogEvent) -> str:
        """Name the log that an event belongs to."""
        log = self.of_file(event.file)
        return "\0".join((log, event.application, event.host)) if event.file in self._shared else log


def _whole_logs(sources: Iterable[SourceSummary]) -> Mapping[str, str]:
    """Name for each part of a rotated log its first part."""
    groups: dict[tuple[PurePath, str], list[tuple[int, int, str]]] = defaultdict(list)
    for source in sources:
        if source.first_ms is not None and source.last_ms is not None:
            groups[PurePath(source.file).parent, source.application].append(
                (source.first_ms, source.last_ms, source.file)
            )
    return {
        file: parts[0][2]
        for parts in map(sorted, groups.values())
        if all(before[1] <= after[0] + OVERLAP_MS for before, after in pairwise(parts))
        for _, _, file in parts
    }
