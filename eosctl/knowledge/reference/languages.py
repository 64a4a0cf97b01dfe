"""Load short answers in other languages: a file `answers-CODE.toml` for each, with the code of the language.

A file has the labels of a cause and a next step, and a section for each kind of entry. An answer is a headline, the
usual cause, and the next step; the last two may be empty.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from eosctl.model.reference import Fact, ShortAnswer

PROCEDURE: Final = "procedure"
"""The kind of answers about procedures that destroy data; all other kinds are those of entries."""
_PREFIX: Final = "answers-"
_SUFFIX: Final = ".toml"


class _Labels(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cause: str
    next_step: str


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages other than English, in alphabetical order."""
    names = (file.name for file in resources.files("eosctl.knowledge.reference").iterdir())
    return tuple(sorted(name[len(_PREFIX) : -len(_SUFFIX)] for name in names if name.startswith(_PREFIX)))


@cache
def load_answers(language: str) -> Mapping[tuple[str, str], ShortAnswer]:
    """Return the short answers in a language, by the kind and the name of the entry.

    Raises:
        FileNotFoundError: There is no such language.
    """
    file = resources.files("eosctl.knowledge.reference") / f"{_PREFIX}{language}{_SUFFIX}"
    sections = tomllib.loads(file.read_text(encoding="utf-8"))
    labels = msgspec.convert(sections.pop("labels"), _Labels)
    kinds = msgspec.convert(sections, dict[str, dict[str, tuple[str, str, str]]])
    return {
        (kind.replace("-", " "), name): _answer(labels, *texts)
        for kind, answers in kinds.items()
        for name, texts in answers.items()
    }


def _answer(labels: _Labels, headline: str, cause: str, next_step: str) -> ShortAnswer:
    facts = (Fact(labels.cause, cause), Fact(labels.next_step, next_step))
    return ShortAnswer(headline, tuple(fact for fact in facts if fact.text))
