"""Find log categories and error messages in pasted text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from eosctl.knowledge.reference.index import load_index
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import UNCLASSIFIED
from eosctl.model.reference import Entry, EntryKind

_WORDS: Final = re.compile(r"\w+")
_PROSE: Final = re.compile(r"[^\d\[\](){}:=|<>]{0,160}")
"""A text that is not a log record: short, without numbers, brackets, or colons."""

_LONG_NAME: Final = 3
"""A code of three words or more is recognized where a client prints it as words: "Invalid producer epoch"."""


class Logged(NamedTuple):
    """A category of log records in a text, with the number of records and the ids in them."""

    category: str
    record_count: int
    values: dict[str, str]


class Printed(NamedTuple):
    """An error message in pasted text.

    Attributes:
        entry: The error.
        phrase: The text.
        is_whole: Whether nothing else was pasted.
    """

    entry: Entry
    phrase: str
    is_whole: bool


def find_logged(text: str) -> tuple[Logged, ...]:
    """Return the categories of the log records in a text, the most frequent first."""
    if _PROSE.fullmatch(text):
        return ()
    from eosctl.logs.classifier.classify import own_classifier
    from eosctl.logs.layouts import detect_layouts
    from eosctl.logs.records.scanner import scan_records

    data = text.encode("utf-8", "replace")
    counts: Counter[EventCategory] = Counter()
    values: dict[EventCategory, dict[str, str]] = {}
    classifier = own_classifier()
    for record in scan_records(data, detect_layouts(data)):
        found = classifier.classify(record)
        if found is not None and found.category != UNCLASSIFIED:
            counts[found.category] += 1
            values.setdefault(found.category, {}).update(found.fields.items())
    return tuple(Logged(category, count, values[category]) for category, count in counts.most_common())


def find_printed(text: str) -> tuple[Printed, ...]:
    """Return the errors with messages in pasted text, the longest message first."""
    whole = _plain(text)
    if not whole.strip():
        return ()
    found = [Printed(entry, phrase, plain == whole) for plain, phrase, entry in _phrases() if plain in whole]
    longest: dict[tuple[str, str], Printed] = {}
    for one in sorted(found, key=lambda one: -len(one.phrase)):
        longest.setdefault((one.entry.kind.value, one.entry.name), one)
    return tuple(longest.values())


@cache
def _phrases() -> tuple[tuple[str, str, Entry], ...]:
    return tuple(_pairs())


def _pairs() -> Iterator[tuple[str, str, Entry]]:
    for entry in load_index():
        words = entry.name.lower().strip("_").split("_") if entry.kind is EntryKind.ERROR else []
        for phrase in (*entry.phrases, *((" ".join(words),) if len(words) >= _LONG_NAME else ())):
            plain = _plain(phrase)
            if plain.strip():
                yield plain, phrase, entry


def _plain(text: str) -> str:
    """Return the words of a text in small letters, each between blanks."""
    return f" {' '.join(_WORDS.findall(text.lower().replace(chr(39), '')))} "
