"""From a record to its category and fields.

Kafka's logs repeat themselves: the same sentence with other numbers, thousands of times. Verdicts are remembered by the
text with its digits blurred, which is why no pattern of the catalogue may tell one digit from another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from eosctl.model.log_event import UNCLASSIFIED, LoggedException
from spark_log_analytics.catalogue import Catalogue, Category, load_catalogue
from spark_log_analytics.literals import required_literal
from spark_log_analytics.mentions import counts_nothing, is_report
from spark_log_analytics.scanner import Record
from spark_log_analytics.throwable import parse_inline, parse_throwable

_BLUR: Final = str.maketrans("123456789", "000000000")
_REMEMBERED: Final = 50_000
_LONGEST_REMEMBERED: Final = 600
_SEARCHED_CHARS: Final = 32_768
_FRAMES: Final = re.compile(r"^[ \t]+(?:at |\.\.\. \d)[^\n]*\n?", re.MULTILINE)
"""The frames of Java's stack traces: names of code, which are not what the record says."""
_SERIOUS: Final = frozenset({"ERROR", "FATAL"})


class Classified(NamedTuple):
    """What a record means: category, the values in it, and its throwable."""

    category: str
    fields: Mapping[str, str]
    exception: LoggedException | None


class Classifier:
    """Names records by a catalogue; keeps a bounded memory of verdicts, so that repeated texts cost one look-up."""

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue or load_catalogue()
        self._rules = tuple(_Rule(category) for category in self._catalogue.categories)
        self._common_fields = tuple(_Pattern(pattern) for pattern in self._catalogue.common_fields)
        self._verdicts: dict[str, _Rule | None] = {}
        self.dull: set[bytes] = set()
        """Keys of records that have been found to mean nothing; the scanner passes over their like."""

    def classify(self, record: Record) -> Classified | None:
        """Name a record.

        Returns:
            None for a record that nobody asks about: no category, no throwable and no ERROR.
        """
        text = f"[{record.logger.rpartition('.')[2]}] {record.message}"
        if record.rest:
            text = f"{text}\n{_FRAMES.sub('', record.rest[:_SEARCHED_CHARS])}"
        rule = self._rule(record, text)
        exception = parse_throwable(record.rest) if record.rest else None
        if rule is None:
            if exception is None and record.level not in _SERIOUS:
                if record.key and len(self.dull) < _REMEMBERED and not counts_nothing(text):
                    self.dull.add(record.key)
                return None
            return Classified(UNCLASSIFIED, self._fields((), text), exception)
        return Classified(rule.category.id, self._fields(rule.fields, text), exception or parse_inline(record.message))

    def _rule(self, record: Record, text: str) -> _Rule | None:
        if len(text) > _LONGEST_REMEMBERED or counts_nothing(text):
            return self._search(record, text)
        key = f"{record.level} {record.logger} {text.translate(_BLUR)}"
        try:
            return self._verdicts[key]
        except KeyError:
            pass
        if len(self._verdicts) >= _REMEMBERED:
            self._verdicts.clear()
        rule = self._verdicts[key] = self._search(record, text)
        return rule

    def _search(self, record: Record, text: str) -> _Rule | None:
        return next((rule for rule in self._rules if rule.matches(record, text)), None)

    def _fields(self, own: tuple[_Pattern, ...], text: str) -> Mapping[str, str]:
        fields: dict[str, str] = {}
        for pattern in (*own, *self._common_fields):
            if pattern.literal in text and not pattern.names <= fields.keys():
                found = pattern.search(text)
                for name, value in found.groupdict().items() if found else ():
                    if value and value not in ("null", "None"):
                        fields.setdefault(name, value)
        return fields


@cache
def own_classifier() -> Classifier:
    """Return the one of this process: on Spark a worker serves many tasks, and to compile the catalogue takes long."""
    return Classifier()


class _Pattern:
    """A compiled pattern with the text that each of its matches must hold."""

    def __init__(self, pattern: str) -> None:
        compiled = re.compile(pattern, re.MULTILINE)
        self.literal = required_literal(pattern)
        self.names = frozenset(compiled.groupindex)
        self.search = compiled.search
        self._all = compiled.finditer

    def reports(self, text: str) -> bool:
        """Whether a text says so, and not only that it is not so."""
        return any(is_report(text, *found.span()) for found in self._all(text))


class _Rule:
    """A category with its patterns compiled."""

    def __init__(self, category: Category) -> None:
        self.category = category
        self.fields = tuple(_Pattern(pattern) for pattern in category.fields)
        self._patterns = tuple(_Pattern(pattern) for pattern in category.patterns)
        self._loggers_not = tuple(re.compile(pattern) for pattern in category.loggers_not)
        self._unless = tuple(re.compile(pattern) for pattern in category.unless)

    def matches(self, record: Record, text: str) -> bool:
        category = self.category
        if category.levels and record.level not in category.levels:
            return False
        for pattern in self._patterns:
            if pattern.literal in text and pattern.reports(text):
                return not (
                    any(excluded.search(record.logger) for excluded in self._loggers_not)
                    or any(excluded.search(text) for excluded in self._unless)
                )
        return False
