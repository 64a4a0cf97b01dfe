"""Assign records to programs: rotation splits a log into files, and collectors put many programs into one file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from eosctl.logs.records.record import SHELL
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.server_loggers import is_of_server

OVERLAP_MS: Final = 1_000
"""Parts of one log follow each other. Files that overlap by more belong to programs that ran at the same time."""


class ProgramLogs:
    """Separate the logs of programs by their files and by the writers of their records.

    A file belongs to one program, unless it names several, or names another one in addition to its server.
    Files with one name in one folder are parts of one log if their times follow each other.
    """

    def __init__(self, events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> None:
        owners = {source.file: source.application for source in sources}
        writers: dict[str, set[tuple[str, str]]] = defaultdict(set)
        of_servers: set[str] = set()
        for event in events:
            # What follows the prompt of a pasted session is about the program whose log stands before it.
            if event.application != SHELL and (event.host or event.application != owners.get(event.file)):
                writers[event.file].add((event.application, event.host))
            if event.file not in of_servers and is_of_server(event):
                of_servers.add(event.file)
        self._shared = frozenset(file for file, found in writers.items() if len(found) > 1 or file in of_servers)
        self._wholes = _whole_logs(sources)

    def of_file(self, file: str) -> str:
        """Return the name of the log that a file belongs to."""
        return self._wholes.get(file, file)

    def is_shared(self, file: str) -> bool:
        """Return whether several programs wrote a file."""
        return file in self._shared

    def of(self, event: LogEvent) -> str:
        """Return the name of the log that an event belongs to."""
        log = self._wholes.get(event.file, event.file)
        return f"{log}\0{event.application}\0{event.host}" if event.file in self._shared else log


def _whole_logs(sources: Iterable[SourceSummary]) -> Mapping[str, str]:
    """Return the first part of the rotated log that each file belongs to."""
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
