"""Full-text search over short texts, by SQLite's FTS5: its tokenizer, its Porter stemmer, its BM25.

Words of one meaning count as one word (`synonyms.toml`): texts and questions are reduced to the same meanings before
they are compared, so "messages went missing" finds "lost records".
"""

from __future__ import annotations

import math
import re
import sqlite3
import tomllib
import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, partial
from importlib import resources
from typing import Any, Final, NamedTuple

from eosctl.errors import EosctlError

_TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
_INTERNAL: Final = re.compile(r"(?<!\w)__(\w+)")
"""An internal topic is one word: `__consumer_offsets` is not what a consumer's offsets are."""
_UNKNOWN_WEIGHT: Final = 0.35
"""How much a word that no text has counts, compared with the rarest word that one has: it is often a name."""
_DISTINCTIVE: Final = 0.75
"""From which weight on shared words say enough, in weights of the rarest word: one common word does not."""
_DOUBT: Final = 0.75
"""How much of a score is left where one meaning is shared and the question has words that no text has."""
_ELSEWHERE: Final = "=elsewhere"
_ELSEWHERE_DOUBT: Final = 0.6
"""How much of a score is left where the question names a system that the texts are not about."""
_CONJUNCTION: Final = re.compile(
    r"\b(?:after|since|when|while|during|although|though|until|as soon as|if)\b", re.IGNORECASE
)
_LONG_WORD: Final = re.compile(r"(?<![\w.])[A-Za-z]{6,20}(?![\w.]\w|\w)")
"""A word that is long enough for a correction of its spelling: a short one is often another word."""
_ALIKE: Final = 0.86
"""The share of common letters of a word and its correction, from 0 to 1."""
_CIRCUMSTANCE: Final = 0.5
"""How much the words of a circumstance count: in "lost after a restart", the restart is not what is wrong."""
_NEARBY: Final = 0.3
"""How much a word counts that only other texts of the group have."""
_COVERAGE: Final = 0.65
"""How much it counts that the question's words are found, against that the text has no others."""


class Hit(NamedTuple):
    """A text that a question found.

    Attributes:
        at: The text's place in the list that was indexed.
        score: From 0 to 1; 1 when both have the same meanings and no others.
        words: The meanings that both have.
    """

    at: int
    score: float
    words: tuple[str, ...]


class _Vocabulary(NamedTuple):
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    """By the first stem: stems and the meaning that they have, the longest first."""
    common: frozenset[str]
    stems: frozenset[str]
    """Every stem that is in a phrase or common."""
    words: tuple[str, ...]
    """The phrases as they are written."""


class TextIndex:
    """Texts that can be searched.

    Texts of one group are about the same thing: a word is rare if few groups have it, and the words of a group's other
    texts count a little.
    """

    def __init__(self, texts: Sequence[str], groups: Sequence[str] = ()) -> None:
        self._meanings = [meanings_of(stems) for stems in _stems(texts)]
        self._groups = tuple(groups) or tuple(map(str, range(len(texts))))
        self._texts = tuple(texts)
        held: dict[str, set[str]] = defaultdict(set)
        for group, words in zip(self._groups, self._meanings, strict=True):
            held[group].update(words)
        self._held = held
        spread = Counter(word for words in held.values() for word in words)
        self._weights = {word: math.log(1 + len(held) / count) for word, count in spread.items()}
        self._rarest = math.log(1 + len(held))
        self._database = _open()
        # It is closed with the last reference to the index, or at exit.
        weakref.finalize(self, self._database.close)
        self._database.execute("CREATE VIRTUAL TABLE text USING fts5(words, tokenize='unicode61')")
        rows = ((at, " ".join(_safe(word) for word in words)) for at, words in enumerate(self._meanings, 1))
        self._database.executemany("INSERT INTO text(rowid, words) VALUES (?, ?)", rows)

    def search(self, question: str, limit: int = 200) -> tuple[Hit, ...]:
        """Return the texts that share meanings with a question, best first."""
        main, circumstance = _stems(_parts(_rewritten(self._spelled(question))))
        asked = dict.fromkeys(meanings_of(circumstance), _CIRCUMSTANCE) | dict.fromkeys(meanings_of(main), 1.0)
        known = [word for word in asked if word in self._weights]
        if not known:
            return ()
        query = " OR ".join(f'"{_safe(word)}"' for word in known)
        sql = "SELECT rowid FROM text WHERE text MATCH ? ORDER BY bm25(text), rowid LIMIT ?"
        rows = self._database.execute(sql, (query, limit)).fetchall()
        hits = [self._hit(row[0] - 1, asked) for row in rows]
        return tuple(sorted(hits, key=lambda hit: -hit.score))

    def _spelled(self, text: str) -> str:
        """Return a text with the words that no text has replaced by one that is spelled almost alike."""
        words = tuple(dict.fromkeys(_LONG_WORD.findall(text)))
        known = self._weights.keys() | _vocabulary().stems
        unknown = {word for word, stems in zip(words, _stems(words), strict=True) if not known >= set(stems)}
        return _LONG_WORD.sub(lambda one: self._alike(one[0]) if one[0] in unknown else one[0], text)

    @cached_property
    def _words(self) -> frozenset[str]:
        texts = (*self._texts, *_vocabulary().words)
        return frozenset(word.lower() for text in texts for word in _LONG_WORD.findall(text))

    def _alike(self, word: str) -> str:
        candidates = sorted(one for one in self._words if one[0] == word[0].lower())
        return next(iter(get_close_matches(word.lower(), candidates, n=1, cutoff=_ALIKE)), word)

    def _hit(self, at: int, asked: Mapping[str, float]) -> Hit:
        held = set(self._meanings[at])
        shared = tuple(word for word in asked if word in held)
        nearby = self._held[self._groups[at]] - held
        weight = sum(self._weights[word] for word in shared)
        found = sum(asked[word] * self._weights[word] for word in shared)
        found += _NEARBY * sum(part * self._weights[word] for word, part in asked.items() if word in nearby)
        of_question = sum(
            part * self._weights.get(word, _UNKNOWN_WEIGHT * self._rarest) for word, part in asked.items()
        )
        of_text = sum(self._weights[word] for word in held)
        score = _COVERAGE * found / of_question + (1 - _COVERAGE) * weight / of_text
        score *= min(1.0, weight / (_DISTINCTIVE * self._rarest))
        if len(shared) == 1 and any(word not in self._weights for word in asked):
            score *= _DOUBT
        if _ELSEWHERE in asked and _ELSEWHERE not in held:
            score *= _ELSEWHERE_DOUBT
        return Hit(at, round(score, 3), tuple(map(_shown, shared)))


def _parts(question: str) -> tuple[str, str]:
    """Return what a question says, and the circumstances of it.

    >>> _parts("messages are lost after a restart")
    ('messages are lost ', ' a restart')
    >>> _parts("Since the upgrade, commits are slow")
    (' commits are slow', ' the upgrade')
    """
    found = _CONJUNCTION.search(question)
    if found is None:
        return question, ""
    before, behind = question[: found.start()], question[found.end() :]
    if before.strip():
        return before, behind
    circumstance, comma, main = behind.partition(",")
    return (main, circumstance) if comma else (question, "")


def meanings_of(stems: Iterable[str]) -> tuple[str, ...]:
    """Return the meanings of stemmed words in order: synonyms as one, without words that say nothing.

    >>> [meanings_of(stems) for stems in _stems(["the messages went missing", "lost records"])]
    [('=record', '=lost'), ('=lost', '=record')]
    """
    words = tuple(stems)
    vocabulary = _vocabulary()
    found: list[str] = []
    at = 0
    while at < len(words):
        for phrase, meaning in vocabulary.phrases.get(words[at], ()):
            if words[at : at + len(phrase)] == phrase:
                found.append(meaning)
                at += len(phrase)
                break
        else:
            if words[at] not in vocabulary.common:
                found.append(words[at])
            at += 1
    return tuple(found)


def tried_phrases() -> tuple[str, ...]:
    """Return the phrases of sentences about what was tried in vain."""
    return tuple(_load_synonyms()["tried"])


@cache
def _load_synonyms() -> Mapping[str, Any]:
    text = (resources.files("eosctl.knowledge.reference") / "synonyms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _vocabulary() -> _Vocabulary:
    data = _load_synonyms()
    pairs = [(variant, f"={meaning}") for meaning, variants in data["meanings"].items() for variant in variants]
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for stems, (_, meaning) in zip(_stems([variant for variant, _ in pairs]), pairs, strict=True):
        phrases[stems[0]].append((stems, meaning))
    longest_first = {first: tuple(sorted(found, key=lambda one: -len(one[0]))) for first, found in phrases.items()}
    common = frozenset(stem for stems in _stems(data["common"]) for stem in stems)
    every_stem = common.union(stem for found in phrases.values() for phrase, _ in found for stem in phrase)
    return _Vocabulary(longest_first, common, every_stem, tuple(variant for variant, _ in pairs))


@cache
def _rewrites() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the patterns of one meaning in many words, each with the words that stand for it."""
    data = _load_synonyms()["rewritten"]
    return tuple((re.compile(one, re.IGNORECASE), words) for words, patterns in data.items() for one in patterns)


def _rewritten(text: str) -> str:
    """Return a text in which what is said in many ways is said in one.

    >>> _rewritten("the service is not getting any records"), _rewritten("the topic gets no records")
    ('the service consumer receives nothing records', 'the topic gets no records')
    """
    for pattern, words in _rewrites():
        text = pattern.sub(partial(_replacement, words), text)
    return text


def _replacement(words: str, found: re.Match[str]) -> str:
    return found[0] if found.groupdict().get("kept") else words


def _stems(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the stems of each text in order, as FTS5's tokenizer makes them."""
    database = _open()
    database.execute(f"CREATE VIRTUAL TABLE text USING fts5(words, tokenize='{_TOKENIZER}')")
    database.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(text, 'instance')")
    prepared = (_INTERNAL.sub(lambda match: match[1].replace("_", ""), _rewritten(text)) for text in texts)
    database.executemany("INSERT INTO text(rowid, words) VALUES (?, ?)", enumerate(prepared, 1))
    found: list[dict[int, str]] = [{} for _ in texts]
    for term, document, offset in database.execute("SELECT term, doc, offset FROM stem"):
        found[document - 1][offset] = term
    database.close()
    return [tuple(term for _, term in sorted(terms.items())) for terms in found]


def _open() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        database.execute("CREATE VIRTUAL TABLE probe USING fts5(x)")
    except sqlite3.OperationalError as error:
        raise EosctlError(
            "The reference cannot be searched.",
            f"This Python's SQLite: {error}.",
            "Use a Python whose SQLite has FTS5.",
        ) from error
    return database


def _safe(word: str) -> str:
    """Return a meaning as one token of `unicode61`."""
    return word.replace("=", "meaning").replace("_", "").replace("-", "").replace(" ", "")


def _shown(word: str) -> str:
    return word.removeprefix("=")
