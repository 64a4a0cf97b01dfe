"""Report which times logs do not contain: those of files without timestamps, and assumed zones and days."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from eosctl.model.incident import Incident
from eosctl.model.log_event import LAYOUTS_WITHOUT_DATE, SourceSummary
from eosctl.model.log_findings import LogFindings
from eosctl.text import time_text

_NAMED_FILES: Final = 3


def is_dated(one: Incident, sources: Sequence[SourceSummary]) -> bool:
    """Return whether an incident has a record from a file with timestamps."""
    undated = _files(sources, _has_no_time)
    return not one.evidence or any(place.file not in undated for place in one.evidence)


def period_text(one: Incident, sources: Sequence[SourceSummary]) -> str:
    """Return the period of an incident, or that its records have no time."""
    if is_dated(one, sources):
        return f"{time_text(one.t_start_ms)} to {time_text(one.t_end_ms)}"
    return f"unknown: its records have no time (the file was last changed at {time_text(one.t_start_ms)})"


def start_text(one: Incident, sources: Sequence[SourceSummary]) -> str:
    """Return the start of an incident; "unknown" if its records have no time."""
    return time_text(one.t_start_ms) if is_dated(one, sources) else "unknown"


def assumption_texts(findings: LogFindings) -> Iterator[str]:
    """Yield what was assumed about times that records do not contain, each as a sentence."""
    if findings.totals.is_zone_assumed:
        yield "Stamps without a zone were read as UTC; name the zone with --zone."
    if dayless := _files(findings.sources, _has_no_day):
        dated = any(source.first_ms is not None and not _has_no_day(source) for source in findings.sources)
        others = " and the dates of the other files" if dated else ""
        yield (
            f"Records without a date in {_named(dayless)} were dated by its other records, by a day in the file, or by "
            f"its last change{others}."
        )
    if undated := _files(findings.sources, _has_no_time):
        yield f"The records of {_named(undated)} have no time; the last change of the file was used to order them."


def _files(sources: Sequence[SourceSummary], is_wanted: Callable[[SourceSummary], bool]) -> dict[str, None]:
    return {source.file: None for source in sources if is_wanted(source)}


def _has_no_time(source: SourceSummary) -> bool:
    return source.first_ms is None and source.event_count > 0


def _has_no_day(source: SourceSummary) -> bool:
    return source.first_ms is not None and not LAYOUTS_WITHOUT_DATE.isdisjoint(source.layout.split("+"))


def _named(files: dict[str, None]) -> str:
    names = list(files)
    more = len(names) - _NAMED_FILES
    shown = ", ".join(names[:_NAMED_FILES])
    return f"{shown} and {more:,} more" if more > 0 else shown
