"""Build the expressions that every relevant record matches, for a linear-time engine (RE2).

An expression may match too many lines, never too few. It matches raw lines, in which JSON has escapes and the logger
is at any position, so it requires only text that both leave unchanged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from eosctl.logs.classifier.catalog import in_any_case, load_catalog
from eosctl.logs.records.literals import required_literal
from eosctl.model.event_names import EventCategory

WORK: Final[EventCategory] = "WORK_DONE"
_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+),\d*\}")
"""A repeat between two numbers: the engine needs a state for each of them, at each place where it can begin."""
_LEVEL: Final = (
    r"(?:level|lvl|severity|severitytext|severity_text|status|levelname|loglevel|log_level|@l|@level|detected_level)"
    r"\"? ?[:=] ?\"?"
)
_NUMBER: Final = (
    r"(?:severity_?number|levelno|level_value|severity_?level|severity\.code|priority|\"code)\"? ?[:=] ?\"?"
)
_SERIOUS: Final = (
    *(r"(?i:error|fatal|critical|severe)", r"%[0-3]\|", r"\] ?<[0-3]>", r"^[EF]\d{4}(?:\d{4})? ", "^(?:fail|crit): "),
    rf"(?i:{_LEVEL}(?:e|f|err|ftl|crit|emerg|emergency|alert|panic|dpanic)\b)",
    rf"(?i:{_LEVEL}(?:[0-3]|[56]0)\b)",
    rf"(?i:{_NUMBER}(?:1[7-9]|2[0-4]|[45]0|40000|[0-4]|severity_number_[ef]\w*)\b)",
    rf"(?i:{_LEVEL}(?:[4-6]00|ero|fehler|erreur|schwerwiegend|grave|fout|falha|hata)\b)",
    rf"^<(?:{'|'.join(str(one) for one in range(192) if one % 8 < 4)})>",
    r"^[^\w\n]?[EF](?:\]|/)|^(?:SCHWERWIEGEND|GRAVE): ",
    r"^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?[ ,:|-]+\[?[EF][ \]/]",
)
"""Levels that make a record an event without a category; librdkafka, klog, pino, and others write signs."""
_THROWN: Final = "Exception|Throwable|Failure|Death|Traceback"
_NAMED: Final = "(?i:transactional[ ._-]?id)"
"""A named value that structured records write in many forms."""
_STUCK: Final = r"(?:(?i:last[ _-]?stable)|LSO\b)"
"""A text in several patterns of the catalog, next to counted repeats that each need a state of the engine."""
_OF_CLIENTS: Final = (
    r"kafka server: [A-Z]",
    r"RD_KAFKA_RESP_ERR_",
    r"[A-Z]_[A-Z]+: [A-Z][a-z]",
    r"\[\d+\] [A-Z][a-z]+ [A-Z][A-Za-z ]+: [a-z]",
)
"""Warnings in which a client names Kafka's error."""
_FAILED: Final = "(?i:failed to |could not |cannot |unable to |unexpected )"
"""The start of many patterns. With one expression for all of them, the engine's states stay within its memory: it is
a hundred times slower once they do not."""
_COVERING: Final = re.compile("|".join((_SERIOUS[0], _THROWN, _NAMED, _FAILED)))
_UNSAFE: Final = re.compile(r"[]\[\"'\\/<>&=\t]")
"""Characters that JSON may escape, and those between a logger and its message."""
_DISTINCTIVE_CHARS: Final = 6
_RARE_CHARS: Final = 12
"""A text of this length is rare enough by itself, and costs the engine less than a pattern around it."""
_OPEN_END: Final = re.compile(r"(?:\.\{0,\d+\}|\\s\*|\[ \\t\]\*)*\$$")


@cache
def meaning_anchors() -> tuple[str, ...]:
    """Return the expressions; each relevant record has a line that matches one of them, or one of ``work_anchors``."""
    patterns = {one for category in load_catalog().categories if category.id != WORK for one in category.patterns}
    texts = {pattern: _text(pattern) for pattern in patterns if not _is_covered(pattern)}
    anchors = {pattern: _anchor(pattern, text) for pattern, text in texts.items()}
    whole = {text for pattern, text in texts.items() if anchors[pattern] == re.escape(text)}
    longer = _holding_another(whole, set(texts.values()))
    parts = {anchor for pattern, anchor in anchors.items() if texts[pattern] not in longer}
    return (*sorted(parts), *_SERIOUS, _THROWN, _NAMED, _STUCK, _FAILED, *_OF_CLIENTS)


@cache
def work_anchors() -> tuple[str, ...]:
    """Return the expressions of records that may only report work done: a busy program logs millions of them."""
    catalog = load_catalog()
    category = catalog.find(WORK)
    words = tuple(map(in_any_case, catalog.words_of_work))
    others = [one for one in category.patterns if not any(word in one for word in words)] if category else []
    return (rf"\b(?:{'|'.join(words)})\b", *map(_uncounted, others))


def _text(pattern: str) -> str:
    """Return the longest text of every match that a raw line holds as it is."""
    return max(_UNSAFE.split(required_literal(pattern)), key=len)


def _is_covered(pattern: str) -> bool:
    """Whether an expression that is there anyway matches wherever a pattern does."""
    return _STUCK in pattern or any(map(_COVERING.search, _UNSAFE.split(required_literal(pattern))))


def _holding_another(whole: set[str], texts: set[str]) -> set[str]:
    """Return the texts that hold another one, of those that are anchors as they are."""
    joined = "\n".join(texts)
    shared = [text for text in whole if joined.count(text) > 1]
    return {text for text in texts if any(one in text and one != text for one in shared)}


def _anchor(pattern: str, text: str) -> str:
    if len(text) >= _RARE_CHARS:
        return re.escape(text)
    if len(text) >= _DISTINCTIVE_CHARS and (_UNSAFE.search(pattern) or "^" in pattern):
        return re.escape(text)
    return f"(?:{_uncounted(_OPEN_END.sub('', pattern))})"


def _uncounted(pattern: str) -> str:
    """Return a pattern with repeats of any length: it matches more, in a small part of the time.

    >>> _uncounted(r"[Bb]roker[^\n]{0,80}\bgone x{1,9}")
    '[Bb]roker[^\\n]*\\bgone x+'
    """
    return _COUNTED.sub(lambda found: "*" if found[1] == "0" else "+", pattern)
