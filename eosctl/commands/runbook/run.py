"""``eosctl runbook run``: carry a runbook out, or plan it."""

from __future__ import annotations

from typing import Annotated

import typer

from eosctl.command_line.confirmation import can_ask, is_typed
from eosctl.command_line.invocation import Invocation, note, write_result
from eosctl.command_line.option_groups import options
from eosctl.commands.options import ConnectionOptions, ResultOptions, SecondLookAfter
from eosctl.commands.session import callbacks
from eosctl.render.runbooks.runbook import render_run, report_text
from eosctl.services.run_runbook import RunbookDialog, RunbookRequest, run_runbook

RunOptions = Annotated[
    RunbookRequest,
    options(
        name=typer.Argument(metavar="RUNBOOK", help="Runbook id, or a .yaml file."),
        inputs=typer.Option("--input", "-i", metavar="NAME=VALUE", help="Input of the runbook; repeatable."),
        yes=typer.Option("--yes", help="Carry out the changes; by default, the runbook only reads and plans."),
        confirms=typer.Option(
            "--confirm", metavar="TEXT", help="Answer to a confirmation, for use without a terminal; repeatable."
        ),
        resume=typer.Option("--resume", metavar="RUN", help="Interrupted or handed-over run to resume."),
        second_look_after_ms=SecondLookAfter,
        connection=ConnectionOptions,
    ),
]


def run(invocation: Invocation, request: RunOptions, result: ResultOptions) -> None:
    """Run a runbook.

    Without --yes, the runbook only reads and shows the first change it would make. Immediately before a change, the
    deciding condition is read again; if it differs, the run stops. Every step is written to a journal, and an
    interrupted run can be resumed from it.

    Exit codes: 0 verified or planned, 1 could not run, 2 bad input, 4 a right is missing, 5 no action needed, 6 a
    person must continue, 7 blocked and nothing was changed, 8 failed after a change.

    Examples:
        eosctl runbook run hanging-transaction -i topic=orders -i partition=2 -b kafka-1:9092
        eosctl runbook run hanging-transaction -i topic=orders -i partition=2 --yes -b kafka-1:9092
    """
    with callbacks(invocation.now_ms) as shown:
        dialog = RunbookDialog(_confirm, lambda report: _show(report_text(report)))
        ended = run_runbook(request, dialog, shown._replace(spent_ms=invocation.spent_ms))
    text = render_run(ended, request.connection.option_text, invocation.now_ms(), result.output, invocation.style())
    write_result(text, result.output_file)
    raise typer.Exit(ended.exit_code)


def _confirm(question: str, expected: str) -> bool:
    if not can_ask():
        note(f"{question}\nstandard input is not a terminal; to confirm, add: --confirm {expected!r}")
        return False
    return is_typed(expected, f"\n{question}\nType {expected} to continue, or press Enter to cancel: ")


def _show(text: str) -> None:
    if text:
        note(text)
