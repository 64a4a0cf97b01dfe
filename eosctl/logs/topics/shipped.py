"""Turn records of a topic into lines by source; each line keeps its record's offset.

A shipper may or may not join the lines of an event, and may or may not wrap them in JSON. The lines of one source keep
their order only within a partition. The machine, file, and service that the shipper adds identify a source.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.carriers import Inner, read_carried
from eosctl.logs.files.hosts import host_of_path, host_of_values


class TopicRecord(NamedTuple):
    """A record of a partition: its offset, time (ms since the epoch; None without one), key, value, and headers."""

    offset: int
    time_ms: int | None
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Source(NamedTuple):
    """The origin of a line, as far as its record has it: machine, file, and service or stream."""

    host: str
    path: str
    service: str


_PATHS: Final = ("log.file.path", "file", "path", "filename")
_SERVICES: Final = ("service.name", "service", "application", "app")
"""Header names of the file and the service; those of the machine are the same as in records."""

_LONGEST_NAME: Final = 253
"""A machine's name, by its syntax."""


def source_of(record: TopicRecord) -> tuple[Source, Inner]:
    """Return the source of a record, and its text without the shipper's wrapper."""
    named = {name: value.decode("utf-8", "replace") for name, value in record.headers if value}
    carried = read_carried(record.value)
    inner = carried or Inner("", record.value.rstrip(b"\r\n"))
    path = inner.path or _first(named, _PATHS)
    host = inner.host or host_of_values(named) or _host_of_key(record.key) or (host_of_path(Path(path)) if path else "")
    stamp = inner.stamp or ("" if record.time_ms is None else str(record.time_ms))
    return Source(host, path, inner.stream or _first(named, _SERVICES)), inner._replace(stamp=stamp)


def _first(headers: Mapping[str, str], names: Iterable[str]) -> str:
    return next((headers[name] for name in names if headers.get(name)), "")


def _host_of_key(key: bytes | None) -> str:
    """Return a key as a machine's name, if it has the form of one; most keys do not."""
    if not key or len(key) > _LONGEST_NAME or not key.isascii() or b"/" in key or b"\0" in key:
        return ""
    return host_of_path(Path("/", key.decode(), "log"))


class Place(NamedTuple):
    """The position of a line: its record's offset, its number in the record (from 0), and its time."""

    offset: int
    line: int
    stamp: str


class Stream:
    """The lines of one source, joined like a file.

    Attributes:
        text: The lines; the first one starts at ``BEGIN``.
        newest_ms: The time of the last record that has one.
    """

    BEGIN: Final = 1
    """A line break precedes the text, so that a reader can treat it as the middle of a file."""

    def __init__(self) -> None:
        self.text = bytearray(b"\n")
        self.newest_ms: int | None = None
        self._starts: list[int] = []
        self._records: list[tuple[int, str]] = []
        self._open = False

    def add(self, record: TopicRecord, inner: Inner) -> None:
        """Append a record's lines."""
        if not self._open:
            self._starts.append(len(self.text))
            self._records.append((record.offset, inner.stamp))
        self.text += inner.text
        if inner.whole:
            self.text += b"\n"
        self._open = not inner.whole
        self.newest_ms = record.time_ms if record.time_ms is not None else self.newest_ms

    def start_of(self, offset: int) -> int:
        """Return the position in the text of the first record at or after an offset; the text's end if none follows."""
        number = next((number for number, (at, _) in enumerate(self._records) if at >= offset), None)
        return len(self.text) if number is None else self._starts[number]

    def place(self, position: int) -> Place:
        """Return the place of the line that starts at a position in the text."""
        number = bisect_right(self._starts, position) - 1
        offset, stamp = self._records[number]
        return Place(offset, self.text.count(b"\n", self._starts[number], position), stamp)

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self._records[-1][0]


def gather(records: Sequence[TopicRecord]) -> dict[Source, Stream]:
    """Group the records of a partition by source."""
    streams: dict[Source, Stream] = {}
    for record in records:
        source, inner = source_of(record)
        streams.setdefault(source, Stream()).add(record, inner)
    return streams
