"""``eosctl diagnose``: from what one sees to the runbook for it."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.commands.invocation import invocation_of, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat


def diagnose(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="SYMPTOM|FILE|-", help="Words, pasted text, a file, or - for standard input.")
    ],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Find the runbooks for a symptom.

    Takes sentences in English or Chinese, stack traces, log excerpts, and the output of tools, and ranks what fits with
    the reason. A request for a procedure that destroys data is refused with the safe way and exit code 3; a question
    about one gets the same explanation. No cluster is contacted.
    Example: eosctl diagnose "consumer is stuck since the restart"
    """
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.runbooks.matches import MATCH_COLUMNS, match_item, procedure_item, render_matches
    from eosctl.services.find_runbooks import find_runbooks, read_symptom, runbook_command

    invocation = invocation_of(context)
    text = read_symptom(words)
    found = find_runbooks(text)
    procedures = tuple(
        procedure_item(one.procedure, runbook_command(one.procedure.runbook), is_refused=one in found.refused)
        for one in found.refused + found.cautions
    )
    matches = tuple(map(match_item, found.matches))
    if not (procedures or matches):
        raise UsageError(
            f"No runbook is known for {' '.join(text.split())[:80]!r}.",
            "None of its words is in a symptom.",
            "Look at the cluster: eosctl doctor. At a word: eosctl explain WORD. List runbooks: eosctl runbook list",
        )
    if output in FOR_PEOPLE:
        shown = render_matches(procedures, matches, invocation.style(), is_sure=found.is_sure)
    else:
        result = listing("diagnose", "diagnose", invocation.now_ms(), procedures + matches)
        shown = render_listing(result, MATCH_COLUMNS, output)
    write_result(shown, output_file)
    raise typer.Exit(3 if found.refused else 0)
