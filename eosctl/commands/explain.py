"""``eosctl explain``: the meaning of an error, a setting, a check, or anything else that the product knows."""

from __future__ import annotations

import sys
from enum import StrEnum
from shlex import quote
from typing import Annotated, Final

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ProcedureRefused, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

_LONGEST_INPUT: Final = 65_536


class Language(StrEnum):
    """The language of the short answer."""

    ENGLISH = "en"
    CHINESE = "zh"


def explain(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ANYTHING...", help="A name, a code, an id, or pasted text; - reads standard input."),
    ] = None,
    language: Annotated[
        Language, typer.Option("--lang", help="Begin with the short answer in this language.")
    ] = Language.ENGLISH,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Explain an error, a setting, a check, or any other term.

    Takes error codes and exceptions of all clients, stack traces, log lines, states, APIs, KIPs, settings, metrics,
    checks, bugs, runbooks, and files of Kafka, in English or Chinese. All entries are listed without an argument.
    Example: eosctl explain "ProducerFencedException: There is a newer producer"
    """
    from eosctl.knowledge.reference.index import load_index
    from eosctl.model.reference import Certainty
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.reference import ENTRY_COLUMNS, EXPLANATION_COLUMNS, render_explanations
    from eosctl.services.explain import explain as find_explanations

    invocation = invocation_of(context)
    if not words:
        entries = listing("entries", "explain", invocation.now_ms(), load_index())
        write_result(render_listing(entries, ENTRY_COLUMNS, output, invocation.style()), output_file)
        return
    question = sys.stdin.read(_LONGEST_INPUT) if words == ["-"] else " ".join(words)
    found = find_explanations(question)
    if not found.explanations or found.explanations[0].certainty is not Certainty.EXACT:
        _refuse(question)
    if not found.explanations:
        raise _unknown(question, found.nearest)
    if output in FOR_PEOPLE:
        is_chinese = language is Language.CHINESE
        text = render_explanations(found.explanations, found.pasted.values, invocation.style(), is_chinese=is_chinese)
    else:
        result = listing("explanations", "explain", invocation.now_ms(), found.explanations)
        text = render_listing(result, EXPLANATION_COLUMNS, output)
    write_result(text, output_file)


def _refuse(text: str) -> None:
    """Refuse words that ask for a procedure that destroys data, as ``diagnose`` does."""
    from eosctl.runbooks.refused import find_refused

    for one in find_refused(text):
        raise ProcedureRefused(f"REFUSED: {one.name}.", one.why, f"{one.instead} See: eosctl diagnose {quote(text)}")


def _unknown(question: str, nearest: tuple[str, ...]) -> UsageError:
    shown = " ".join(question.split())[:80]
    return UsageError(
        f"No entry fits {shown!r}.",
        f"Did you mean {', '.join(nearest)}?" if nearest else "None of its words is in the reference.",
        "Explain one of them, list all: eosctl explain, or describe what you see: eosctl diagnose WORDS",
    )
