"""``eosctl checklist``: what must be so before something is done, listed, answered, kept and signed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.next_command import connected
from eosctl.command_line.option_groups import options
from eosctl.command_line.updated_file import updating
from eosctl.commands.diagnosis_output import FindingResultOptions, write_judged
from eosctl.commands.emit import emit_list
from eosctl.commands.gate import VerdictGate
from eosctl.commands.options import ConnectionOptions, FindingOutput, Header, OutputFile, ResultOptions, SnapshotFile
from eosctl.commands.session import callbacks
from eosctl.errors import UsageError
from eosctl.render.diagnosis.checklist import SUMMARY_COLUMNS, Run, checklist_summary, render_run
from eosctl.render.escaping import lines_text
from eosctl.render.formats import FindingFormat
from eosctl.render.machine import render_json
from eosctl.services.checklist_answers import Dialog
from eosctl.services.run_checklist import (
    ChecklistRun,
    RunChecklistRequest,
    list_checklists,
    run_checklist,
    sign_checklist,
)

Who = Annotated[
    str | None,
    typer.Option("--who", metavar="NAME", help="Name of the person who answers; the user's name by default."),
]


class SignedOptions(NamedTuple):
    """The options for the format and the file of a signed record."""

    output: FindingOutput = FindingFormat.TABLE
    header: Header = None
    output_file: OutputFile = None


def list_all(invocation: Invocation, result: ResultOptions) -> None:
    """List the checklists.

    Examples:
        eosctl checklist list
        eosctl checklist list -o json
    """
    items = tuple(map(checklist_summary, list_checklists()))
    emit_list(("checklists", "checklist list"), items, SUMMARY_COLUMNS, result, invocation)


RunOptions = Annotated[
    RunChecklistRequest,
    options(
        name=typer.Argument(metavar="CHECKLIST", help="Checklist id, or a checklist file."),
        paths=typer.Argument(metavar="[PATH]...", help="Configuration files for the automatic items.", exists=True),
        record_file=typer.Option(
            "--record", metavar="FILE", help="Record file: stores the answers, and resumes from those it contains."
        ),
        answers=typer.Option(
            "--answer", metavar="'ITEM=yes|no|n/a: NOTE'", help="Answer to a manual item; repeatable."
        ),
        measures=typer.Option("--measure", metavar="ITEM=NUMBER", help="Value of a measured item; repeatable."),
        who=Who,
        connection=ConnectionOptions,
        snapshot_file=SnapshotFile,
        gate=VerdictGate,
    ),
]


def run(
    invocation: Invocation,
    request: RunOptions,
    ask: Annotated[
        bool, typer.Option("--ask", help="Prompt for each open item; needs --record, which stores each answer.")
    ] = False,
    *,
    result: FindingResultOptions,
) -> None:
    """Work through a checklist.

    Checks answer the automatic items; people answer the others with --answer, --measure, or --ask. With --record, the
    run can be interrupted and resumed. A failed item is a finding with severity error.

    Exit codes: 0 every item is done or not applicable, 2 bad input, 3 an item failed, 4 items are open (0 with
    --no-require-complete).

    Examples:
        eosctl checklist run eos-go-live -b kafka-1:9092 --record go-live.json --ask
        eosctl checklist run eos-go-live conf/ --answer 'ITEM=yes: reviewed in the design meeting'
    """
    if ask and request.record_file is None:
        raise UsageError("--ask was given, and no --record.", "Answers would be lost.", "Add --record FILE.")
    keep = updating(request.record_file, render_json)
    with callbacks(invocation.now_ms) as shown:
        done = run_checklist(request, shown, keep, Dialog(_say, _read, keep) if ask else None)
    write_judged(done.judged, _rendered("checklist run", done, result, invocation), result)


def sign(
    invocation: Invocation,
    record_file: Annotated[Path, typer.Argument(metavar="RECORD", help="Record of a run.", exists=True)],
    checklist_file: Annotated[
        Path | None, typer.Option("--checklist", metavar="FILE", help="Checklist file, for a checklist of your own.")
    ] = None,
    who: Who = None,
    remark: Annotated[str, typer.Option("--note", help="Remark to add to the signature.")] = "",
    *,
    result: SignedOptions,
) -> None:
    """Sign the record of a checklist run.

    The record must not contain failed or open items. Several people may sign. A signature contains a digest of all
    answers, so a record that was changed afterwards is rejected.

    Examples:
        eosctl checklist sign go-live.json --who 'Ada Lovelace'
        eosctl checklist sign own.json --checklist own-checklist.yaml --note 'approved for 4.3'
    """
    keep = updating(record_file, render_json)
    with callbacks(invocation.now_ms) as shown:
        done = sign_checklist(record_file, who, checklist_file, remark, shown)
    keep(done.record)
    shown_as = FindingResultOptions(result.output, result.header, result.output_file)
    write_judged(done.judged, _rendered("checklist sign", done, shown_as, invocation), shown_as)


def _rendered(command: str, done: ChecklistRun, result: FindingResultOptions, invocation: Invocation) -> str:
    shape = Run(command, done.checklist, done.record, done.judged)
    text = render_run(shape, result.output, invocation.style(), result.header)
    return connected(text, invocation.cluster) if result.output in (FindingFormat.TABLE, FindingFormat.WIDE) else text


def _say(text: str) -> None:
    sys.stderr.write(lines_text(f"{text}\n"))


def _read(prompt: str) -> str | None:
    sys.stderr.write(lines_text(prompt))
    sys.stderr.flush()
    return sys.stdin.readline() or None
