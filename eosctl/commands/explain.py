"""``eosctl explain``: the meaning of an error, a setting, a check, or anything else that the product knows."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Final

import typer

from eosctl.command_line.invocation import Invocation, standard_input
from eosctl.commands.emit import emit, emit_list
from eosctl.commands.options import ResultOptions
from eosctl.errors import UsageError
from eosctl.model.reference import Certainty
from eosctl.render.formats import FOR_PEOPLE
from eosctl.render.reference import ENTRY_COLUMNS, EXPLANATION_COLUMNS, render_explanations
from eosctl.services.explain import all_entries, refuse_procedures
from eosctl.services.explain import explain as find_explanations

_LONGEST_INPUT: Final = 65_536
#: ``-`` is standard input.
_ERROR_CODE: Final = re.compile(r"-\d*")


class Language(StrEnum):
    """The language of the short answer."""

    ENGLISH = "en"
    CHINESE = "zh"


def explain(
    invocation: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ANYTHING...", help="Name, code, id, or pasted text; - reads standard input."),
    ] = None,
    language: Annotated[Language, typer.Option("--lang", help="Language of the short answer.")] = Language.ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Explain an error, a setting, a check, or any other term.

    Takes error codes and exceptions of all clients, stack traces, log lines, states, APIs, KIPs, settings, metrics,
    checks, bugs, runbooks, and Kafka's files, in English or Chinese. Without an argument, all entries are listed.

    Examples:
        eosctl explain "ProducerFencedException: There is a newer producer"
        eosctl explain INVALID_PRODUCER_EPOCH
        eosctl explain - < stacktrace.txt
    """
    if option := next((word for word in words or () if word.startswith("-") and not _ERROR_CODE.fullmatch(word)), None):
        raise UsageError(f"No such option: {option}", "", "Quote pasted text; see eosctl explain --help.")
    if not words:
        emit_list(("entries", "explain"), all_entries(), ENTRY_COLUMNS, result, invocation)
    question = standard_input(_LONGEST_INPUT) if words == ["-"] else " ".join(words)
    found = find_explanations(question)
    if not found.explanations or found.explanations[0].certainty is not Certainty.EXACT:
        refuse_procedures(question)
    if not found.explanations:
        raise _unknown(question, found.nearest)
    if result.output in FOR_PEOPLE:
        is_chinese = language is Language.CHINESE
        text = render_explanations(found.explanations, found.pasted.values, invocation.style(), is_chinese=is_chinese)
        emit(text, result)
    emit_list(("explanations", "explain"), found.explanations, EXPLANATION_COLUMNS, result, invocation)


def _unknown(question: str, nearest: tuple[str, ...]) -> UsageError:
    shown = " ".join(question.split())[:80]
    return UsageError(
        f"No entry fits {shown!r}.",
        f"Did you mean {', '.join(nearest)}?" if nearest else "None of its words is in the reference.",
        "List all entries: eosctl explain. Describe what you see: eosctl diagnose WORDS",
    )
