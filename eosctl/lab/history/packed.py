"""A compressed history that grows by events and is decompressed for reading.

Events are packed in chunks: per kind of event, columns of fields (times, offsets) with names and values as numbers in a
table of the chunk, encoded with MessagePack and DEFLATE.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, get_args, get_type_hints, overload

import msgspec

from eosctl.lab.history.events import Event, History, Outcome
from eosctl.model.transaction import TopicPartition

_KINDS: Final[tuple[Any, ...]] = get_args(Event)
_CODES: Final = {kind: code for code, kind in enumerate(_KINDS)}
_TYPES: Final = tuple(tuple(get_type_hints(kind).values()) for kind in _KINDS)
_MAKERS: Final[tuple[Callable[[Any], Event], ...]] = tuple(partial(tuple.__new__, kind) for kind in _KINDS)
_CHUNK: Final = 4096
_LEVEL: Final = 1  # The fast level; higher ones gain little.

_Chunk: TypeAlias = tuple[bytes, list[str], list[TopicPartition], dict[int, list[list[Any]]]]
_DECODER: Final = msgspec.msgpack.Decoder(_Chunk)


class PackedHistory(Sequence[Event]):
    """A compressed history. Iteration creates new event objects.

    Args:
        events: Initial events.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._chunks: list[bytes] = []
        self._newest: list[Event] = []
        for event in events:
            self.append(event)

    def append(self, event: Event) -> None:
        """Add an event."""
        self._newest.append(event)
        if len(self._newest) == _CHUNK:
            self._chunks.append(_pack(self._newest))
            self._newest = []

    @property
    def packed_bytes(self) -> int:
        """Return the compressed size in bytes."""
        return sum(map(len, self._chunks))

    def __len__(self) -> int:
        return len(self._chunks) * _CHUNK + len(self._newest)

    def __iter__(self) -> Iterator[Event]:
        for chunk in self._chunks:
            yield from _unpack(chunk, {})
        yield from tuple(self._newest)

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Event, ...]: ...

    def __getitem__(self, index: int | slice) -> Event | tuple[Event, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        number = range(len(self))[index]
        if number >= len(self._chunks) * _CHUNK:
            return self._newest[number % _CHUNK]
        return _unpack(self._chunks[number // _CHUNK], {})[number % _CHUNK]

    def unpack(self) -> tuple[Event, ...]:
        """Return all events; those of the same actor, transaction, partition, or value share the object."""
        shared: dict[Any, Any] = {}
        unpacked: list[Event] = []
        for chunk in self._chunks:
            unpacked += _unpack(chunk, shared)
        return (*unpacked, *self._newest)


def unpacked(history: History) -> tuple[Event, ...]:
    """Return all events of a history."""
    return history.unpack() if isinstance(history, PackedHistory) else tuple(history)


def _pack(events: Sequence[Event]) -> bytes:
    texts: dict[str, int] = {}
    places: dict[TopicPartition, int] = {}
    by_code: dict[int, list[Event]] = defaultdict(list)
    codes = bytes(_CODES[type(event)] for event in events)
    for code, event in zip(codes, events, strict=True):
        by_code[code].append(event)

    def column(kind: Any, fields: Sequence[Any]) -> list[Any]:
        if kind is str:
            return [texts.setdefault(field, len(texts)) for field in fields]
        if kind is TopicPartition:
            return [places.setdefault(field, len(places)) for field in fields]
        return list(fields)

    columns = {code: list(map(column, _TYPES[code], zip(*same, strict=True))) for code, same in by_code.items()}
    return zlib.compress(msgspec.msgpack.encode((codes, list(texts), list(places), columns)), _LEVEL)


def _unpack(chunk: bytes, shared: dict[Any, Any]) -> list[Event]:
    codes, texts, places, columns = _DECODER.decode(zlib.decompress(chunk))
    text_at = [shared.setdefault(text, text) for text in texts].__getitem__
    place_at = [shared.setdefault(place, place) for place in places].__getitem__

    def fields(kind: Any, column: list[Any]) -> Iterable[Any]:
        if kind is str:
            return map(text_at, column)
        if kind is TopicPartition:
            return map(place_at, column)
        if kind is Outcome:
            return map(Outcome, column)
        return map(tuple, column) if kind == tuple[int, ...] else column

    made = {
        code: map(_MAKERS[code], zip(*map(fields, _TYPES[code], column), strict=True))
        for code, column in columns.items()
    }
    return [next(made[code]) for code in codes]
