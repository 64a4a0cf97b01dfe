"""Separate the programs of a file with a heading for each of its parts, as ``tail`` and ``head`` print for files.

People post the logs of several pods or files in one. The heading names the program of the lines below it, up to the
next heading. Only a file that was read as a whole into its source's beginning is divided: a later heading would be
unknown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

from eosctl.model.log_event import LogEvent, SourceSummary

SEVERAL: Final = 2
"""Minimum number of different names for a file of several programs."""
_HEADING: Final = re.compile(rb"^==> (?P<name>\S{1,255}) <==\r?$", re.MULTILINE)
_ENDINGS: Final = frozenset({".log", ".out", ".txt"})


def separate_parts(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Iterator[LogEvent]:
    """Yield events; those below a heading belong to the application that it names, unless they name another one."""
    owners = {source.file: source.application for source in sources}
    headings = {source.file: found for source in sources if (found := _headings(source))}
    for event in events:
        found = headings.get(event.file, ())
        place = bisect_right(found, event.offset, key=lambda heading: heading[0]) if found else 0
        is_unnamed = bool(place) and event.application == owners[event.file]
        yield event._replace(application=found[place - 1][1]) if is_unnamed else event


def _headings(source: SourceSummary) -> Sequence[tuple[int, str]]:
    """Return the offsets of a file's headings and their names; empty for a file of one program, or one cut short."""
    if "==> " not in source.beginning:
        return ()
    text = source.beginning.encode()
    found = [(one.start(), _program(one["name"].decode())) for one in _HEADING.finditer(text)]
    is_whole = len(text) >= source.size_bytes
    return found if is_whole and len({name for _, name in found}) >= SEVERAL else ()


def _program(name: str) -> str:
    """Return the program of a heading: a pod, or a file without its folder and ending.

    >>> _program("pod/pay-7d9f-x2k"), _program("/var/log/pay.log")
    ('pay-7d9f-x2k', 'pay')
    """
    path = PurePath(name)
    return path.stem if path.suffix in _ENDINGS else path.name
