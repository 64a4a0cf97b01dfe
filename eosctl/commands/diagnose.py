"""``eosctl diagnose``: from what one sees to the runbook for it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from eosctl.command_line.invocation import Invocation, standard_input
from eosctl.commands.emit import emit_list
from eosctl.commands.options import LanguageOption, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.model.reference import ENGLISH, LONGEST_PASTED
from eosctl.render.runbooks.matches import MATCH_COLUMNS, match_item, procedure_item, render_matches
from eosctl.services.find_runbooks import find_runbooks, read_symptom, runbook_command, unknown_symptom
from eosctl.services.short_answers import in_language, procedure_in_language


def diagnose(
    invocation: Invocation,
    words: Annotated[
        list[str], typer.Argument(metavar="SYMPTOM|FILE|-", help="Words, pasted text, a file, or - for standard input.")
    ],
    language: LanguageOption = ENGLISH,
    *,
    result: ResultOptions,
) -> None:
    """Find the runbook for a symptom.

    Takes sentences in English, Chinese, German, French, or Spanish, stack traces, log excerpts, and the output of
    tools. Matching runbooks are ranked, with the reason for each. A request for a procedure that destroys data is
    rejected with the safe alternative and exit code 3; a question about one gets the same explanation. No cluster is
    contacted.

    Examples:
        eosctl diagnose "consumer is stuck since the restart"
        eosctl diagnose - < stacktrace.txt
    """
    text = standard_input(LONGEST_PASTED) if words == ["-"] else perform(read_symptom, words, invocation)
    found = find_runbooks(text)
    procedures = tuple(
        procedure_item(
            one.procedure,
            runbook_command(one.procedure.runbook),
            is_refused=one in found.refused,
            short=procedure_in_language(one.procedure, language),
        )
        for one in found.refused + found.cautions
    )
    matches = tuple(map(match_item, in_language(found.matches, language)))
    if not (procedures or matches):
        raise unknown_symptom(found)
    code = ExitCode.FINDINGS if found.refused else ExitCode.DONE
    page = partial(render_matches, procedures, matches, is_sure=found.is_sure)
    emit_list(("diagnose", "diagnose"), procedures + matches, MATCH_COLUMNS, result, invocation, page=page, code=code)
