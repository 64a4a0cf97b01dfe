"""From records of a topic to lines by their source, each of which remembers its record.

A shipper may have joined an event's lines or not, and put JSON around them or not. What one source wrote stays in order
only within a partition; sources are told apart by what the shipper says of them: machine, file and service.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.carriers import Inner, read_carried
from eosctl.logs.files.hosts import host_of_path, host_of_values


class TopicRecord(NamedTuple):
    """A record of a partition: its offset, time (ms since the epoch; None without one), key, value and headers."""

    offset: int
    time_ms: int | None
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Source(NamedTuple):
    """Who wrote a line, as far as its record tells: machine, file, and service or stream."""

    host: str
    path: str
    service: str


_PATHS: Final = ("log.file.path", "file", "path", "filename")
_SERVICES: Final = ("service.name", "service", "application", "app")
"""What headers call the file and the service; those of the machine are as in records."""

_LONGEST_NAME: Final = 253
"""Of a machine, by the rules of its name."""


def source_of(record: TopicRecord) -> tuple[Source, Inner]:
    """Take off what a shipper put around a record's text."""
    told = {name: value.decode("utf-8", "replace") for name, value in record.headers if value}
    carried = read_carried(record.value)
    inner = carried or Inner("", record.value.rstrip(b"\r\n"))
    path = inner.path or _first(told, _PATHS)
    host = inner.host or host_of_values(told) or _host_of_key(record.key) or (host_of_path(Path(path)) if path else "")
    stamp = inner.stamp or ("" if record.time_ms is None else str(record.time_ms))
    return Source(host, path, inner.stream or _first(told, _SERVICES)), inner._replace(stamp=stamp)


def _first(told: Mapping[str, str], names: Iterable[str]) -> str:
    return next((told[name] for name in names if told.get(name)), "")


def _host_of_key(key: bytes | None) -> str:
    """Return the machine that a key is, if it is spelt like one; most keys say nothing about it."""
    if not key or len(key) > _LONGEST_NAME or not key.isascii() or b"/" in key or b"\0" in key:
        return ""
    return host_of_path(Path("/", key.decode(), "log"))


class Place(NamedTuple):
    """Where a line is: its record's offset, its number in the record (from 0), and when it was written."""

    offset: int
    line: int
    stamp: str


class Stream:
    """What one source wrote, put together as if it were a file.

    Attributes:
        text: Its lines; the first starts at ``BEGIN``.
        newest_ms: The time of the last record that has one.
    """

    BEGIN: Final = 1
    """A line end stands in front, so that a reader may be told that more was before."""

    def __init__(self) -> None:
        self.text = bytearray(b"\n")
        self.newest_ms: int | None = None
        self._starts: list[int] = []
        self._records: list[tuple[int, str]] = []
        self._open = False

    def add(self, record: TopicRecord, inner: Inner) -> None:
        """Put a record's lines behind those before."""
        if not self._open:
            self._starts.append(len(self.text))
            self._records.append((record.offset, inner.stamp))
        self.text += inner.text
        if inner.whole:
            self.text += b"\n"
        self._open = not inner.whole
        self.newest_ms = record.time_ms if record.time_ms is not None else self.newest_ms

    def start_of(self, offset: int) -> int:
        """Return where the first record at or behind an offset starts in the text; its end when there is none."""
        number = next((number for number, (at, _) in enumerate(self._records) if at >= offset), None)
        return len(self.text) if number is None else self._starts[number]

    def place(self, position: int) -> Place:
        """Return where the line is that starts at a position of the text."""
        number = bisect_right(self._starts, position) - 1
        offset, stamp = self._records[number]
        return Place(offset, self.text.count(b"\n", self._starts[number], position), stamp)

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self._records[-1][0]


def gather(records: Sequence[TopicRecord]) -> dict[Source, Stream]:
    """Part the records of a partition by their sources."""
    streams: dict[Source, Stream] = {}
    for record in records:
        source, inner = source_of(record)
        streams.setdefault(source, Stream()).add(record, inner)
    return streams
