"""``eosctl checklist``: what must be so before something is done, answered, kept and signed."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eosctl.commands.diagnosis_output import JudgedDestinations, write_judged
from eosctl.commands.gate import COMPLETE, GateOfVerdict, WriteBaseline
from eosctl.commands.invocation import invocation_of, write_file, write_result
from eosctl.commands.options import ConnectionOptions, FindingOutput, Header, Output, OutputFile, SnapshotFile
from eosctl.commands.session import callbacks
from eosctl.errors import UsageError
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.checklist import ChecklistRecord

Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="Who answers; else the user's name.")]


def list_checklists(
    context: typer.Context, output: Output = OutputFormat.TABLE, output_file: OutputFile = None
) -> None:
    """List the checklists that come with eosctl."""
    from eosctl.knowledge.checklist_files import shipped_checklists
    from eosctl.render.diagnosis.checklist import SUMMARY_COLUMNS, checklist_summary
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing

    invocation = invocation_of(context)
    items = tuple(checklist_summary(one) for one in shipped_checklists())
    result = listing("checklists", "checklist list", invocation.now_ms(), items)
    write_result(render_listing(result, SUMMARY_COLUMNS, output, invocation.style()), output_file)


def run(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CHECKLIST", help="Its id, or the file of one of your own.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="Configuration files for its automatic items.", exists=True),
    ] = None,
    record_file: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Keep the answers here, and go on from those that are there."),
    ] = None,
    answers: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="'ITEM=yes|no|n/a: NOTE'", help="Answer a manual item; repeatable."),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", metavar="ITEM=NUMBER", help="Give the value of a measured item; repeatable."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask for what is open, item by item; needs --record, which keeps each answer.")
    ] = False,
    who: Who = None,
    connection: ConnectionOptions = Connection(),  # noqa: B008  immutable
    snapshot: SnapshotFile = None,
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
    gate: GateOfVerdict = COMPLETE,
    write_baseline: WriteBaseline = None,
) -> None:
    """Go through a checklist: checks answer what they can, people the rest.

    With --record the run can be left and resumed. An item that failed is a finding (error). Exit codes: 0 every item is
    done or not applicable, 2 usage, 3 one has failed, 4 some are open, unless --no-require-complete is given.
    """
    from eosctl.render.diagnosis.checklist import Run, render_run
    from eosctl.render.machine import render_json
    from eosctl.services.checklist_answers import Dialog
    from eosctl.services.run_checklist import RunChecklistRequest, run_checklist
    from eosctl.text import time_text

    if ask and record_file is None:
        raise UsageError("--ask was given, and no --record.", "Answers would be lost.", "Add --record FILE.")
    answered_by = _name_of(who) if answers or measures or ask else ""

    def keep(record: ChecklistRecord) -> None:
        if record_file is not None:
            write_file(render_json(record), record_file)

    invocation = invocation_of(context)
    given = (tuple(answers or ()), tuple(measures or ()))
    request = RunChecklistRequest(
        name, connection, snapshot, tuple(paths or ()), record_file, *given, answered_by, gate
    )
    with callbacks(invocation.now_ms) as shown:
        done = run_checklist(request, shown, keep, Dialog(_say, _read, keep) if ask else None)
    shape = Run("checklist run", done.checklist, done.record, time_text(done.judged.at_ms), done.judged)
    text = render_run(shape, output, invocation.style(), header)
    write_judged(done.judged, text, JudgedDestinations(output, output_file, write_baseline))


def sign(
    context: typer.Context,
    record_file: Annotated[Path, typer.Argument(metavar="RECORD", help="The record of a run.", exists=True)],
    checklist_file: Annotated[
        Path | None, typer.Option("--checklist", metavar="FILE", help="The list, where it is one of your own.")
    ] = None,
    who: Who = None,
    remark: Annotated[str, typer.Option("--note", help="A remark to stand beside the name.")] = "",
    output: FindingOutput = FindingFormat.TABLE,
    header: Header = None,
    output_file: OutputFile = None,
) -> None:
    """Sign a record in which no item has failed or is open; several people may sign.

    The signature holds a digest of all answers: a record that was changed afterwards is refused.
    """
    from eosctl.render.diagnosis.checklist import Run, render_run
    from eosctl.render.machine import render_json
    from eosctl.services.run_checklist import sign_checklist
    from eosctl.text import time_text

    invocation = invocation_of(context)
    with callbacks(invocation.now_ms) as shown:
        done = sign_checklist(record_file, _name_of(who), checklist_file, remark, shown)
    write_file(render_json(done.record), record_file)
    shape = Run("checklist sign", done.checklist, done.record, time_text(done.judged.at_ms), done.judged)
    write_result(render_run(shape, output, invocation.style(), header), output_file)


def _name_of(who: str | None) -> str:
    if who is not None and who.strip():
        return who.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise UsageError("It is not known who answers.", "The system has no name for the user.", "Add --who") from error


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _read(prompt: str) -> str | None:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return sys.stdin.readline() or None
