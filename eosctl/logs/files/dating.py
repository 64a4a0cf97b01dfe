"""Date timestamps without a day: by the file's last change, unless it is only the time of copying."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Final

from eosctl.logs.carriers.peeled import peeled_records
from eosctl.logs.carriers.wrappers import DOCUMENT, SYSLOG
from eosctl.logs.files.content import Margins, codec_of, last_inflated, read_content, read_window
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.files.written_days import on_written_day
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import scan_records
from eosctl.logs.timestamps import TimeReference, parse_timestamp
from eosctl.model.log_event import LAYOUTS_WITHOUT_DATE

_END_BYTES: Final = 65_536
_MOST_WHOLE_BYTES: Final = 16 * 1024 * 1024
"""Maximum size on disk of a file that is read twice because its end cannot be read separately."""
_LONGER_MS: Final = 3_600_000
"""Maximum time by which a program's last record may be later than those of all others before a copy."""
_DAY_MS: Final = 86_400_000
_TWO_YEARS_MS: Final = 2 * 366 * _DAY_MS
_NAMED_DAY: Final = re.compile(r"(?<!\d)(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")
"""The day that rotation adds to a file's name."""


def date_sources(sources: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
    """Correct the time of the last write of files with timestamps that lack the day or year.

    Logs next to them have complete timestamps. The shortest time between their last timestamp and their last change
    is the age of the logs when they were copied or, without a time zone, the offset from UTC. A day in the file's own
    name counts if the last change is more than a day later, and so does a day that a person wrote above the log.

    Args:
        sources: All files of one reading.

    Returns:
        The same files in the same order.
    """
    complete = [has_dates(source) for source in sources]
    lags_ms = [lag for source, dated in zip(sources, complete, strict=True) if dated for lag in _lags_ms(source)]
    by_ms = copied_after_ms(lags_ms)
    return tuple(
        dated_by_itself(source)
        if dated
        else _near_own_dates(source) or on_written_day(source) or date_source(source, by_ms)
        for source, dated in zip(sources, complete, strict=True)
    )


def copied_after_ms(lags_ms: Iterable[int]) -> int:
    """Return by how much the last changes of files are later than their ends, ms.

    Args:
        lags_ms: How long after its last complete stamp each file was changed.
    """
    lag_ms = min(lags_ms, default=0)
    return lag_ms if lag_ms < 0 else max(0, lag_ms - _LONGER_MS)


def date_source(source: SourceFile, by_ms: int) -> SourceFile:
    """Return a file whose stamps lack day or year as last written so much earlier, or on the day in its name."""
    return source._replace(modified_ms=_not_after_named_day(source, source.modified_ms - by_ms))


def has_dates(source: SourceFile) -> bool:
    """Return whether the first stamps of a file name their year, so that they do not depend on when it was written."""
    now, then = (
        TimeReference(source.zone, modified_ms)
        for modified_ms in (source.modified_ms, source.modified_ms - _TWO_YEARS_MS)
    )
    records = _records(source.beginning.encode(), source)
    return all(parse_timestamp(record.time, now) == parse_timestamp(record.time, then) for record in records)


def dated_by_itself(source: SourceFile) -> SourceFile:
    """Return a file that begins with dates, and has other records without one, as last written near its own dates."""
    names = {layout.name for layout in source.verdict.layouts}
    # The stamps of syslog have no year, which the records of a program in it may have.
    lacks_dates = source.wrapper.endswith(SYSLOG) or not LAYOUTS_WITHOUT_DATE.isdisjoint(names)
    return (_near_own_dates(source) if lacks_dates else None) or source


def _near_own_dates(source: SourceFile) -> SourceFile | None:
    """Return a file of several programs as last written soon after its complete stamps; None if it has none.

    The programs of one file wrote at the same time: what they print without a date is within half a day of what they
    print with one.
    """
    references = [TimeReference(source.zone, source.modified_ms - ago_ms) for ago_ms in (0, _TWO_YEARS_MS)]
    latest_ms = max(
        (
            now.ms
            for record in chain(_records(source.beginning.encode(), source), _records(_end_of(source), source))
            if (now := parse_timestamp(record.time, references[0])) is not None
            and now == parse_timestamp(record.time, references[1])
        ),
        default=None,
    )
    if latest_ms is None:
        return None
    return source._replace(modified_ms=min(source.modified_ms, latest_ms + _DAY_MS // 2))


def _lags_ms(source: SourceFile) -> Iterator[int]:
    """Yield the time from a file's last timestamp to its last change, ms; nothing if its end is unread or has none."""
    reference = TimeReference(source.zone, source.modified_ms)
    stamps = (parse_timestamp(record.time, reference) for record in _records(_end_of(source), source) if record.time)
    # A document may have any number of records, so only the last one is kept.
    if last := deque((instant for instant in stamps if instant is not None), maxlen=1):
        yield source.modified_ms - last[0].ms


def _end_of(source: SourceFile) -> bytes:
    """Return the last bytes of a file's content: a whole document, and no more than `_END_BYTES` of anything else."""
    path = Path(source.name)
    is_packed, is_document = bool(codec_of(source.head)), DOCUMENT in source.wrapper
    try:
        if source.splittable or not (is_packed or is_document):
            begin = max(0, source.size_bytes - _END_BYTES)
            return bytes(read_window(path, begin, None, Margins(1, 0), source.size_bytes).data)
        if source.size_bytes <= _MOST_WHOLE_BYTES:
            return bytes(read_content(path).data) if is_document else last_inflated(path, _END_BYTES).data
    except OSError:
        pass  # The scan itself reports it.
    return b""


def _records(data: bytes, source: SourceFile) -> Iterator[Record]:
    return peeled_records(data, source) if source.wrapper else scan_records(data, source.verdict)


def _not_after_named_day(source: SourceFile, written_ms: int) -> int:
    """Return the last millisecond of the day in a file's name if the given time is much later, else the given time.

    A day of tolerance allows for rotation: some programs use the previous day's name, some the next day's.
    """
    for year, month, day in _NAMED_DAY.findall(Path(source.name).name):
        try:
            midnight = datetime(int(year), int(month), int(day), tzinfo=source.zone or UTC) + timedelta(days=1)
        except ValueError:
            continue
        end_ms = int(midnight.timestamp()) * 1000 - 1
        return end_ms if written_ms > end_ms + _DAY_MS else written_ms
    return written_ms
