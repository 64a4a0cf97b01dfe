"""Run a checklist: checks and users answer its items; the record is saved and signed."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from eosctl.checks.checklist import (
    digest_of,
    failed_items,
    open_items,
    unanswered,
    unknown_references,
    with_answers,
    with_check_ids,
)
from eosctl.checks.checklist_diagnosis import diagnose_checklist
from eosctl.checks.registry import CATALOG, check_id_of
from eosctl.errors import UsageError
from eosctl.findings.judged import Judged
from eosctl.knowledge.checklist_files import RECORD_SCHEMA, find_checklist, read_record, shipped_checklists
from eosctl.model.checklist import Checklist, ChecklistRecord, Signature
from eosctl.services.answer_checklist import ChecklistRequest, answer_checklist
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.checklist_answers import Dialog, ask_for_answers, parse_answer, parse_measure
from eosctl.services.connection import Connection
from eosctl.services.gate import judge_findings, read_gate
from eosctl.services.gate_options import GateOptions
from eosctl.text import time_text


class RunChecklistRequest(msgspec.Struct, frozen=True):
    """A run of a checklist.

    Attributes:
        name: The id of a checklist that comes with eosctl, or the file of another one.
        connection: The cluster for its automatic items.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        paths: Configuration files for its automatic items.
        record_file: A record to continue, if the file exists.
        answers: Answers to manual items: ``ITEM=yes: NOTE``.
        measures: Values of measured items: ``ITEM=NUMBER``.
        who: The person who answers; None for the operating system's user.
        gate: The demands on the result; an open item fails the run unless ``require_complete`` is off.
    """

    name: str
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    paths: tuple[Path, ...] = ()
    record_file: Path | None = None
    answers: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    who: str | None = None
    gate: GateOptions = GateOptions(require_complete=True)


class ChecklistRun(NamedTuple):
    """A checklist with its answers and findings; a failed item is a finding."""

    checklist: Checklist
    record: ChecklistRecord
    judged: Judged


def run_checklist(
    request: RunChecklistRequest,
    callbacks: Callbacks = SILENT,
    keep: Callable[[ChecklistRecord], None] = lambda _: None,
    dialog: Dialog | None = None,
) -> ChecklistRun:
    """Answer the items of a checklist. Suppressions do not change an item's state, only the exit code.

    Args:
        request: The checklist and the evidence.
        callbacks: Called while evidence is collected.
        keep: Saves the record.
        dialog: The user's terminal for open items; None without a dialog.

    Raises:
        UsageError: An answer names no item, or the record is signed, or of another list or cluster.
        ConfigFileError: A file cannot be read.
        EosctlError: No broker of the cluster answered.
    """
    files = read_gate(request.gate, has_score=False)
    checklist = _with_known_references(find_checklist(request.name))
    at = time_text(callbacks.now_ms())
    record = _resume(checklist, request.record_file, at)
    who = _name_of(request.who) if request.answers or request.measures or dialog else ""
    given = [
        *(parse_answer(checklist, text, who, at) for text in request.answers),
        *(parse_measure(checklist, text, who, at) for text in request.measures),
    ]
    evidence = ChecklistRequest(checklist, at, request.connection, request.snapshot_file, request.paths)
    found = answer_checklist(evidence, callbacks)
    if found.cluster_id is not None:
        record = _for_cluster(record, found.cluster_id)
    if (found.answers or given or dialog) and record.signatures:
        raise UsageError(
            f"{request.record_file} is signed.",
            "A signature stands for the answers as they are.",
            "Begin a new record.",
        )
    record = replace(record, answers=with_answers(record, checklist, [*found.answers, *given]))
    if not record.signatures:
        still_open = unanswered(checklist, record.answers, at)
        record = replace(record, answers=with_answers(record, checklist, still_open))
    keep(record)
    if dialog is not None:
        callbacks.progress("")
        record = ask_for_answers(checklist, record, who, lambda: time_text(callbacks.now_ms()), dialog)
    now_ms = callbacks.now_ms()
    diagnosis = diagnose_checklist(checklist, record, now_ms)
    if open_items(checklist, record.answers):  # The reason why may be a right that this principal lacks.
        diagnosis = replace(diagnosis, gaps=found.gaps)
    return ChecklistRun(checklist, record, judge_findings(diagnosis, files, now_ms))


def sign_checklist(
    record_file: Path,
    who: str | None,
    checklist_file: Path | None = None,
    remark: str = "",
    callbacks: Callbacks = SILENT,
) -> ChecklistRun:
    """Return a record with one more signature.

    Args:
        record_file: The record of a run in which no item failed or is open.
        who: The name of the person who signs; None for the user of the system.
        checklist_file: The file of the list, if it does not come with eosctl.
        remark: A remark next to the name.
        callbacks: Only the clock is called.

    Raises:
        UsageError: An item failed or is open, or the record was changed after it was signed.
        ConfigFileError: A file cannot be read.
    """
    record = read_record(record_file)
    checklist = find_checklist(str(checklist_file) if checklist_file else record.checklist)
    _refuse_other(checklist, record, record_file)
    left = (*failed_items(record.answers), *open_items(checklist, record.answers))
    if left:
        raise UsageError(
            f"{record_file} cannot be signed: {', '.join(left)}.",
            "These items have failed or are open.",
            f"Continue: eosctl checklist run {record.checklist} --record {record_file}",
        )
    now_ms = callbacks.now_ms()
    signature = Signature(_name_of(who), time_text(now_ms), remark, digest_of(record))
    record = replace(record, signatures=(*record.signatures, signature))
    judged = judge_findings(diagnose_checklist(checklist, record, now_ms), read_gate(GateOptions()), now_ms)
    return ChecklistRun(checklist, record, judged)


def _resume(checklist: Checklist, record_file: Path | None, at: str) -> ChecklistRecord:
    if record_file is not None and record_file.exists():
        record = read_record(record_file)
        _refuse_other(checklist, record, record_file)
        return record
    return ChecklistRecord(
        schema=RECORD_SCHEMA,
        schema_version=1,
        checklist=checklist.id,
        version=checklist.version,
        cluster="",
        started_at=at,
    )


def _refuse_other(checklist: Checklist, record: ChecklistRecord, path: Path) -> None:
    """Refuse a record of another list, of another version of it, or one that was changed after it was signed."""
    if (record.checklist, record.version) != (checklist.id, checklist.version):
        raise UsageError(
            f"{path} is of {record.checklist} {record.version}, not of {checklist.id} {checklist.version}.",
            "Answers belong to the list that was read.",
            "Begin a new record.",
        )
    if any(one.digest != digest_of(record) for one in record.signatures):
        raise UsageError(f"{path} was changed after it was signed.", "The digest differs.", "Begin a new record.")


def _with_known_references(checklist: Checklist) -> Checklist:
    checklist = with_check_ids(checklist, check_id_of)
    unknown = unknown_references(checklist, frozenset(check.id for check in CATALOG))
    if unknown:
        raise UsageError(
            f"The checklist {checklist.id} has unknown references: {', '.join(unknown)}.",
            "Automatic items name checks, measured ones may name a probe.",
            "See eosctl check list",
        )
    return checklist


def _for_cluster(record: ChecklistRecord, cluster_id: str) -> ChecklistRecord:
    if record.cluster not in ("", cluster_id):
        raise UsageError(f"The record is of cluster {record.cluster}, this is {cluster_id}.", "", "Begin a new record.")
    return replace(record, cluster=cluster_id)


def _name_of(who: str | None) -> str:
    if who is not None and who.strip():
        return who.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:
        raise UsageError("It is not known who answers.", "The system has no name for the user.", "Add --who") from error


def list_checklists() -> tuple[Checklist, ...]:
    """Return the checklists that come with eosctl, by id."""
    return shipped_checklists()
