"""From what people say is wrong to the runbook or entry for it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

import msgspec

from eosctl.knowledge.reference.index import entry_named, load_index
from eosctl.model.reference import Entry, EntryKind
from eosctl.services.reference.text_index import TextIndex, tried_phrases

_LONGEST_SENTENCE: Final = 40
_MOST_SENTENCES: Final = 30
_LABEL: Final = "symptoms"


class SymptomMatch(NamedTuple):
    """A symptom that resembles what was said; ``words`` are the meanings that both have."""

    entry: Entry
    symptom: str
    score: float
    words: tuple[str, ...]


class Symptom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What people say, and the runbook or entry that fits; ``decide`` shows whether it does.

    A text in which all patterns of ``shows`` are found shows it, however it is worded: the first of ``says`` names it.
    """

    says: tuple[str, ...]
    shows: tuple[str, ...] = ()
    runbook: str = ""
    entry: str = ""
    decide: str = ""


class Symptoms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file ``symptoms.toml``."""

    symptom: tuple[Symptom, ...]
    categories: dict[str, str]


def search_symptoms(text: str) -> tuple[SymptomMatch, ...]:
    """Return the entries whose symptoms resemble a text, best first, each with its best symptom."""
    index, pairs = _index()
    best: dict[str, SymptomMatch] = {}
    for sentence in _sentences(text):
        for hit in index.search(sentence):
            symptom, entry = pairs[hit.at]
            if entry.name not in best or best[entry.name].score < hit.score:
                best[entry.name] = SymptomMatch(entry, symptom, hit.score, hit.words)
    return tuple(sorted(best.values(), key=lambda one: -one.score))


def find_shown(text: str) -> Iterator[tuple[Entry, Symptom]]:
    """Yield what a text shows by several signs together, in the order of the data."""
    for one in load_symptoms().symptom:
        if one.shows and all(_compiled(pattern).search(text) for pattern in one.shows):
            yield entry_named(one.runbook or one.entry), one


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def deciding_question(name: str) -> str:
    """Return the question or command that shows whether a runbook or an entry is the right one; empty without one."""
    return next((one.decide for one in load_symptoms().symptom if name in (one.runbook, one.entry)), "")


def runbook_of_category(category: str) -> str:
    """Return the runbook for log records of a category; empty without one."""
    return load_symptoms().categories.get(category, "")


def _sentences(text: str) -> Iterator[str]:
    parts = [part for part in re.split(r"\n|(?<=[.!?])\s", text) if part.strip()]
    about = [part for part in parts if not any(tried in part.lower() for tried in tried_phrases())] or parts
    for part in about[:_MOST_SENTENCES]:
        yield " ".join(part.split()[:_LONGEST_SENTENCE])


@cache
def _index() -> tuple[TextIndex, tuple[tuple[str, Entry], ...]]:
    pairs = tuple(_pairs())
    return TextIndex([symptom for symptom, _ in pairs], [entry.name for _, entry in pairs]), pairs


def _pairs() -> Iterator[tuple[str, Entry]]:
    for one in load_symptoms().symptom:
        entry = entry_named(one.runbook or one.entry)
        yield from ((symptom, entry) for symptom in one.says)
    for entry in load_index():
        if entry.kind is EntryKind.RUNBOOK:
            title = entry.means.partition(". ")[0]
            own = [fact.text for fact in entry.facts if fact.label == _LABEL]
            yield from ((symptom, entry) for text in own for symptom in text.split("; "))
            yield title, entry


@cache
def load_symptoms() -> Symptoms:
    """Return the symptoms, and the runbooks of log categories."""
    text = (resources.files("eosctl.knowledge.reference") / "symptoms.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Symptoms)
