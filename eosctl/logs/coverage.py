"""Measure how much of log files was recognized: unread input is not evidence of health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from eosctl.logs.signs import is_data_of_json, is_table, is_without_signs
from eosctl.model.log_event import UNCLASSIFIED, LogEvent, SourceSummary
from eosctl.model.log_findings import FileCoverage, Recognition

_NO_LAYOUT: Final = "none"
_ANY_CONTENT: Final = frozenset({"json", "logfmt"})
"""Layouts that match every line of a format, with any content."""
_ANY_TIMED: Final = frozenset({"json", "dated"})
"""Layouts that a single line with a time is enough to recognize."""
NAMES_ONLY: Final = frozenset({UNCLASSIFIED, "TRANSACTIONAL_ID_NAMED"})
"""Categories that do not make a line one of a log: a settings file names a transactional id, too."""


def measure_coverage(sources: Sequence[SourceSummary], events: Iterable[LogEvent]) -> tuple[FileCoverage, ...]:
    """Return how much of each file was recognized.

    Less than half of the lines is little. A line without a known layout counts if it matches the catalog.

    Args:
        sources: The summaries of the files.
        events: The events of the same scan.
    """
    return measure_counted(sources, Counter(event.file for event in events if event.category not in NAMES_ONLY))


def measure_counted(sources: Sequence[SourceSummary], known: Mapping[str, int]) -> tuple[FileCoverage, ...]:
    """Return the same from the number of events by file; events of ``NAMES_ONLY`` do not count."""
    return tuple(_coverage(source, known.get(source.file, 0)) for source in sources)


def _coverage(source: SourceSummary, known_count: int) -> FileCoverage:
    is_data = _is_data(source, known_count)
    records = max(0 if is_data else source.event_count - source.unmatched_line_count, known_count)
    if not source.event_count and not source.beginning.strip():
        return FileCoverage(source.file, Recognition.EMPTY, 0, 0)
    if not records:
        lines = max(source.event_count, source.sample_line_count, source.beginning.count("\n"))
        return FileCoverage(source.file, Recognition.NONE, 0, lines)
    if not is_data and source.sample_line_count and source.layout.rpartition("+")[2] != _NO_LAYOUT:
        # Lines without a header belong to the record before them, so only the sample shows how many do not match.
        of, found = source.sample_line_count, source.sample_line_count - source.sample_unmatched_count
    else:
        of, found = source.event_count, records
    is_little = found * 2 < of
    return FileCoverage(source.file, Recognition.LITTLE if is_little else Recognition.MOST, found, of)


def _is_data(source: SourceSummary, known_count: int) -> bool:
    """Return whether lines are other data: they have no time, or a time but no other part of a log record."""
    layouts = set(source.layout.split("+"))
    if source.first_ms is None:
        return not _ANY_CONTENT.isdisjoint(layouts)
    if not source.beginning or not layouts <= _ANY_TIMED:
        return False
    if "json" in layouts:
        return is_data_of_json(source.beginning)
    return is_table(source.beginning) or (not known_count and is_without_signs(source.beginning))
