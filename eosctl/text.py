"""Format durations, times, sizes, rates, and numbers for display."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

NAMED: Final = 8
"""The number of names that `name_some` shows."""
_FIRST_MS: Final = int(datetime.min.replace(tzinfo=UTC).timestamp()) * 1000
_END_MS: Final = int(datetime.max.replace(tzinfo=UTC).timestamp()) * 1000


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
    """Write a point in time as RFC 3339 in UTC with milliseconds; outside of its years 1 to 9999, the milliseconds.

    >>> time_text(1795253372811), time_text(2**63 - 1)
    ('2026-11-21T09:29:32.811Z', '9223372036854775807 ms')
    """
    if not _FIRST_MS <= time_ms < _END_MS:
        return f"{time_ms} ms"
    seconds = datetime.fromtimestamp(time_ms // 1000, UTC).isoformat()[:19]
    return f"{seconds}.{time_ms % 1000:03d}Z"


def count_text(count: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    >>> count_text(1, "record"), count_text(12_345, "record"), count_text(2, "entry", "entries")
    ('1 record', '12,345 records', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def one_line(text: str, limit: int) -> str:
    """Write a text on one line; a longer one than the limit, in characters, is cut behind a word.

    >>> one_line("Fenced by\\n  epoch 3", 20), one_line("Fenced by epoch 3", 16)
    ('Fenced by epoch 3', 'Fenced by epoch …')
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[:limit]
    return f"{cut.rpartition(' ')[0] or cut} …"


def name_some(noun: str, names: Sequence[str], plural: str | None = None) -> str:
    """Name a few things and count the rest.

    >>> name_some("broker", ["1"]), name_some("broker", ["1", "2"])
    ('broker 1', 'brokers 1, 2')
    """
    shown = ", ".join(names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{noun if len(names) == 1 else plural or noun + 's'} {shown}{more}"


def hidden_text(offset_count: int, record_count: int | None) -> str:
    """Write how much is out of sight: records where they were counted, else the offsets that they and markers take.

    >>> hidden_text(12, 7), hidden_text(12, None), hidden_text(1, 1)
    ('7 records (12 offsets)', '12 offsets', '1 record')
    """
    if record_count is None:
        return count_text(offset_count, "offset")
    records = count_text(record_count, "record")
    return records if record_count == offset_count else f"{records} ({count_text(offset_count, 'offset')})"


def bytes_text(size: float) -> str:
    """Write a size in powers of 1,000, as disks and networks are sold.

    >>> [bytes_text(size) for size in (0, 950, 6.05e12, 849_000, 999_900)]
    ['0 B', '950 B', '6.05 TB', '849 kB', '1,000 kB']
    """
    for unit, power in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= power:
            return f"{_three(size / power)} {unit}"
    return f"{size:.0f} B"


def both_bytes_text(size: float) -> str:
    """Write a size in both systems; half of all sizing sheets mix them up.

    >>> both_bytes_text(6.05e12)
    '6.05 TB (5.5 TiB)'
    """
    for unit, power in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= power:
            return f"{bytes_text(size)} ({_three(size / power)} {unit})"
    return bytes_text(size)


def byte_rate_text(rate: float) -> str:
    """Write a byte rate.

    >>> byte_rate_text(2.55e6)
    '2.55 MB/s'
    """
    return f"{bytes_text(rate)}/s"


def rate_text(rate: float) -> str:
    """Write a rate of countable things.

    >>> rate_text(10_880), rate_text(3.2)
    ('10,880/s', '3.2/s')
    """
    return f"{number_text(rate)}/s"


def number_text(number: float) -> str:
    """Write a number: whole from 100 on, else three digits.

    >>> number_text(16_363_112), number_text(108.8), number_text(1.0), number_text(0.0312)
    ('16,363,112', '109', '1', '0.0312')
    """
    return f"{number:,.0f}" if number >= 100 else _three(number)


def milliseconds_text(duration_ms: float) -> str:
    """Write a duration.

    >>> [milliseconds_text(ms) for ms in (0.5, 99, 1_860, 70_000, 86_400_000, float("inf"))]
    ['0.5 ms', '99 ms', '1.86 s', '70 s', '24 h', 'never']
    """
    if math.isinf(duration_ms):
        return "never"
    for unit, size in (("d", 172_800_000), ("h", 3_600_000), ("min", 120_000), ("s", 1_000)):
        if duration_ms >= size:
            return f"{_three(duration_ms / {'d': 86_400_000, 'min': 60_000}.get(unit, size))} {unit}"
    return f"{_three(duration_ms)} ms"


def _three(number: float) -> str:
    return f"{number:.3g}" if number < 999.5 else f"{number:,.0f}"


def release_text(release: tuple[int, int]) -> str:
    """Write a release: ``3.9``."""
    return f"{release[0]}.{release[1]}"
