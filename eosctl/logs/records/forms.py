"""Records that differ only in the digits of their header lines are of one form: it is read and understood once.

Of every further record of a form only the digits are read, from where they stood in the first. That holds because no
layout and no pattern of the catalog tells one digit from another; records in which a digit may decide (a count of
zero, a level told as a number) have no form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.logs.records.digits import BLUR, TEXT_BLUR
from eosctl.logs.records.record import Buffer, Classified, Record

MAX_KEY_BYTES: Final = 8192
"""Longer records have no form."""
MARK_BYTES: Final = 8
_ROOM_BYTES: Final = 16 * 1024 * 1024
"""How much the keys of known forms may take."""
_SEEN_ONCE: Final = 100_000
_DIGIT: Final = re.compile("[0-9]")
_OFFSET, _LINE, _PASSED = (Record._fields.index(name) for name in ("offset", "line", "passed_count"))
_PARTS: Final = tuple(
    Record._fields.index(name) for name in ("time", "thread", "logger", "application", "message", "host")
)

Span = tuple[str, int, int]
"""A field's name, where its value starts and where it ends."""


class Form(NamedTuple):
    """What records of one form share, and where the rest of them stands.

    Attributes:
        record: The one that was read.
        length: How long the header line is.
        places: Its parts that hold digits: which, and where in the header line.
        classified: What it means.
        fields: The fields that hold digits: their names, and where in the message.
    """

    record: Record
    length: int
    places: tuple[tuple[int, slice], ...]
    classified: Classified
    fields: tuple[tuple[str, slice], ...]

    def read(self, data: Buffer, offset: int, line: int, passed_count: int) -> Record:
        """Read a further record, which starts at an offset."""
        head = data[offset : offset + self.length].decode("ascii")
        values = list(self.record)
        values[_OFFSET], values[_LINE], values[_PASSED] = offset, line, passed_count
        for part, place in self.places:
            values[part] = head[place]
        return Record._make(values)

    def understand(self, message: str) -> Classified:
        """Return what a record of this form with such a message means."""
        category, fields, exception, _ = self.classified
        if self.fields:
            fields = {**fields, **{name: message[place] for name, place in self.fields}}
        return Classified(category, fields, exception, message)


class Forms:
    """The forms that are known, and those that nobody asks about; a bounded number of them.

    A form is learned from the second of its records: many records of a log are like no other one.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Form] = {}
        self._dull: set[bytes] = set()
        self._seen: set[int] = set()
        self._size = 0

    def get(self, key: bytes) -> Form | None:
        """Return the form of records with such a key, where one is known and not dull."""
        return self._known.get(key)

    def is_dull(self, key: bytes) -> bool:
        """Whether nobody asks about records with such a key."""
        return key in self._dull

    def expect(self, key: bytes) -> bool:
        """Whether a record with such a key has been seen before this one."""
        before = hash(key)
        if before in self._seen:
            return True
        if len(self._seen) >= _SEEN_ONCE:
            self._seen.clear()
        self._seen.add(before)
        return False

    def learn(self, key: bytes, form: Form | None) -> None:
        """Remember a form; None for one that nobody asks about."""
        self._size += len(key)
        if self._size > _ROOM_BYTES:
            self._known.clear()
            self._dull.clear()
            self._size = len(key)
        if form is None:
            self._dull.add(key)
        else:
            self._known[key] = form


def key_of(raw: bytes, mark: bytes) -> bytes:
    """Return what the records of one form share: their header line with its digits blurred, and all that follows it.

    Args:
        raw: The record.
        mark: ``MARK_BYTES`` that tell by which layouts it is read.

    Returns:
        Nothing for a record that has no form: a long one, and one whose header line is more than ASCII.
    """
    head, end, tail = raw.partition(b"\n")
    if len(raw) > MAX_KEY_BYTES or not head.isascii() or b"\0" in head:
        return b""
    return b"".join((mark, head.translate(BLUR), end, tail))


def form_of(record: Record, classified: Classified, spans: Iterable[Span]) -> Form | None:
    """Return the form of a record whose digits do not decide what it means.

    Args:
        record: The record, with its key.
        classified: What it means.
        spans: Where its fields stand, counted from the start of the message; what follows the line comes behind it.

    Returns:
        None where its parts do not stand in its header line as they are, or more than once.
    """
    head, _, tail = record.key[MARK_BYTES:].partition(b"\n")
    if record.rest.encode(errors="surrogatepass") != tail or _DIGIT.search(record.level):
        return None
    thrown = classified.exception
    if thrown is not None and not record.rest and _DIGIT.search(" ".join(thrown.chain)):
        return None
    line, length = head.decode("ascii"), len(record.message)
    places: list[tuple[int, slice]] = []
    for part in _PARTS:
        text = str(record[part])
        if _DIGIT.search(text):
            place = _only_place(line, text.translate(TEXT_BLUR))
            if place is None:
                return None
            places.append((part, place))
    fields: list[tuple[str, slice]] = []
    for name, start, end in spans:
        if start <= length and _DIGIT.search(classified.fields[name]):
            if start < 0 or end > length:
                return None
            fields.append((name, slice(start, end)))
    return Form(record, len(line), tuple(places), classified, tuple(fields))


def _only_place(line: str, text: str) -> slice | None:
    start = line.find(text)
    end = start + len(text)
    # A part of a number is what JSON made of it: 0.5 of 0.50.
    if start < 0 or line.find(text, start + 1) >= 0 or "0" in (line[start - 1 : start], line[end : end + 1]):
        return None
    return slice(start, end)
