"""Run a runbook on one cluster: lock, journal, questions, and how it ended."""

from __future__ import annotations

import asyncio
import getpass
import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

from eosctl.actions.audit import AuditLog, write_audit
from eosctl.actions.consent import Consent, require_confirmation
from eosctl.client.client import Client, connect
from eosctl.client.deadline import Deadline
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.audit_file import audit_file
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.errors import UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.runbook import Outcome, Runbook, Value
from eosctl.model.runbook_run import Entry, RunResult, StepReport
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.engine import Run
from eosctl.runbooks.journal import Journal, journal_path, only_run, read_journal, runbook_state
from eosctl.runbooks.lint import required_inputs
from eosctl.runbooks.load import Source, find_runbook
from eosctl.runbooks.position import INPUTS, Position, position_of
from eosctl.runbooks.sound import load_sound_runbook
from eosctl.services import event_loop
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.connect import resolve_connection
from eosctl.services.connection import Connection
from eosctl.services.own_fences import with_own_fences
from eosctl.services.protection import protecting_profile
from eosctl.services.read_cluster import time_limit
from eosctl.settings.clusters.client_resolution import ResolvedClient


class RunbookRequest(NamedTuple):
    """A run of a runbook.

    Attributes:
        name: The id of a runbook of the library, or a file.
        connection: The cluster.
        inputs: Its inputs: ``NAME=VALUE``.
        yes: Whether to run it; otherwise, it only reads and plans.
        confirms: Answers to questions, given in advance.
        resume: A run to continue; None for a new one.
        second_look_after_ms: The pause between the two passes over transactions, in milliseconds.
    """

    name: str
    connection: Connection = Connection()
    inputs: tuple[str, ...] = ()
    yes: bool = False
    confirms: tuple[str, ...] = ()
    resume: str | None = None
    second_look_after_ms: int = 500


class RunbookDialog(NamedTuple):
    """How a run reaches a person.

    Attributes:
        confirm: Returns whether a person agrees, who is shown the question and what to type; called where the request
            has no answer.
        show: Called with each completed step.
    """

    confirm: Callable[[str, str], bool]
    show: Callable[[StepReport], None]


@dataclass
class LiveScene:
    """A cluster, a person, and a folder, as the engine sees them."""

    client: Client
    request: RunbookRequest
    dialog: RunbookDialog
    callbacks: Callbacks
    run_id: str
    limit: Deadline | None = None
    _reader: ReadOnly | None = None
    reports: list[StepReport] = field(default_factory=list)

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect evidence."""
        progress = self.callbacks.progress
        observer = Observer(
            self.callbacks.now_ms, second_look_after_ms=self.request.second_look_after_ms, progress=progress
        )
        snapshot = await collect_snapshot(self._read(), observer, kinds)
        progress("")
        return with_own_fences(snapshot, self.callbacks)

    def _read(self) -> ReadOnly:
        """Return what reads the cluster.

        A dry run has one for all its steps, so that its timeout bounds the run and a silent broker costs one timeout.
        With actions and waits in between, brokers come back, and the timeout bounds each reading.
        """
        if self.request.yes:
            timeout_ms = self.request.connection.timeout_ms
            return ReadOnly(self.client, None if timeout_ms is None else Deadline.after(timeout_ms))
        if self._reader is None:
            self._reader = ReadOnly(self.client, self.limit)
        return self._reader

    async def sleep(self, ms: int) -> None:
        """Wait."""
        await asyncio.sleep(ms / 1000)

    async def confirm(self, question: str, expected: str) -> bool:
        """Return the answer from the request, or from the user."""
        return expected in self.request.confirms or self.dialog.confirm(question, expected)

    def show(self, report: StepReport) -> None:
        """Store a report, and show it."""
        self.reports.append(report)
        self.dialog.show(report)

    def keep(self, snapshot: ClusterSnapshot, step: str) -> dict[str, str]:
        """Write a snapshot next to the journal."""
        folder = runbook_state() / self.run_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{step}-{self.callbacks.now_ms()}.json"
        save_snapshot(snapshot, path)
        self.callbacks.remark(f"evidence    {path}")
        return {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}

    def audit(self, action: str, cluster_id: str, details: Mapping[str, Value]) -> None:
        """Write a line of the audit file."""
        write_audit(audit_file(), self.callbacks.now_ms(), action, cluster_id, dict(details))


def run_runbook(request: RunbookRequest, dialog: RunbookDialog, callbacks: Callbacks = SILENT) -> RunResult:
    """Run a runbook, or continue a run.

    Args:
        request: The run.
        dialog: The person.
        callbacks: Called while evidence is collected, and with the files that are written.

    Raises:
        UsageError: An input is missing, another run holds the cluster, or the run cannot be continued.
        EosctlError: The cluster cannot be reached, or the journal cannot be written.
    """
    book = load_sound_runbook(request.name)
    if request.resume is not None and not request.yes:
        raise UsageError("--resume needs --yes.", "A dry run has no journal to continue.", "Add --yes.")
    inputs = _inputs(book, request.inputs)
    resolved = resolve_connection(request.connection, callbacks.remark)
    _require_consent(request, protecting_profile(resolved, "", ()), "", callbacks)
    return event_loop.run(lambda: _run(request, inputs, resolved, dialog, callbacks))


def _require_consent(request: RunbookRequest, protecting: str | None, cluster_id: str, callbacks: Callbacks) -> None:
    """Refuse a run on a protected cluster that was not confirmed by name; the audit file has the attempt."""
    try:
        require_confirmation(Consent(request.yes, request.name in request.confirms), request.name, protecting)
    except UsageError as error:
        audit = AuditLog(audit_file(), callbacks.now_ms, f"runbook {request.name}")
        audit.refuse(cluster_id, request.name, error)
        raise


async def _run(
    request: RunbookRequest,
    inputs: dict[str, Value],
    resolved: ResolvedClient,
    dialog: RunbookDialog,
    callbacks: Callbacks,
) -> RunResult:
    source = find_runbook(request.name)
    book = source.book
    run_id = _run_id(request, inputs, source, callbacks)
    # A dry run cannot change the cluster, even if the runbook tries to: its client sends only reads.
    limit = time_limit(request.connection, callbacks)
    async with connect(resolved.config, allowed_apis=None if request.yes else READ_ONLY_APIS) as client:
        scene = LiveScene(client, request, dialog, callbacks, run_id=run_id, limit=limit)
        shape = await scene.collect(frozenset())
        cluster_id, brokers = shape.cluster_id, (f"{one.host}:{one.port}" for one in shape.brokers)
        _require_consent(request, protecting_profile(resolved, cluster_id, brokers), cluster_id, callbacks)
        with only_run(cluster_id, run_id) if request.yes else nullcontext():
            position, journal = _begin(request, inputs, source, run_id, cluster_id, callbacks)
            if journal is not None:
                callbacks.remark(f"run         {run_id}")
            walk = Run(book, scene, position, cluster_id, journal)
            ending = await walk.walk()
    return RunResult(
        runbook=book.id,
        run=run_id if request.yes else "",
        cluster_id=cluster_id,
        outcome=ending.outcome,
        step=ending.step,
        message=ending.message,
        acted=ending.acted,
        resumable=request.yes and (bool(ending.next) or ending.outcome in (Outcome.BLOCKED, Outcome.FAILED)),
        journal=str(journal_path(run_id)) if request.yes else "",
        reports=tuple(scene.reports),
        lacked_right=walk.lacked_right,
    )


def _run_id(request: RunbookRequest, inputs: Mapping[str, Value], source: Source, callbacks: Callbacks) -> str:
    """Return the id of the run to continue, or a new one."""
    book = source.book
    if request.resume is not None:
        _check_resumable(read_journal(journal_path(request.resume)), request.resume, source)
        return request.resume
    missing = [name for name in required_inputs(book) if name not in inputs]
    if missing:
        spec = book.inputs[missing[0]]
        raise UsageError(f"{book.id} needs the input {missing[0]}.", spec.about, f"Add: --input {missing[0]}=VALUE")
    return f"{callbacks.now_ms()}-{book.id}"


def _begin(
    request: RunbookRequest,
    inputs: dict[str, Value],
    source: Source,
    run_id: str,
    cluster_id: str,
    callbacks: Callbacks,
) -> tuple[Position, Journal | None]:
    """Return where the run begins, and its journal with the first line of this process; None for a dry run."""
    book = source.book
    if request.resume is not None:
        # Read again under the lock: another process may have continued it meanwhile.
        entries = read_journal(journal_path(run_id))
        position = position_of(book, entries)
        if entries[0].data["cluster_id"] != cluster_id:
            raise UsageError(
                f"The run {run_id} began on cluster {entries[0].data['cluster_id']}, this is {cluster_id}.",
                "A run continues on the cluster on which it began.",
                "Check --bootstrap-server.",
            )
        journal = Journal(journal_path(run_id), callbacks.now_ms, entries)
        journal.write("resumed", position.at)
        return position, journal
    position = Position(book.steps[0].id, {INPUTS: dict(inputs)})
    if not request.yes:
        return position, None
    journal = Journal(journal_path(run_id), callbacks.now_ms)
    journal.write(
        "started",
        runbook=book.id,
        digest=source.digest,
        cluster_id=cluster_id,
        inputs=dict(inputs),
        user=_user(),
    )
    return position, journal


def _check_resumable(entries: tuple[Entry, ...], run: str, source: Source) -> None:
    started, book_id = entries[0].data, source.book.id
    if started["runbook"] != book_id:
        raise UsageError(
            f"The run {run} belongs to runbook {started['runbook']}, not {book_id}.",
            "A run continues with its own runbook.",
            f"Write: eosctl runbook run {started['runbook']} --resume {run} --yes",
        )
    if started["digest"] != source.digest:
        raise UsageError(
            f"The runbook {book_id} is not the one with which {run} began.",
            "Its text has changed; its steps may mean something else now.",
            f"Start a new run: eosctl runbook run {book_id}",
        )


def _inputs(book: Runbook, given: Iterable[str]) -> dict[str, Value]:
    found: dict[str, Value] = {name: spec.default for name, spec in book.inputs.items() if spec.default is not None}
    for text in given:
        name, equals, value = text.partition("=")
        spec = book.inputs.get(name)
        known = f"Its inputs: {', '.join(book.inputs) or 'none'}."
        if not equals:
            raise UsageError(f"--input {text} has no value.", known, "Write NAME=VALUE.")
        if spec is None:
            raise UsageError(f"--input {text}: unknown input.", known, "Write NAME=VALUE.")
        if spec.type == "int":
            try:
                found[name] = int(value)
            except ValueError:
                raise UsageError(f"--input {text}: not a number.", spec.about, "Write a whole number.") from None
        else:
            found[name] = value
    return found


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
