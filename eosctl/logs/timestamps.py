"""Convert timestamps in logs to milliseconds since the epoch.

A timestamp without an offset is local time of an unknown place: the caller's zone is used, and the result is marked as
assumed.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple


class Instant(NamedTuple):
    """A point in time: ms since the epoch, and whether the zone, date, or year is assumed."""

    ms: int
    assumed: bool


class TimeReference(NamedTuple):
    """The values that complete incomplete timestamps.

    Attributes:
        zone: The time zone of timestamps without an offset; None means that UTC is assumed.
        modified_ms: When the file was last written, ms since the epoch; gives a missing year or day.
    """

    zone: tzinfo | None = None
    modified_ms: int = 0


_ZONES: Final = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET"), 0),
    **dict.fromkeys(("CET", "WEST"), 60),
    **dict.fromkeys(("CEST", "EET"), 120),
    **dict.fromkeys(("EEST", "MSK"), 180),
    "JST": 540,
    "KST": 540,
    "EDT": -240,
    "EST": -300,
    "CDT": -300,
    "MDT": -360,
    "MST": -420,
    "PDT": -420,
    "PST": -480,
}
"""Minutes east of Greenwich of the unambiguous abbreviations; BST, CST, and IST are ambiguous."""
_ZONE: Final = f"{'|'.join(sorted(_ZONES, key=len, reverse=True))}|[+-]\\d\\d:?\\d\\d"
_ISO: Final = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{{1,9}}))?(?: ?({_ZONE}))?$")
_SHORT: Final = re.compile(r"(\d\d|\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_KITCHEN: Final = re.compile(r"(\d{1,2}):(\d\d)([AP])M$")
"""The clock of Go's consoles, without seconds."""
_SYSLOG: Final = re.compile(r"([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")
_EPOCH: Final = re.compile(r"(\d{9,10})(?:[.,](\d{1,9}))?$")
_EPOCH_MS: Final = re.compile(r"\d{12,13}$")
_KLOG: Final = re.compile(r"(\d\d)[/-]?(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
"""Month, day, and clock: those of klog, and of patterns without a year."""
_HOUR: Final = (
    r"(?P<clock>\d{1,2}:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?(?:\s{1,2}(?P<half>[AaPp])[Mm])?"
    rf"(?: ?(?P<zone>{_ZONE}))?$"
)
_SPELLED: Final = (
    re.compile(rf"(?P<day>\d{{1,2}})(?P<mark>[./-])(?P<month>\d{{1,2}})[./-](?P<year>\d{{4}}),?[ T]{_HOUR}"),
    re.compile(rf"(?P<day>\d{{1,2}})[ /-](?P<name>[A-Z][a-z]{{2}})[a-z]*[ /-](?P<year>\d{{4}})[ :,T]{{1,2}}{_HOUR}"),
    re.compile(rf"(?P<name>[A-Z][a-z]{{2}})[a-z]* (?P<day>\d{{1,2}}), (?P<year>\d{{4}}),?(?: @)? {_HOUR}"),
    re.compile(
        r"(?:[A-Z][a-z]{2} )?(?P<name>[A-Z][a-z]{2})[a-z]* +(?P<day>\d{1,2}) (?P<clock>\d\d:\d\d:\d\d)"
        r"(?: (?P<place>[A-Z]{3,4}))? (?P<year>\d{4})$"
    ),
    re.compile(rf"(?P<year>20\d\d)(?P<month>\d\d)(?P<day>\d\d)[T -]{_HOUR}"),
    re.compile(
        r"(?P<year>20\d\d)(?P<month>\d\d)(?P<day>\d\d)[T -](?P<clock>\d{6})"
        rf"(?:[.,](?P<part>\d{{1,9}}))?(?: ?(?P<zone>{_ZONE}))?$"
    ),
    re.compile(rf"(?P<year>\d{{4}})[/.](?P<month>\d\d)[/.](?P<day>\d\d)[T ]{_HOUR}"),
)
"""Dates in national forms: day, month, and year with separators, or the month by its name."""
_MONTHS: Final = {name: number for number, name in enumerate(calendar.month_abbr) if name}
_OTHER_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            *("jän janv ene gen", "févr febr", "mär märz mars mrt", "avr abr", "mai mag maio mei", "juni juin giu jun"),
            *("juli juil lug jul", "août ago", "sept set", "okt ott out", "nov noviembre", "dez déc dic"),
        ),
        1,
    )
    for name in names.split()
}
"""Months as java.util.logging prints them in German, French, Spanish, Italian, Portuguese, and Dutch."""
_LOCALIZED: Final = re.compile(
    r"(?:(?P<number>\d{1,2})月|(?P<name>[^\W\d]{3,9})\.?) (?P<day>\d{1,2}), (?P<year>\d{4}),? "
    r"(?P<clock>\d{1,2}:\d\d:\d\d)\s{1,3}(?P<half>\S{2,9})$"
)
_AFTERNOON: Final = ("p", "nachm", "午後", "下午", "오후")
_DAYLESS: Final = re.compile(r"(?:[A-Z][a-z]{2} +\d{1,2} |\d\d[/-]?\d\d[ T])?\d{1,2}:\d\d")
_CLOCK_ALONE: Final = re.compile(r"\d{1,2}:\d\d")
_DAY_MS: Final = 86_400_000


def parse_timestamp(text: str, reference: TimeReference) -> Instant | None:
    """Parse a timestamp of any known form.

    Args:
        text: ISO 8601 with dot or comma, ``yy/MM/dd``, ``yyyy/MM/dd``, a clock time, syslog's, klog's, epoch seconds.
        reference: The values for missing parts.

    Returns:
        The instant, or None if the text is not a time.
    """
    text = text.strip()
    if found := _ISO.match(text):
        minute_ms, assumed = _minute(text[:16], found[8] or "", reference.zone)
        if minute_ms is None:
            return None
        return Instant(minute_ms + int(found[6]) * 1000 + _millis(found[7]), assumed)
    if found := _EPOCH.match(text):
        return Instant(int(found[1]) * 1000 + _millis(found[2]), False)
    if _EPOCH_MS.match(text):
        return Instant(int(text), False)
    return _incomplete(text, reference)


_LATEST_MS: Final = 1 << 47
"""The year 6429: file systems keep times that no calendar has."""


_OFFSET: Final = re.compile(r"[+-]\d\d:?\d\d$")
_HALF_HOUR_MS: Final = 1_800_000
_FARTHEST_MS: Final = 14 * 3_600_000
"""The largest difference of a zone from UTC."""
_AHEAD_MS: Final = 1_000
"""A wrapper may cut the fraction of a second."""
_LATE_MS: Final = 5_000
_LATE_IN_ZONE_MS: Final = 60_000
"""Maximum time from a record until its wrapper; more if the wrapper names the zone."""
_ANY: Final = TimeReference()


def in_zone_of(own: str, around: str) -> str:
    """Return a timestamp without an offset as ms since the epoch, if the time at which its line was carried shows it.

    Containers and services often write local time, and what carries their lines adds the offset or UTC.

    Args:
        own: The timestamp of a record.
        around: The timestamp of its wrapper.

    Returns:
        The milliseconds as text; ``own`` itself if it has an offset, or if no zone brings it just before ``around``.
    """
    inner, outer = parse_timestamp(own, _ANY), parse_timestamp(around, _ANY)
    if inner is None or outer is None or not inner.assumed or outer.assumed:
        return own
    ahead_ms = inner.ms - outer.ms
    if found := _OFFSET.search(around):
        named_ms = int((_offset(found[0]).utcoffset(None) or timedelta()).total_seconds()) * 1000
        if -_LATE_IN_ZONE_MS <= ahead_ms - named_ms <= _AHEAD_MS:
            return str(inner.ms - named_ms)
    shift_ms = round(ahead_ms / _HALF_HOUR_MS) * _HALF_HOUR_MS
    is_near = -_LATE_MS <= ahead_ms - shift_ms <= _AHEAD_MS
    return str(inner.ms - shift_ms) if is_near and abs(shift_ms) <= _FARTHEST_MS else own


def lacks_date(text: str) -> bool:
    """Return whether a timestamp has no year or no date at all."""
    return _DAYLESS.match(text) is not None


def lacks_day(text: str) -> bool:
    """Return whether a timestamp is only a time of day."""
    return _CLOCK_ALONE.match(text) is not None


def _incomplete(text: str, reference: TimeReference) -> Instant | None:
    """Parse the forms without a century, year, or day."""
    modified_ms = min(max(reference.modified_ms, 0), _LATEST_MS)
    written = datetime.fromtimestamp(modified_ms / 1000, reference.zone or UTC)
    try:
        if found := _SHORT.match(text):
            year = int(found[1]) + (2000 if len(found[1]) == 2 else 0)
            return _local(
                (year, int(found[2]), int(found[3]), int(found[4]), int(found[5]), int(found[6])), found[7], reference
            )
        if found := _SYSLOG.match(text):
            month = _MONTHS[found[1]]
            year = written.year - (month > written.month)
            moment = (year, month, int(found[2]), int(found[3]), int(found[4]), int(found[5]))
            return _local(moment, found[6], reference, True)
        if found := _KLOG.match(text):
            month = int(found[1])
            year = written.year - (month > written.month)
            return _local(
                (year, month, int(found[2]), int(found[3]), int(found[4]), int(found[5])), found[6], reference, True
            )
        if found := _KITCHEN.match(text):
            hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
            return _incomplete(f"{hour:02}:{found[2]}:00", reference)
        if found := _CLOCK.match(text):
            clock = (written.year, written.month, written.day, int(found[1]), int(found[2]), int(found[3]))
            instant = _local(clock, found[4], reference, True)
            # A clock time later than the file's last change belongs to the day before.
            return Instant(instant.ms - _DAY_MS, True) if instant.ms > reference.modified_ms + 1000 else instant
        for form in _SPELLED:
            if found := form.match(text):
                return _spelled(found.groupdict(), reference)
        if found := _LOCALIZED.match(text):
            return _localized(found.groupdict(), reference)
    except (ValueError, KeyError):
        return None
    return None


def _spelled(parts: Mapping[str, str | None], reference: TimeReference) -> Instant:
    """Build a date from named parts."""
    clock = str(parts["clock"]).replace(":", "").zfill(6)
    hour, minute, second = (int(clock[at : at + 2]) for at in (0, 2, 4))
    if half := parts.get("half"):
        hour = hour % 12 + (12 if half in "Pp" else 0)
    day, year = int(parts["day"] or 0), int(parts["year"] or 0)
    month = _MONTHS[str(parts["name"])] if parts.get("name") else int(parts["month"] or 0)
    zone, guessed = parts.get("zone"), False
    if parts.get("mark") == "/":
        # Among the forms with slashes, only the American one has AM and PM in capitals.
        is_american = (parts.get("half") or "") in ("A", "P")
        day, month, guessed = _day_and_month(day, month, year, None if is_american else reference)
    local = reference
    if (zone := zone or parts.get("place")) and (zone[0] in "+-" or zone in _ZONES):
        local = reference._replace(zone=_offset(zone))
    return _local((year, month, day, hour, minute, second), parts.get("part"), local, guessed)


def _localized(parts: Mapping[str, str | None], reference: TimeReference) -> Instant:
    """Read a date of java.util.logging in another language.

    Raises:
        KeyError: The month is unknown.
    """
    name = str(parts["name"]).lower()
    known = next((number for start, number in _OTHER_MONTHS.items() if name.startswith(start)), None)
    month = int(str(parts["number"])) if parts["number"] else known or _MONTHS[name[:3].capitalize()]
    hour, minute, second = (int(part) for part in str(parts["clock"]).split(":"))
    hour = hour % 12 + (12 if str(parts["half"]).lower().startswith(_AFTERNOON) else 0)
    day = (int(str(parts["year"])), month, int(str(parts["day"])))
    return _local((*day, hour, minute, second), None, reference)


def _day_and_month(first: int, second: int, year: int, reference: TimeReference | None) -> tuple[int, int, bool]:
    """Return day and month of ``11/12/2026``: the date nearer to the file's last change, marked as a guess.

    Without a reference, the month is first.
    """
    if first > 12 or second > 12 or first == second:
        return (first, second, False) if first > 12 or second <= 12 else (second, first, False)
    if reference is None:
        return second, first, True
    written_s = reference.modified_ms / 1000
    european, american = (
        abs(datetime(year, month, day, tzinfo=UTC).timestamp() - written_s)
        for day, month in ((first, second), (second, first))
    )
    return (first, second, True) if european <= american else (second, first, True)


def _offset(text: str) -> tzinfo:
    if text in _ZONES:
        return timezone(timedelta(minutes=_ZONES[text]))
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def _local(
    parts: tuple[int, int, int, int, int, int], fraction: str | None, reference: TimeReference, assumed: bool = False
) -> Instant:
    moment = datetime(*parts, tzinfo=reference.zone or UTC)
    return Instant(int(moment.timestamp()) * 1000 + _millis(fraction), assumed or reference.zone is None)


@lru_cache(maxsize=4096)
def _minute(text: str, offset: str, zone: tzinfo | None) -> tuple[int | None, bool]:
    """Return the start of a minute, ms since the epoch, and whether it is assumed."""
    iso = text.replace(" ", "T")
    try:
        if offset:
            return int(datetime.fromisoformat(f"{iso}:00").replace(tzinfo=_offset(offset)).timestamp()) * 1000, False
        naive = datetime.fromisoformat(f"{iso}:00")
    except ValueError:
        return None, True
    moment = naive.replace(tzinfo=zone or UTC)
    folded = zone is not None and moment.utcoffset() != moment.replace(fold=1).utcoffset()
    return int(moment.timestamp()) * 1000, zone is None or folded


def _millis(fraction: str | None) -> int:
    return int(fraction[:3].ljust(3, "0")) if fraction else 0
