"""``eosctl diagnose``: from what one sees to the runbook for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

if TYPE_CHECKING:
    from eosctl.render.runbooks.runbook import MatchItem
    from eosctl.runbooks.refused import Recognized

MOST: Final = 5


def diagnose(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="SYMPTOM...", help="What you see: words, an exception, the id of a check.")
    ],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Find the runbooks for a symptom.

    Errors and exceptions among the words are explained. A request for a procedure that destroys data is refused with
    the safe way and exit code 3; a question about one gets the same explanation. No cluster is contacted.
    """
    from eosctl.knowledge.terms import find_terms
    from eosctl.model.term import TermKind
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.page import Block, Field, Line, render_page
    from eosctl.render.runbooks.runbook import MATCH_COLUMNS, MatchItem
    from eosctl.runbooks.load import library
    from eosctl.runbooks.refused import Mood, recognize
    from eosctl.runbooks.symptoms import find_matches

    invocation = invocation_of(context)
    text = " ".join(words)
    recognized = recognize(text)
    refused = tuple(_harm(found, "REFUSED") for found in recognized if found.mood is Mood.ORDERED)
    cautions = tuple(_harm(found, "CAUTION") for found in recognized if found.mood in (Mood.ASKED, Mood.WARNED))
    matches = tuple(
        MatchItem(match.book.id, match.book.title, match.symptom, _command(match.book.id))
        for match in find_matches((source.book for source in library()), text)[:MOST]
    )
    terms = tuple(
        MatchItem("", f"{term.name} ({term.kind.value})", term.means, f"eosctl explain {term.name}")
        for term in dict.fromkeys(term for word in text.split() for term in find_terms(word))
        if term.kind in (TermKind.ERROR, TermKind.EXCEPTION)
    )[:MOST]
    if not (refused or cautions or matches or terms):
        raise UsageError(
            f"No runbook is known for {text!r}.",
            "None of its words stands in a symptom.",
            "Look at the cluster: eosctl doctor. At a word: eosctl explain WORD. List runbooks: eosctl runbook list",
        )
    result = listing("diagnose", "diagnose", invocation.now_ms(), refused + cautions + matches + terms)
    if output not in FOR_PEOPLE:
        write_result(render_listing(result, MATCH_COLUMNS, output), output_file)
        raise typer.Exit(3 if refused else 0)
    blocks: list[Block] = []
    for item in refused + cautions:
        blocks += [
            Line(item.title, "bold red" if item.refused else "bold yellow"),
            Field("because", item.why),
            Field("instead", item.instead),
        ]
        blocks += [Field("run", item.command), Line("")] if item.runbook else [Line("")]
    for item in matches:
        blocks += [Line(f"{item.title}", "bold"), Field("symptom", item.symptom), Field("run", item.command)]
    for item in terms:
        blocks += [Line(item.title, "bold"), Field("means", item.symptom), Field("run", item.command)]
    write_result(render_page(blocks, invocation.style()), output_file)
    raise typer.Exit(3 if refused else 0)


def _harm(found: Recognized, label: str) -> MatchItem:
    """Shape a procedure that destroys data, with the safe way."""
    from eosctl.render.runbooks.runbook import MatchItem

    one = found.procedure
    is_refused = label == "REFUSED"
    return MatchItem(
        one.runbook, f"{label}: {one.name}", one.name, _command(one.runbook), is_refused, one.why, one.instead
    )


def _command(runbook: str) -> str:
    """Return the command that runs a runbook, with a word in capitals for each input that must be given."""
    from eosctl.runbooks.lint import required_inputs
    from eosctl.runbooks.load import find_runbook

    if not runbook:
        return ""
    needed = required_inputs(find_runbook(runbook).book)
    return " ".join(["eosctl runbook run", runbook, *(f"-i {name}={name.upper()}" for name in needed)])
