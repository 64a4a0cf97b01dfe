"""Durations as frameworks write them."""

from __future__ import annotations

import re
from typing import Final

_DURATION: Final = re.compile(r"(\d{1,30})\s*(ms|milli\w*|s|sec\w*|m|min\w*|h|hour\w*|d|day\w*)?$")
_ISO: Final = re.compile(r"pt(?:(\d{1,30})h)?(?:(\d{1,30})m)?(?:(\d{1,30})s)?")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def duration_ms(text: str | None) -> int | None:
    """Return a duration in milliseconds; a number without unit is one of milliseconds. None for other texts.

    >>> duration_ms("10min"), duration_ms("30 s"), duration_ms("PT1M30S"), duration_ms("60000"), duration_ms("soon")
    (600000, 30000, 90000, 60000, None)
    """
    word = (text or "").strip().lower()
    if (iso := _ISO.fullmatch(word)) and any(iso.groups()):
        hours, minutes, seconds = (int(part or 0) for part in iso.groups())
        return ((hours * 60 + minutes) * 60 + seconds) * 1_000
    match = _DURATION.fullmatch(word)
    if match is None:
        return None
    unit = match[2] or "ms"
    unit = "ms" if unit.startswith(("ms", "milli")) else unit[0]
    return int(match[1]) * _UNITS_MS[unit]
