"""How much of log files was read and recognized, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.findings.other_programs import no_kafka_text
from eosctl.model.log_event import UNCLASSIFIED
from eosctl.model.log_findings import FileCoverage, LogFindings, Recognition, SkippedFile
from eosctl.model.period import ALL_TIME, Period
from eosctl.text import count_text, time_text

NAMED_FILES: Final = 3
FEW: Final = 10
"""The part of the records, one in this many, with which a catalog says little about a log."""
PERIOD: Final = "the period"
"""What is named in place of a file if the records of all files lie outside of the period."""


def unread_text(one: FileCoverage) -> str:
    """Describe a file that was not recognized, or only in part; empty for one that was."""
    match one.recognition:
        case Recognition.EMPTY:
            return f"{one.file} is empty"
        case Recognition.NONE:
            return f"no log record was recognized in {one.file} ({count_text(one.line_count, 'line')})"
        case Recognition.LITTLE:
            of = count_text(one.line_count, "line")
            return f"log records were recognized in only {one.recognized_count:,} of {of} of {one.file}"
        case Recognition.MOST:
            return ""


def nothing_read_text(findings: LogFindings) -> str:
    """Return the headline where no log record was recognized in any file; empty where one was."""
    if findings.has_records:
        return ""
    unknown = [one.file for one in findings.coverage if one.recognition is Recognition.NONE]
    if unknown:
        return f"No log record was recognized in {_named(unknown)}."
    broken = [f"{one.file} could not be read to its end: {one.error}" for one in findings.sources if one.error]
    if broken:
        return f"No log record was read ({'; '.join(broken[:NAMED_FILES])})."
    if findings.coverage:
        empty = [one.file for one in findings.coverage]
        return f"No log records: {_named(empty)} {'is' if len(empty) == 1 else 'are'} empty."
    if findings.skipped:
        return f"No log was read ({'; '.join(f'{one.file}: {one.reason}' for one in findings.skipped[:NAMED_FILES])})."
    return "No log was read: the input holds no file."


def unjudged_text(findings: LogFindings) -> str:
    """Return a sentence if no record is of Kafka, in the catalog, or in the period; empty if there are no records."""
    if outside := next((one.reason for one in findings.skipped if one.file == PERIOD), ""):
        return f"{outside[:1].upper()}{outside[1:]}"
    if other := no_kafka_text(findings):
        return other
    if not findings.has_records or findings.totals.by_category.keys() - {UNCLASSIFIED}:
        return ""
    records = count_text(sum(source.event_count for source in findings.sources), "record")
    return f"None of {records} is in the log catalog, so these logs do not show whether transactions work"


def known_share_text(findings: LogFindings) -> str:
    """Return how few of the records are in the catalog, to follow a verdict; empty for a tenth or more of them."""
    known = findings.totals.event_count - findings.totals.by_category.get(UNCLASSIFIED, 0)
    records = sum(source.event_count for source in findings.sources)
    return (
        f", with only {known:,} of {count_text(records, 'record')} in the log catalog" if known * FEW < records else ""
    )


def outside_of(findings: LogFindings, period: Period) -> SkippedFile | None:
    """Return what was not judged if no record lies in a period: a wrong clock or zone, or another time was meant."""
    times = [(one.first_ms, one.last_ms) for one in findings.sources]
    known = [(first, last) for first, last in times if first is not None and last is not None]
    if period == ALL_TIME or not known or len(known) < len(times) or findings.totals.event_count:
        return None
    if any(period.touches(first, last) for first, last in known):
        return None
    begin, end = time_text(min(first for first, _ in known)), time_text(max(last for _, last in known))
    return SkippedFile(PERIOD, f"no record lies in the period: they are from {begin} to {end}", True)


def _named(files: Sequence[str]) -> str:
    names = ", ".join(files[:NAMED_FILES])
    more = len(files) - NAMED_FILES
    return f"{names} and {count_text(more, 'more file')}" if more > 0 else names


def reading_text(findings: LogFindings) -> str:
    """Return how much was read, in words."""
    records = sum(source.event_count for source in findings.sources)
    size_mb = sum(source.size_bytes for source in findings.sources) / 1e6
    return f"Read {count_text(len(findings.sources), 'file')}, {size_mb:.1f} MB, {count_text(records, 'record')}"


def unlisted_texts(findings: LogFindings) -> tuple[str, ...]:
    """Return that not all events are listed; nothing if they are."""
    listed_count, event_count = len(findings.events), findings.totals.event_count
    if listed_count >= event_count:
        return ()
    judged = (
        f"{event_count:,} events were judged and counted; {listed_count:,} of them, which are evidence, are listed."
    )
    return (f"{judged} Run eosctl logs submit for a table of all events.",)


def cataloged_text(findings: LogFindings) -> str:
    """Return the amount of input, and the number of records in the catalog."""
    unknown = findings.totals.by_category.get(UNCLASSIFIED, 0)
    others = f", and {count_text(unknown, 'other error')}" if unknown else ""
    return f"{reading_text(findings)}, {findings.totals.event_count - unknown:,} of them in the catalog{others}"
