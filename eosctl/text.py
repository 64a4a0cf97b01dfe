"""Durations, times and numbers as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def duration_text(duration_ms: int) -> str:
    """Write a duration.

    >>> [duration_text(ms) for ms in (850, 12_400, 185_000, 7_440_000, 200_000_000)]
    ['850 ms', '12 s', '3 min 5 s', '2 h 4 min', '2 d 7 h']
    """
    if duration_ms < 1_000:
        return f"{duration_ms} ms"
    seconds = duration_ms // 1_000
    for unit, size, smaller, smaller_size in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            whole, rest = divmod(seconds, size)
            rest //= smaller_size
            return f"{whole} {unit} {rest} {smaller}" if rest else f"{whole} {unit}"
    return f"{seconds} s"


def time_text(time_ms: int) -> str:
    """Write a point in time as RFC 3339 in UTC with milliseconds.

    >>> time_text(1795253372811)
    '2026-11-21T09:29:32.811Z'
    """
    seconds = datetime.fromtimestamp(time_ms // 1000, UTC).isoformat()[:19]
    return f"{seconds}.{time_ms % 1000:03d}Z"


def count_text(count: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> count_text(1, "record"), count_text(12_345, "record"), count_text(2, "entry", "entries")
    ('1 record', '12,345 records', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def hidden_text(offset_count: int, record_count: int | None) -> str:
    """Write how much is out of sight: records where they were counted, else the offsets that they and markers take.

    >>> hidden_text(12, 7), hidden_text(12, None), hidden_text(1, 1)
    ('7 records (12 offsets)', '12 offsets', '1 record')
    """
    if record_count is None:
        return count_text(offset_count, "offset")
    records = count_text(record_count, "record")
    return records if record_count == offset_count else f"{records} ({count_text(offset_count, 'offset')})"
