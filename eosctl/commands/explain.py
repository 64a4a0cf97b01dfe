"""``eosctl explain``: what an error, an exception, a state or a concept of transactions means."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ProcedureRefused, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat


def explain(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ERROR|STATE|TERM...", help="A name, a class or a code; all are listed without one."),
    ] = None,
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Explain an error, an exception, a state or a concept: meaning, what clients do, usual causes, next command."""
    from eosctl.knowledge.terms import find_terms, load_terms
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.terms import TERM_COLUMNS, render_terms

    invocation = invocation_of(context)
    found = find_terms(" ".join(words)) if words else load_terms()
    if words and not found:
        _refuse(" ".join(words))
        found = tuple(dict.fromkeys(term for word in words for term in find_terms(word) or _unknown(" ".join(words))))
    result = listing("terms", "explain", invocation.now_ms(), found)
    if words and output in FOR_PEOPLE:
        text = render_terms(found, invocation.style())
    else:
        text = render_listing(result, TERM_COLUMNS, output, invocation.style())
    write_result(text, output_file)


def _refuse(text: str) -> None:
    """Refuse words that ask for a procedure that destroys data, as ``diagnose`` does."""
    from eosctl.runbooks.refused import find_refused

    for one in find_refused(text):
        raise ProcedureRefused(f"REFUSED: {one.name}.", one.why, f"{one.instead} See: eosctl diagnose {quote(text)}")


def _unknown(text: str) -> tuple[()]:
    from eosctl.knowledge.terms import suggest_terms

    similar = suggest_terms(text)
    raise UsageError(
        f"{text!r} is no term that eosctl explains.",
        f"Did you mean {', '.join(similar)}?" if similar else "",
        "List all: eosctl explain. Settings: eosctl config explain NAME. Checks: eosctl check explain ID",
    )
