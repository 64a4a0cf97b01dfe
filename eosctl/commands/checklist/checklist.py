"""``eosctl checklist``: what must be so before something is done, answered, kept and signed."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from eosctl.commands.invocation import invocation_of, remember_output, write_file, write_result
from eosctl.commands.options import (
    OUTPUT,
    Bootstrap,
    CommandConfig,
    Output,
    OutputFile,
    Overrides,
    Profile,
    SnapshotFile,
    Timeout,
)
from eosctl.commands.session import callbacks
from eosctl.errors import ExitCode, UsageError
from eosctl.render.diagnosis.checklist import ChecklistFormat
from eosctl.render.formats import OutputFormat
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.model.checklist import Answer, Checklist, ChecklistRecord

RunOutput = Annotated[
    ChecklistFormat,
    typer.Option("--output", "-o", callback=remember_output, help="Format of the result.", rich_help_panel=OUTPUT),
]
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
    bootstrap: Bootstrap = None,
    command_config: CommandConfig = None,
    overrides: Overrides = None,
    profile: Profile = None,
    timeout: Timeout = None,
    snapshot: SnapshotFile = None,
    output: RunOutput = ChecklistFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Go through a checklist: checks answer what they can, people the rest.

    With --record the run can be left and resumed. Exit codes: 0 every item is done or not applicable, 3 one has failed,
    4 some are open.
    """
    from eosctl.checks.checklist import failed_items, open_items, unanswered, with_answers
    from eosctl.knowledge.checklist_files import find_checklist
    from eosctl.render.diagnosis.checklist import Run, render_run
    from eosctl.render.machine import render_json
    from eosctl.services.answer_checklist import ChecklistRequest, answer_checklist
    from eosctl.text import time_text

    if ask and record_file is None:
        raise UsageError("--ask was given, and no --record.", "Answers would be lost.", "Add --record FILE.")
    invocation = invocation_of(context)
    checklist = _with_known_references(find_checklist(name))
    at = time_text(invocation.now_ms())
    record = _resume(checklist, record_file, at)
    given = [
        *(_manual(checklist, text, _name_of(who), at) for text in answers or ()),
        *(_measured(checklist, text, _name_of(who), at) for text in measures or ()),
    ]
    connection = Connection(bootstrap, command_config, tuple(overrides or ()), profile, timeout)
    with callbacks(invocation.now_ms) as shown:
        found = answer_checklist(ChecklistRequest(checklist, at, connection, snapshot, tuple(paths or ())), shown)
    if found.cluster_id is not None:
        record = _for_cluster(record, found.cluster_id)
    if (found.answers or given or ask) and record.signatures:
        raise UsageError(
            f"{record_file} is signed.", "A signature stands for the answers as they are.", "Begin a new record."
        )
    record = replace(record, answers=with_answers(record, checklist, [*found.answers, *given]))
    if not record.signatures:
        still_open = unanswered(checklist, record.answers, at)
        record = replace(record, answers=with_answers(record, checklist, still_open))
    if record_file is not None:
        write_file(render_json(record), record_file)
    if ask and record_file is not None:
        from eosctl.commands.checklist.ask import ask_people

        def keep(answered: ChecklistRecord) -> None:
            write_file(render_json(answered), record_file)

        record = ask_people(checklist, record, _name_of(who), lambda: time_text(invocation.now_ms()), keep)
    text = render_run(Run("checklist run", checklist, record, at), output, invocation.style())
    write_result(text, output_file)
    if failed_items(record.answers):
        raise typer.Exit(ExitCode.FINDINGS)
    if open_items(checklist, record.answers):
        raise typer.Exit(ExitCode.INCOMPLETE)


def sign(
    context: typer.Context,
    record_file: Annotated[Path, typer.Argument(metavar="RECORD", help="The record of a run.", exists=True)],
    checklist_file: Annotated[
        Path | None, typer.Option("--checklist", metavar="FILE", help="The list, where it is one of your own.")
    ] = None,
    who: Who = None,
    remark: Annotated[str, typer.Option("--note", help="A remark to stand beside the name.")] = "",
    output: RunOutput = ChecklistFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Sign a record in which no item has failed or is open; several people may sign.

    The signature holds a digest of all answers: a record that was changed afterwards is refused.
    """
    from eosctl.checks.checklist import digest_of, failed_items, open_items
    from eosctl.knowledge.checklist_files import find_checklist, read_record
    from eosctl.model.checklist import Signature
    from eosctl.render.diagnosis.checklist import Run, render_run
    from eosctl.render.machine import render_json
    from eosctl.text import time_text

    invocation = invocation_of(context)
    record = read_record(record_file)
    checklist = find_checklist(str(checklist_file) if checklist_file else record.checklist)
    _refuse_other(checklist, record, record_file)
    left = (*failed_items(record.answers), *open_items(checklist, record.answers))
    if left:
        raise UsageError(
            f"{record_file} cannot be signed: {', '.join(left)}.",
            "These items have failed or are open.",
            f"Go on: eosctl checklist run {record.checklist} --record {record_file}",
        )
    at = time_text(invocation.now_ms())
    signature = Signature(_name_of(who), at, remark, digest_of(record))
    record = replace(record, signatures=(*record.signatures, signature))
    write_file(render_json(record), record_file)
    text = render_run(Run("checklist sign", checklist, record, at), output, invocation.style())
    write_result(text, output_file)


def _resume(checklist: Checklist, record_file: Path | None, at: str) -> ChecklistRecord:
    from eosctl.knowledge.checklist_files import RECORD_SCHEMA, read_record
    from eosctl.model.checklist import ChecklistRecord

    if record_file is not None and record_file.exists():
        record = read_record(record_file)
        _refuse_other(checklist, record, record_file)
        return record
    return ChecklistRecord(RECORD_SCHEMA, 1, checklist.id, checklist.version, "", at)


def _refuse_other(checklist: Checklist, record: ChecklistRecord, path: Path) -> None:
    """Refuse a record of another list, of another version of it, or one that was changed after it was signed."""
    from eosctl.checks.checklist import digest_of

    if (record.checklist, record.version) != (checklist.id, checklist.version):
        raise UsageError(
            f"{path} is of {record.checklist} {record.version}, not of {checklist.id} {checklist.version}.",
            "Answers belong to the list that was read.",
            "Begin a new record.",
        )
    if any(one.digest != digest_of(record) for one in record.signatures):
        raise UsageError(f"{path} was changed after it was signed.", "The digest differs.", "Begin a new record.")


def _with_known_references(checklist: Checklist) -> Checklist:
    from eosctl.checks.checklist import unknown_references, with_check_ids
    from eosctl.checks.registry import CATALOGUE, check_id_of

    checklist = with_check_ids(checklist, check_id_of)
    unknown = unknown_references(checklist, frozenset(check.id for check in CATALOGUE))
    if unknown:
        raise UsageError(
            f"The checklist {checklist.id} names what there is not: {', '.join(unknown)}.",
            "Automatic items name checks, measured ones may name a probe.",
            "See eosctl check list",
        )
    return checklist


def _for_cluster(record: ChecklistRecord, cluster_id: str) -> ChecklistRecord:
    if record.cluster not in ("", cluster_id):
        raise UsageError(f"The record is of cluster {record.cluster}, this is {cluster_id}.", "", "Begin a new record.")
    return replace(record, cluster=cluster_id)


def _manual(checklist: Checklist, text: str, who: str, at: str) -> Answer:
    from eosctl.model.checklist import Answer, ItemKind, ItemState

    item, rest = _item(checklist, "--answer", text, ItemKind.MANUAL)
    word, _, remark = rest.partition(":")
    states = {"yes": ItemState.DONE, "no": ItemState.FAILED, "n/a": ItemState.NOT_APPLICABLE}
    state = states.get(word.strip().lower())
    if state is None or not remark.strip():
        raise UsageError(
            f"--answer {text!r} is no answer.",
            "It is yes, no or n/a, and a note: what was seen, or why it does not apply.",
            f"E.g. --answer '{item}=yes: tried on staging'",
        )
    return Answer(item, state, remark.strip(), who, at)


def _measured(checklist: Checklist, text: str, who: str, at: str) -> Answer:
    from eosctl.checks.checklist import judge_measure
    from eosctl.model.checklist import Answer, ItemKind

    item, value = _item(checklist, "--measure", text, ItemKind.MEASURED)
    if not value.strip().isdecimal():
        raise UsageError(f"--measure {text!r} is no whole number.", "", f"E.g. --measure {item}=42")
    found = next(one for one in checklist.items if one.id == item)
    return Answer(item, *judge_measure(found, int(value)), who, at)


def _item(checklist: Checklist, option: str, text: str, kind: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    known = [item.id for item in checklist.items if item.kind == kind]
    if not equals or name.strip() not in known:
        raise UsageError(
            f"{option} {text!r} names no {kind} item.",
            f"There are: {', '.join(known) or 'none'}.",
            "Name one of these.",
        )
    return name.strip(), rest


def _name_of(who: str | None) -> str:
    if who is not None and who.strip():
        return who.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise UsageError("It is not known who answers.", "The system has no name for the user.", "Add --who") from error
