"""``eosctl diagnose``: from what one sees to the runbook for it."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

MOST: Final = 5


def diagnose(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="SYMPTOM...", help="What you see: words, an exception, the id of a check.")
    ],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Name the runbooks for a symptom, told in words; procedures that destroy data are refused with the safe way.

    Errors and exceptions among the words are explained.

    Nothing is asked of a cluster. Exit code 3 when the words ask for something that destroys data.
    """
    from eosctl.model.term import TermKind
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.page import Block, Field, Line, render_page
    from eosctl.render.runbooks.runbook import MATCH_COLUMNS, MatchItem
    from eosctl.runbooks.load import library
    from eosctl.runbooks.refused import find_refused
    from eosctl.runbooks.symptoms import find_matches
    from eosctl.settings.terms import find_terms

    invocation = invocation_of(context)
    text = " ".join(words)
    refused = tuple(
        MatchItem(r.runbook, f"REFUSED: {r.name}", r.name, _command(r.runbook), True, r.why, r.instead)
        for r in find_refused(text)
    )
    matches = tuple(
        MatchItem(match.book.id, match.book.title, match.symptom, _command(match.book.id))
        for match in find_matches((source.book for source in library()), text)[:MOST]
    )
    terms = tuple(
        MatchItem("", f"{term.name} ({term.kind.value})", term.means, f"eosctl explain {term.name}")
        for term in dict.fromkeys(term for word in text.split() for term in find_terms(word))
        if term.kind in (TermKind.ERROR, TermKind.EXCEPTION)
    )[:MOST]
    if not refused and not matches and not terms:
        raise UsageError(
            f"No runbook is known for {text!r}.",
            "None of its words stands in a symptom.",
            "Look at the cluster: eosctl doctor. At a word: eosctl explain WORD. List runbooks: eosctl runbook list",
        )
    result = listing("diagnose", "diagnose", invocation.now_ms(), refused + matches + terms)
    if output not in FOR_PEOPLE:
        write_result(render_listing(result, MATCH_COLUMNS, output), output_file)
        raise typer.Exit(3 if refused else 0)
    blocks: list[Block] = []
    for item in refused:
        blocks += [Line(item.title, "bold red"), Field("because", item.why), Field("instead", item.instead)]
        blocks += [Field("run", item.command), Line("")] if item.runbook else [Line("")]
    for item in matches:
        blocks += [Line(f"{item.title}", "bold"), Field("symptom", item.symptom), Field("run", item.command)]
    for item in terms:
        blocks += [Line(item.title, "bold"), Field("means", item.symptom), Field("run", item.command)]
    write_result(render_page(blocks, invocation.style()), output_file)
    raise typer.Exit(3 if refused else 0)


def _command(runbook: str) -> str:
    """Return the command that runs a runbook, with a word in capitals for each input that must be given."""
    from eosctl.runbooks.lint import required_inputs
    from eosctl.runbooks.load import find_runbook

    if not runbook:
        return ""
    needed = required_inputs(find_runbook(runbook).book)
    return " ".join(["eosctl runbook run", runbook, *(f"-i {name}={name.upper()}" for name in needed)])
