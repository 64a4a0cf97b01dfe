"""Times as logs print them, to milliseconds since the epoch.

A stamp without an offset is local time of an unknown place: the caller's zone is used, and the result marked as
assumed.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple


class Instant(NamedTuple):
    """A point in time: ms since the epoch, and whether zone, date or year had to be assumed."""

    ms: int
    assumed: bool


class TimeReference(NamedTuple):
    """What fills the gaps of incomplete stamps.

    Attributes:
        zone: The zone of stamps without an offset; None means UTC, assumed.
        modified_ms: When the file was last written, ms since the epoch; gives the year or day that a stamp lacks.
    """

    zone: tzinfo | None = None
    modified_ms: int = 0


_ISO: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|[+-]\d\d:?\d\d))?$")
_SHORT: Final = re.compile(r"(\d\d|\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_CLOCK: Final = re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?$")
_SYSLOG: Final = re.compile(r"([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)$")
_EPOCH: Final = re.compile(r"(\d{9,10})(?:\.(\d{1,9}))?$")
_EPOCH_MS: Final = re.compile(r"\d{12,13}$")
_KLOG: Final = re.compile(r"(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,9})$")
_MONTHS: Final = {name: number for number, name in enumerate(calendar.month_abbr) if name}
_DAY_MS: Final = 86_400_000


def parse_timestamp(text: str, reference: TimeReference) -> Instant | None:
    """Parse a stamp of any known form.

    Args:
        text: ISO 8601 with dot or comma, ``yy/MM/dd``, ``yyyy/MM/dd``, a clock time, syslog's, klog's, epoch seconds.
        reference: What fills the gaps.

    Returns:
        The instant, or None when the text is no time.
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


def _incomplete(text: str, reference: TimeReference) -> Instant | None:
    """Parse the forms that lack century, year or day."""
    written = datetime.fromtimestamp(reference.modified_ms / 1000, reference.zone or UTC)
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
            return _local(moment, None, reference, True)
        if found := _KLOG.match(text):
            month = int(found[1])
            year = written.year - (month > written.month)
            return _local(
                (year, month, int(found[2]), int(found[3]), int(found[4]), int(found[5])), found[6], reference, True
            )
        if found := _CLOCK.match(text):
            clock = (written.year, written.month, written.day, int(found[1]), int(found[2]), int(found[3]))
            instant = _local(clock, found[4], reference, True)
            # A clock time later than the file's last change belongs to the day before.
            return Instant(instant.ms - _DAY_MS, True) if instant.ms > reference.modified_ms + 1000 else instant
    except (ValueError, KeyError):
        return None
    return None


def _local(
    parts: tuple[int, int, int, int, int, int], fraction: str | None, reference: TimeReference, assumed: bool = False
) -> Instant:
    moment = datetime(*parts, tzinfo=reference.zone or UTC)
    return Instant(int(moment.timestamp()) * 1000 + _millis(fraction), assumed or reference.zone is None)


@lru_cache(maxsize=4096)
def _minute(text: str, offset: str, zone: tzinfo | None) -> tuple[int | None, bool]:
    """Return the start of a minute, ms since the epoch, and whether that took an assumption."""
    iso = text.replace(" ", "T")
    try:
        if offset:
            spelled = "+00:00" if offset == "Z" else offset if ":" in offset else f"{offset[:3]}:{offset[3:]}"
            return int(datetime.fromisoformat(f"{iso}:00{spelled}").timestamp()) * 1000, False
        naive = datetime.fromisoformat(f"{iso}:00")
    except ValueError:
        return None, True
    moment = naive.replace(tzinfo=zone or UTC)
    folded = zone is not None and moment.utcoffset() != moment.replace(fold=1).utcoffset()
    return int(moment.timestamp()) * 1000, zone is None or folded


def _millis(fraction: str | None) -> int:
    return int(fraction[:3].ljust(3, "0")) if fraction else 0
