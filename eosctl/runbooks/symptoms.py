"""From the words in which people tell a trouble to the runbooks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.runbooks.book import Runbook

_WORD: Final = re.compile(r"[a-z0-9_]{2,}")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that stand in most sentences about Kafka tell nothing.
_COMMON: Final = frozenset(
    [
        "the",
        "is",
        "are",
        "was",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "it",
        "its",
        "my",
        "our",
        "we",
        "with",
        "not",
        "no",
        "has",
        "have",
        "be",
        "by",
        "from",
        "after",
        "when",
        "does",
        "doesn",
        "do",
        "can",
        "cannot",
        "kafka",
        "error",
        "exception",
        "java",
        "org",
        "apache",
        "common",
        "errors",
        "cluster",
        "broker",
        "brokers",
    ]
)
MIN_SCORE: Final = 0.2


class Match(NamedTuple):
    """A runbook that fits; ``score`` is larger for a better fit, ``symptom`` the one that fits best."""

    book: Runbook
    symptom: str
    score: float


def words_of(text: str) -> frozenset[str]:
    """Return the telling words of a text, in their stems; names of classes are taken apart as well.

    >>> sorted(words_of("ProducerFencedException keeps coming"))
    ['com', 'fenc', 'keep', 'produc', 'producerfenc']
    """
    whole = text.lower().replace("exception", "")
    parts = " ".join([whole, _HUMP.sub(" ", text).lower(), whole.replace("_", " ")])
    return frozenset(stem for word in _WORD.findall(parts) if word not in _COMMON and (stem := _stem(word)))


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ing", "ers", "ed", "er", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def find_matches(books: Iterable[Runbook], text: str) -> tuple[Match, ...]:
    """Return the runbooks that fit a symptom or name the check of a finding, best first."""
    books = tuple(books)
    asked = words_of(text)
    by_check = tuple(Match(b, c, 100.0) for b in books for c in b.findings if c.lower() in text.lower().split())
    if by_check:
        return by_check
    spread = {word: sum(1 for book in books if word in _vocabulary(book)) for word in asked}
    found: list[Match] = []
    for book in books:
        best = max(((_score(asked, s, spread), s) for s in (*book.symptoms, book.title)), key=lambda item: item[0])
        also = sum(0.2 / spread[word] for word in asked & _vocabulary(book))
        if best[0] >= MIN_SCORE:
            found.append(Match(book, best[1], best[0] + also))
    return tuple(sorted(found, key=lambda match: (-match.score, match.book.id)))


def _vocabulary(book: Runbook) -> frozenset[str]:
    return words_of(" ".join((book.title, *book.symptoms)))


def _score(asked: frozenset[str], symptom: str, spread: dict[str, int]) -> float:
    words = words_of(symptom)
    common = asked & words
    # A word that few runbooks know says more; a symptom that is told whole says most.
    return sum(1 + 2 / spread[word] for word in common) * len(common) / (len(words) or 1) if common else 0.0
