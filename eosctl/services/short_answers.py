"""Answer in another language than English: add short answers to explanations, runbooks, and refused procedures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec.structs import replace

from eosctl.errors import UsageError
from eosctl.knowledge.reference.languages import PROCEDURE, languages, load_answers
from eosctl.model.reference import ENGLISH, DestructiveProcedure, Explanation, RunbookMatch, ShortAnswer

_Found = TypeVar("_Found", Explanation, RunbookMatch)


def in_language(found: Iterable[_Found], language: str) -> tuple[_Found, ...]:
    """Return what was found, with short answers in a language where that language has them.

    Args:
        found: Explanations or runbooks.
        language: The code of the language, such as `zh`; `en` adds nothing.

    Raises:
        UsageError: There are no answers in this language.
    """
    answers = _answers(language)
    return tuple(replace(one, short=answers.get((one.entry.kind, one.entry.name))) for one in found)


def procedure_in_language(procedure: DestructiveProcedure, language: str) -> ShortAnswer | None:
    """Return what a procedure destroys, and the safe way, in a language; None in English, or where it has no answer.

    Raises:
        UsageError: There are no answers in this language.
    """
    return _answers(language).get((PROCEDURE, procedure.name))


def _answers(language: str) -> Mapping[tuple[str, str], ShortAnswer]:
    if language == ENGLISH:
        return {}
    if language not in languages():
        known = ", ".join((ENGLISH, *languages()))
        raise UsageError(f"No answers in the language {language!r}.", "", f"Use one of: {known}.")
    return load_answers(language)
