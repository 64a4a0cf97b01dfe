"""Take a text in one of five languages apart: sentences, and the words that name what is done to what."""

from __future__ import annotations

import re
import textwrap
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import msgspec

from eosctl.knowledge.reference.european import in_english
from eosctl.model.reference import DestructiveProcedure
from eosctl.runbooks.spelling import Spelling

LONGEST_SENTENCE: Final = 400
_VOWELS: Final = "aeiou"
_UNMARKED: Final = frozenset({"set", "reset", "put", "cut", "let"})
_IRREGULAR: Final = {
    "give": "gave given", "make": "made", "have": "had", "do": "did done", "run": "ran", "grow": "grew grown",
    "shrink": "shrank shrunk", "find": "found", "keep": "kept", "leave": "left", "see": "saw seen",
    "show": "showed shown", "rebuild": "rebuilt", "understand": "understood",
}  # fmt: skip
_HAN: Final = r"\u3400-\u9fff"
_TOKEN: Final = re.compile(r"--?[a-z][\w-]*|[\w]+(?:(?:[.':*-]+|/+(?!_))[\w*]+)*|\d+|[^\s]")
_SENTENCE: Final = re.compile(rf"(?<=[?？])\s*|[.!;](?=\s|$|[{_HAN}])|[。！；]")


class Form(StrEnum):
    """How a verb stands in a sentence."""

    BASE = "base"
    GERUND = "gerund"
    PAST = "past"
    THIRD = "third"
    NOUN = "noun"
    HAN = "han"


class VerbClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Verbs of one meaning; ``phrases`` are rewritten before words are looked up."""

    english: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    ambiguous: frozenset[str] = frozenset()
    phrases: dict[str, str] = {}


class Moods(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What makes a sentence a request, a question, a warning, or a report; see the data for each list."""

    how_to: tuple[str, ...]
    polite: tuple[str, ...]
    question: tuple[str, ...]
    negation: frozenset[str]
    glue: frozenset[str]
    prevention: frozenset[str]
    clause_end: frozenset[str]
    determiners: frozenset[str]
    licensors: frozenset[str]
    plans: frozenset[str]
    modals: frozenset[str]
    wishes: frozenset[str]
    after: frozenset[str]
    persons: frozenset[str]
    report: frozenset[str]
    ran: frozenset[str]
    pronouns: frozenset[str]
    adjuncts: frozenset[str]
    tools: tuple[str, ...]
    steps: tuple[str, ...]
    intends: frozenset[str]


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How lines look that tools and logs print."""

    lines: tuple[str, ...]
    assignment: str
    settings_block: int


class Way(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way to ask for a procedure: a verb on an object, with an aspect or a value where one is named.

    The words of ``unless`` turn the verb to something else where they stand next to it or to the object, those of
    ``nowhere`` anywhere in the sentence. With ``plan``, only an intention counts, since the same words also report a
    fault ("two pods use the same id"), and so does a setting without a verb ("acks=1").
    """

    verb: str
    object: tuple[str, ...]
    aspect: str = ""
    value: str = ""
    unless: frozenset[str] = frozenset()
    nowhere: frozenset[str] = frozenset()
    plan: bool = False


class Aim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a procedure is asked for: a text that has ``shows`` gets this safe way."""

    shows: str
    instead: str
    runbook: str


class Procedure(DestructiveProcedure, frozen=True, forbid_unknown_fields=True):
    """A procedure that is never offered, with the ways to ask for it; the first aim that a text shows goes first."""

    way: tuple[Way, ...]
    aim: tuple[Aim, ...] = ()


class Phrasebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file ``refusals.toml``."""

    spelling: Spelling
    verbs: dict[str, VerbClass]
    objects: dict[str, tuple[str, ...]]
    aspects: dict[str, tuple[str, ...]]
    moods: Moods
    output: Output
    procedure: tuple[Procedure, ...]


class Token(NamedTuple):
    """A word, with the meanings that it may have; ``start`` and ``end`` are its place in the sentence."""

    text: str
    start: int
    end: int
    verbs: Mapping[str, Form] = {}
    is_object: str = ""
    is_option: bool = False


class Sentence(NamedTuple):
    """A sentence in small letters and its words."""

    text: str
    tokens: tuple[Token, ...]


@cache
def load_phrasebook() -> Phrasebook:
    """Read the data."""
    text = (resources.files("eosctl.runbooks") / "refusals.toml").read_text(encoding="utf-8")
    book = msgspec.convert(tomllib.loads(text), Phrasebook)
    one_line = (
        msgspec.structs.replace(one, why=" ".join(one.why.split()), instead=" ".join(one.instead.split()))
        for one in book.procedure
    )
    return msgspec.structs.replace(book, procedure=tuple(one_line))


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, without the lines that tools and logs printed."""
    for part in _SENTENCE.split(_normal(_written_by_people(text))):
        # A sentence has bounds even in text without punctuation: what is done to what stands close together.
        for piece in textwrap.wrap(part or "", LONGEST_SENTENCE, break_on_hyphens=False):
            yield _sentence(piece)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of the data once."""
    return re.compile(pattern, re.IGNORECASE)


def _written_by_people(text: str) -> str:
    output = load_phrasebook().output
    lines = [line for line in text.splitlines() if not any(compiled(p).search(line) for p in output.lines)]
    settings = [line for line in lines if compiled(output.assignment).fullmatch(line.strip())]
    if len(settings) >= output.settings_block:
        lines = [line for line in lines if line not in settings]
    return re.sub(r"\\\s*$", "", "\n".join(lines), flags=re.MULTILINE)


def _normal(text: str) -> str:
    """Return small letters without quotation marks, with a blank between Chinese and other words."""
    flat = unicodedata.normalize("NFKC", in_english(text)).lower()
    flat = re.sub(r"[\u200b-\u200f\u2060\ufeff]", "", flat)
    flat = re.sub(r"\blet['’]s\b", "lets", flat)
    flat = re.sub(r"(?<=\w)['’]ll\b", " will", flat)
    flat = re.sub(r"(?<=\w)['’]s\b", "", flat)
    flat = re.sub(r"[\"'`´‘’“”«»「」『』《》\\]|\*\*", "", flat)
    flat = re.sub(rf"(?<=[{_HAN}])(?=[a-z0-9_-])|(?<=[a-z0-9_])(?=[{_HAN}])", " ", flat)
    flat = load_phrasebook().spelling.correct(" ".join(flat.split()), _lexicon())
    for verb in load_phrasebook().verbs.values():
        for phrase, meaning in verb.phrases.items():
            flat = re.sub(rf"(?<![\w-])(?:{phrase})" if phrase[0] not in "(-" else phrase, meaning, flat)
    return flat


def _sentence(text: str) -> Sentence:
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _object(text, at) or _han_verb(text, at) or _word(text, at)
        tokens.append(token)
        at = token.end
    return Sentence(text, tuple(tokens))


@cache
def _any_object() -> re.Pattern[str]:
    """Compile all objects as one pattern, since few tokens are one."""
    patterns = (pattern for of_one in load_phrasebook().objects.values() for pattern in of_one)
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def _object(text: str, at: int) -> Token | None:
    if not _any_object().match(text, at):
        return None
    best: Token | None = None
    for name, patterns in load_phrasebook().objects.items():
        for pattern in patterns:
            found = compiled(pattern).match(text, at)
            if found and found.end() > (best.end if best else at):
                best = Token(found.group(), at, found.end(), is_object=name)
    return best


def _han_verb(text: str, at: int) -> Token | None:
    length, by_class = max(
        ((len(word), classes) for word, classes in _han_lexicon().get(text[at], ()) if text.startswith(word, at)),
        key=lambda item: item[0],
        default=(0, frozenset[str]()),
    )
    return Token(text[at : at + length], at, at + length, dict.fromkeys(by_class, Form.HAN)) if length else None


def _word(text: str, at: int) -> Token:
    vocabulary = max(
        (word for word in _han_words().get(text[at], ()) if text.startswith(word, at)), key=len, default=""
    )
    if vocabulary:
        return Token(vocabulary, at, at + len(vocabulary))
    found = _TOKEN.match(text, at)
    end = found.end() if found else at + 1
    if re.match(rf"[{_HAN}]", text[at]):
        end = at + 1
    word = text[at:end]
    is_option = word.startswith("--")
    # What a parenthesis follows directly is a collection or a call in printed text: Set(1, 2).
    verbs = {} if text[end : end + 1] == "(" else _lexicon().get(word[2:] if is_option else word, {})
    if is_option:
        verbs = {name: form for name, form in verbs.items() if form is Form.BASE}
    return Token(word, at, end, verbs, is_option=is_option)


@cache
def _han_lexicon() -> Mapping[str, Sequence[tuple[str, frozenset[str]]]]:
    """Return the verbs and their classes by the first character of the verb."""
    found: dict[str, set[str]] = {}
    for name, verb in load_phrasebook().verbs.items():
        for word in verb.chinese:
            found.setdefault(word, set()).add(name)
    by_first: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for word, names in found.items():
        by_first.setdefault(word[0], []).append((word, frozenset(names)))
    return by_first


@cache
def _han_words() -> Mapping[str, Sequence[str]]:
    """Return the words that are not verbs by their first character."""
    moods = load_phrasebook().moods
    lists = (moods.negation, moods.glue, moods.prevention, moods.report, moods.pronouns, moods.adjuncts)
    by_first: dict[str, list[str]] = {}
    for word in sorted({word for words in lists for word in words if re.match(rf"[{_HAN}]", word)}):
        by_first.setdefault(word[0], []).append(word)
    return by_first


@cache
def _lexicon() -> Mapping[str, Mapping[str, Form]]:
    found: dict[str, dict[str, Form]] = {}
    for name, verb in load_phrasebook().verbs.items():
        for base in verb.english:
            for word, form in _forms(base):
                found.setdefault(word, {}).setdefault(name, form)
        for noun in verb.nouns:
            found.setdefault(noun, {}).setdefault(name, Form.NOUN)
    return found


def _forms(base: str) -> Iterator[tuple[str, Form]]:
    """Yield the forms of an English verb."""
    yield base, Form.BASE
    stem = base.removesuffix("e") if not base.endswith("ee") else base
    ends_short = len(base) > 2 and base[-1] not in _VOWELS + "wxy" and base[-2] in _VOWELS and base[-3] not in _VOWELS
    doubled = base + base[-1] if ends_short and (len(base) <= 4 or base.endswith(("set", "mit"))) else stem
    yield doubled + "ing", Form.GERUND
    softened = base[:-1] + "i" if base.endswith("y") and base[-2] not in _VOWELS else doubled
    if base not in _UNMARKED:
        for past in _IRREGULAR.get(base, softened + "ed").split():
            yield past, Form.PAST
    yield (
        (
            softened + "es"
            if softened.endswith("i")
            else base + "es"
            if base.endswith(("sh", "ss", "x"))
            else base + "s"
        ),
        Form.THIRD,
    )
