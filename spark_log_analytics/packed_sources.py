"""Summaries of files for functions that go to every task, in a small part of their size.

Each summary has the first records of its file as text, 2 KB, because they may name the program and its clients. Such
texts are alike, so they compress well.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.model.log_event import ProgramSpan, SourceSummary

_PART: Final = 1000
"""Number of files that are packed together, so that no copy of all texts is made."""


class PackedSources:
    """The summaries of files, compressed.

    >>> from spark_log_analytics.stored_files import nothing_of
    >>> sources = [nothing_of("a.log"), nothing_of("b.log")]
    >>> PackedSources(sources).unpack() == tuple(sources)
    True
    """

    def __init__(self, sources: Sequence[SourceSummary]) -> None:
        parts = (sources[start : start + _PART] for start in range(0, len(sources), _PART))
        self._parts = tuple(zlib.compress(json.dumps(part).encode()) for part in parts)

    @property
    def size_bytes(self) -> int:
        """Return the size of what is sent."""
        return sum(map(len, self._parts))

    def unpack(self) -> tuple[SourceSummary, ...]:
        """Return the summaries."""
        return tuple(self._unpacked())

    def _unpacked(self) -> Iterator[SourceSummary]:
        for part in self._parts:
            for fields in json.loads(zlib.decompress(part)):
                summary = SourceSummary(*fields)
                yield summary._replace(programs=tuple(ProgramSpan(*span) for span in summary.programs))
