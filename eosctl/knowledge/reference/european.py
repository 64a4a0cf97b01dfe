"""Read German, French, and Spanish: the words of symptoms and of requests become the English ones."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import msgspec

_LANGUAGES: Final = ("de", "fr", "es")
_WORD: Final = re.compile(r"(?<![\w./$@=])[^\W\d_]+(?:'[^\W\d_]+)?(?![\w$/@=]|[.:]\w)")
"""A word of a sentence: not a part of a name, a path, a class, or a setting."""
_ENGLISH: Final = frozenset(
    {
        "the",
        "is",
        "of",
        "and",
        "with",
        "was",
        "are",
        "we",
        "our",
        "it",
        "that",
        "this",
        "to",
        "from",
        "has",
        "be",
        "not",
    }
)
_SHORT: Final = 5
"""In so few words, one word of a language shows it."""
_LONG: Final = 4
"""A shorter word is often a part of a name, such as that of an option."""
_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_QUOTES: Final = str.maketrans({"’": "'", "ʼ": "'", "ß": "ss", "¿": None, "¡": None})
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patterns: dict[str, str]
    certain: dict[str, str]
    also_english: dict[str, str]


class _Phrase(NamedTuple):
    text: str
    words: tuple[str, ...]
    english: str


class _Language(NamedTuple):
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    certain: frozenset[str]
    phrases: Mapping[str, tuple[_Phrase, ...]]
    """By the first word, the longest first."""


def in_english(text: str) -> str:
    """Return a text with the German, French, and Spanish words of the glossaries in English, line by line.

    A line in English stays as it is. In others, letters become small and lose their accents, and words that the
    glossary does not have stay.

    >>> in_english("Wie lösche ich das Topic __transaction_state?")
    'how to delete i the topic __transaction_state?'
    >>> in_english("no hay que borrar los segmentos")
    'must not delete the segments'
    >>> in_english("delete the topic pedidos")
    'delete the topic pedidos'
    """
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    plain = _plain(line)
    words = _WORD.findall(plain)
    english = sum(word in _ENGLISH for word in words)
    found = {code: [word for word in words if word in _language(code).certain] for code in _LANGUAGES}
    code = max(found, key=lambda one: len(found[one]))
    is_sure = len(found[code]) > max(english, len(words) > _SHORT) and any(len(word) >= _LONG for word in found[code])
    return _translated(plain, _language(code)) if is_sure else line


def _translated(line: str, language: _Language) -> str:
    for pattern, english in language.patterns:
        line = pattern.sub(english, line)
    words = list(_WORD.finditer(line))
    parts: list[str] = []
    end = at = 0
    while at < len(words):
        length, english = _phrase(line, words, at, language)
        if length:
            parts += (line[end : words[at].start()], english)
            end = words[at + length - 1].end()
        at += max(length, 1)
    return "".join((*parts, line[end:]))


def _phrase(line: str, words: list[re.Match[str]], at: int, language: _Language) -> tuple[int, str]:
    """Return the number of words of the longest phrase that begins with a word, and the phrase in English."""
    for phrase in language.phrases.get(words[at][0], ()):
        last = at + len(phrase.words) - 1
        if last < len(words) and line[words[at].start() : words[last].end()] == phrase.text:
            return len(phrase.words), phrase.english
    return 0, ""


def _plain(text: str) -> str:
    small = text.lower().translate(_QUOTES)
    return (
        small if small.isascii() else unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", small)))
    )


@cache
def _language(code: str) -> _Language:
    text = (resources.files("eosctl.knowledge.reference") / f"words-{code}.toml").read_text(encoding="utf-8")
    file = msgspec.convert(tomllib.loads(text), _File)
    phrases: dict[str, list[_Phrase]] = defaultdict(list)
    for phrase in (*_forms(file.certain), *_forms(file.also_english)):
        phrases[phrase.words[0]].append(phrase)
    return _Language(
        tuple((re.compile(pattern), english) for pattern, english in file.patterns.items()),
        frozenset(phrase.text for phrase in _forms(file.certain) if len(phrase.words) == 1),
        {first: tuple(sorted(found, key=lambda one: -len(one.text))) for first, found in phrases.items()},
    )


def _forms(words: Mapping[str, str]) -> Iterator[_Phrase]:
    for english, forms in words.items():
        for form in forms.split("|"):
            for spelled in dict.fromkeys((_plain(form.strip()), _plain(form.strip().translate(_UMLAUTS)))):
                yield _Phrase(spelled, tuple(_WORD.findall(spelled)), english)
