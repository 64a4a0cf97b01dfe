"""Cache forms: records that differ only in the digits of their header lines are parsed and classified once.

For further records of a form, only the digits are read, from their positions in the first record. This works because
no layout and no pattern of the catalog distinguishes digits. Records in which a digit may decide (a count of zero, a
level as a number) have no form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.logs.records.digits import BLUR, TEXT_BLUR
from eosctl.logs.records.record import Buffer, Classified, Record
from eosctl.model.event_names import EventField

MAX_KEY_BYTES: Final = 8192
"""Longer records have no form."""
MARK_BYTES: Final = 8
_MARGIN_BYTES: Final = 16 * 1024 * 1024
"""Maximum total size of the keys of known forms."""
_SEEN_ONCE: Final = 100_000
_DIGIT: Final = re.compile("[0-9]")
_OFFSET, _LINE, _PASSED = (Record._fields.index(name) for name in ("offset", "line", "passed_count"))
_PARTS: Final = tuple(
    Record._fields.index(name) for name in ("time", "thread", "logger", "application", "message", "host")
)

Span = tuple[EventField, int, int]
"""A field's name, and the start and end of its value."""


class Form(NamedTuple):
    """The values that records of one form share, and the positions of the others.

    Attributes:
        record: The record that was parsed.
        length: The length of the header line.
        places: The record's parts with digits, and their positions in the header line.
        classified: The classification.
        fields: The names of the fields with digits, and their positions in the message.
    """

    record: Record
    length: int
    places: tuple[tuple[int, slice], ...]
    classified: Classified
    fields: tuple[tuple[EventField, slice], ...]

    def read(self, data: Buffer, offset: int, line: int, passed_count: int) -> Record:
        """Read another record of this form, which starts at an offset."""
        head = data[offset : offset + self.length].decode("ascii")
        values = list(self.record)
        values[_OFFSET], values[_LINE], values[_PASSED] = offset, line, passed_count
        for part, place in self.places:
            values[part] = head[place]
        return Record._make(values)

    def classify(self, message: str) -> Classified:
        """Return the classification of a record of this form with the given message."""
        category, fields, exception, _ = self.classified
        if self.fields:
            fields = {**fields, **{name: message[place] for name, place in self.fields}}
        return Classified(category, fields, exception, message)


class Forms:
    """A bounded cache of known forms and of irrelevant ones.

    A form is learned from its second record, because many records of a log are unique.
    """

    def __init__(self) -> None:
        self._known: dict[bytes, Form] = {}
        self._dull: set[bytes] = set()
        self._seen: set[int] = set()
        self._size = 0

    def get(self, key: bytes) -> Form | None:
        """Return the form of records with this key; None if it is unknown or irrelevant."""
        return self._known.get(key)

    def is_irrelevant(self, key: bytes) -> bool:
        """Return whether records with this key are irrelevant."""
        return key in self._dull

    def expect(self, key: bytes) -> bool:
        """Return whether an earlier record had this key."""
        before = hash(key)
        if before in self._seen:
            return True
        if len(self._seen) >= _SEEN_ONCE:
            self._seen.clear()
        self._seen.add(before)
        return False

    def learn(self, key: bytes, form: Form | None) -> None:
        """Store a form; None marks irrelevant records."""
        self._size += len(key)
        if self._size > _MARGIN_BYTES:
            self._known.clear()
            self._dull.clear()
            self._size = len(key)
        if form is None:
            self._dull.add(key)
        else:
            self._known[key] = form


def key_of(raw: bytes, mark: bytes) -> bytes:
    """Return the key of a record's form: the header line with its digits blurred, and all further lines.

    Args:
        raw: The record.
        mark: ``MARK_BYTES`` that identify the layouts.

    Returns:
        An empty key for a record without a form, which is long or has a header line beyond ASCII.
    """
    head, end, tail = raw.partition(b"\n")
    if len(raw) > MAX_KEY_BYTES or not head.isascii() or b"\0" in head:
        return b""
    return b"".join((mark, head.translate(BLUR), end, tail))


def form_of(record: Record, classified: Classified, spans: Iterable[Span]) -> Form | None:
    """Return the form of a record in which no digit decides.

    Args:
        record: The record, with its key.
        classified: Its classification.
        spans: The positions of its fields, from the start of the message; further lines come after it.

    Returns:
        None if the header line does not contain each part of the record unchanged and exactly once.
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
    fields: list[tuple[EventField, slice]] = []
    for name, start, end in spans:
        if start <= length and _DIGIT.search(classified.fields[name]):
            if start < 0 or end > length:
                return None
            fields.append((name, slice(start, end)))
    return Form(record, len(line), tuple(places), classified, tuple(fields))


def _only_place(line: str, text: str) -> slice | None:
    start = line.find(text)
    end = start + len(text)
    # JSON may have changed a number, such as 0.50 to 0.5, which is only a part of it.
    if start < 0 or line.find(text, start + 1) >= 0 or "0" in (line[start - 1 : start], line[end : end + 1]):
        return None
    return slice(start, end)
