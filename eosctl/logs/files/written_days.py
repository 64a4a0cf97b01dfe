"""Read the day that a person wrote above a pasted log whose timestamps have only a time of day."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

from eosctl.logs.files.sources import SourceFile

_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_NAME: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAY: Final = re.compile(
    r"(?<![\d.-])(?P<year>20\d\d)[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?![\d.-]\d)"
    rf"|(?i:\b(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?\.? (?P<name2>{_NAME})[a-z]*\.?,? (?P<year2>20\d\d)\b)"
    rf"|(?i:\b(?P<name3>{_NAME})[a-z]*\.? (?P<day3>[0-3]?\d)(?:st|nd|rd|th)?,? (?P<year3>20\d\d)\b)"
)
_RECORD: Final = re.compile(r"^\W{0,8}(?:[A-Z][a-z]{2} +\d{1,2} )?\d{1,2}:\d\d:\d\d\b", re.MULTILINE)
"""The first line with a time of day, where the log begins."""


def on_written_day(source: SourceFile) -> SourceFile | None:
    """Return a file as last written at the end of the day that is written above its records; None without one."""
    day = written_day(source.beginning)
    if day is None:
        return None
    midnight = datetime(day.year, day.month, day.day, tzinfo=source.zone or UTC) + timedelta(days=1)
    end_ms = int(midnight.timestamp()) * 1000 - 1
    return source._replace(modified_ms=end_ms) if source.modified_ms > end_ms else None


def written_day(text: str) -> date | None:
    """Return the last day that a text names above its first line with a time of day; None without one.

    >>> written_day("It died on March 11, 2025, with 3.7.0:\\n14:03:22.123 [main] INFO a - b\\n")
    datetime.date(2025, 3, 11)
    """
    begin = _RECORD.search(text)
    prose = text[: begin.start()] if begin else ""
    return next(filter(None, map(_day_of, reversed(list(_DAY.finditer(prose))))), None)


def _day_of(found: re.Match[str]) -> date | None:
    year, day = (found[name] or found[f"{name}2"] or found[f"{name}3"] for name in ("year", "day"))
    name = (found["name2"] or found["name3"] or "").lower()
    month = _MONTHS[name] if name else int(found["month"])
    try:
        return date(int(year), month, int(day))
    except ValueError:
        return None
