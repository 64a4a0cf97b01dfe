"""The run of one runbook on one cluster: lock, journal, questions, and how it ended."""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.commands.invocation import Invocation, note
from eosctl.commands.session import resolve_connection
from eosctl.errors import UsageError
from eosctl.render.progress import show_progress
from eosctl.render.runbooks.runbook import RunItem, report_text, step_item
from eosctl.services.connection import Connection

if TYPE_CHECKING:
    from eosctl.client.client import Client
    from eosctl.model.evidence import EvidenceKind
    from eosctl.model.snapshot import ClusterSnapshot
    from eosctl.runbooks.book import Value
    from eosctl.runbooks.journal import Entry
    from eosctl.runbooks.scene import StepReport
    from eosctl.settings.client_resolution import ResolvedClient

EXIT_CODES: Final = {"verified": 0, "planned": 0, "no-action": 5, "manual": 6, "blocked": 7, "failed": 8}


class Order(NamedTuple):
    """What the user asked for."""

    name: str
    inputs: Mapping[str, Value]
    yes: bool
    confirms: tuple[str, ...]
    resume: str | None
    second_look_after_ms: int


@dataclass
class LiveScene:
    """A cluster, a terminal and a folder, as the engine sees them."""

    client: Client
    invocation: Invocation
    order: Order
    run_id: str
    reports: list[StepReport] = field(default_factory=list)

    async def collect(self, kinds: frozenset[EvidenceKind]) -> ClusterSnapshot:
        """Collect evidence."""
        from eosctl.collect.collector import Observer, collect_snapshot

        with show_progress() as progress:
            observer = Observer(
                self.invocation.now_ms, second_look_after_ms=self.order.second_look_after_ms, progress=progress
            )
            return await collect_snapshot(self.client, observer, kinds)

    async def sleep(self, ms: int) -> None:
        """Wait."""
        await asyncio.sleep(ms / 1000)

    async def confirm(self, question: str, expected: str) -> bool:
        """Take the answer from the command line, or from the terminal."""
        if expected in self.order.confirms:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
            note(f"{question}\nnobody can be asked here; to agree, add: --confirm {expected!r}")
            return False
        sys.stderr.write(f"\n{question}\nType {expected} to go on, or press Enter to leave it: ")
        sys.stderr.flush()
        return sys.stdin.readline().strip() == expected

    def tell(self, report: StepReport) -> None:
        """Show what happens on standard error."""
        self.reports.append(report)
        text = report_text(report)
        if text:
            note(text)

    def keep(self, snapshot: ClusterSnapshot, step: str) -> dict[str, str]:
        """Write a snapshot beside the journal."""
        from eosctl.collect.bundles.snapshot_file import save_snapshot
        from eosctl.runbooks.journal import runbook_state

        folder = runbook_state() / self.run_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"{step}-{self.invocation.now_ms()}.json"
        save_snapshot(snapshot, path)
        note(f"evidence    {path}")
        return {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}

    def audit(self, action: str, cluster_id: str, details: Mapping[str, Value]) -> None:
        """Write a line of the audit file."""
        from eosctl.actions.audit import audit_file, write_audit

        write_audit(audit_file(), self.invocation.now_ms(), action, cluster_id, dict(details))


def carry_out(order: Order, connection: Connection, invocation: Invocation) -> tuple[RunItem, int]:
    """Run a runbook, or go on with a run; return how it ended and the exit code.

    Raises:
        UsageError: An input is missing, another run holds the cluster, or the run cannot go on.
        EosctlError: The cluster cannot be reached, or the journal cannot be written.
    """
    from eosctl.actions.consent import Consent, require_confirmation

    resolved = resolve_connection(connection)
    consent = Consent(order.yes, order.name in order.confirms)
    require_confirmation(consent, order.name, resolved.profile if resolved.protected else None)
    return asyncio.run(_run(order, resolved, invocation))


async def _run(order: Order, resolved: ResolvedClient, invocation: Invocation) -> tuple[RunItem, int]:
    from eosctl.client.client import connect
    from eosctl.collect.allowed import READ_ONLY_APIS
    from eosctl.runbooks.engine import Run
    from eosctl.runbooks.journal import Journal, journal_path, only_run, read_journal
    from eosctl.runbooks.lint import required_inputs
    from eosctl.runbooks.load import find_runbook
    from eosctl.runbooks.position import INPUTS, Position, position_of

    source = find_runbook(order.name)
    book = source.book
    entries: tuple[Entry, ...] = ()
    if order.resume is not None:
        entries = read_journal(journal_path(order.resume))
        _check_resumable(entries, order, book.id, source.digest)
        run_id = order.resume
    else:
        missing = [name for name in required_inputs(book) if name not in order.inputs]
        if missing:
            spec = book.inputs[missing[0]]
            raise UsageError(f"{book.id} needs the input {missing[0]}.", spec.about, f"Add: --input {missing[0]}=VALUE")
        run_id = f"{invocation.now_ms()}-{book.id}"
    # A dry run cannot change the cluster whatever a runbook says: its client sends nothing but reads.
    async with connect(resolved.config, allowed_apis=None if order.yes else READ_ONLY_APIS) as client:
        scene = LiveScene(client, invocation, order, run_id)
        cluster_id = (await scene.collect(frozenset())).cluster_id
        with only_run(cluster_id, run_id) if order.yes else nullcontext():
            journal: Journal | None = None
            path: Path | None = journal_path(run_id) if order.yes else None
            if entries:
                # Read again under the lock: another process may have gone on with it meanwhile.
                entries = read_journal(journal_path(run_id))
                position = position_of(book, entries)
                if entries[0].data["cluster_id"] != cluster_id:
                    raise UsageError(
                        f"The run {run_id} is of cluster {entries[0].data['cluster_id']}, this is {cluster_id}.",
                        "A run goes on where it began.",
                        "Check --bootstrap-server.",
                    )
                journal = Journal(journal_path(run_id), invocation.now_ms, entries)
                journal.write("resumed", position.at)
            else:
                position = Position(book.steps[0].id, {INPUTS: dict(order.inputs)})
                if path is not None:
                    journal = Journal(path, invocation.now_ms)
                    journal.write(
                        "started",
                        runbook=book.id,
                        digest=source.digest,
                        cluster_id=cluster_id,
                        inputs=dict(order.inputs),
                        user=_user(),
                    )
            if journal is not None:
                note(f"run         {run_id}")
            ending = await Run(book, scene, position, cluster_id, journal).walk()
    item = RunItem(
        runbook=book.id,
        run=run_id if order.yes else "",
        cluster_id=cluster_id,
        outcome=ending.outcome.value,
        step=ending.step,
        message=ending.message,
        acted=ending.acted,
        resumable=order.yes and (bool(ending.next) or ending.outcome.value in ("blocked", "failed")),
        journal=str(path or ""),
        steps=tuple(step_item(report) for report in scene.reports),
    )
    return item, EXIT_CODES[ending.outcome.value]


def _check_resumable(entries: tuple[Entry, ...], order: Order, book_id: str, digest: str) -> None:
    started = entries[0].data
    if started["runbook"] != book_id:
        raise UsageError(
            f"The run {order.resume} is of runbook {started['runbook']}, not {book_id}.",
            "A run goes on with its own runbook.",
            f"Write: eosctl runbook run {started['runbook']} --resume {order.resume} --yes",
        )
    if started["digest"] != digest:
        raise UsageError(
            f"The runbook {book_id} is not the one with which {order.resume} began.",
            "Its text has changed; its steps may mean something else now.",
            f"Start a new run: eosctl runbook run {book_id}",
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
