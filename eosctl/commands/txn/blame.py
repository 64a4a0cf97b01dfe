"""``eosctl txn blame`` and ``eosctl fencing explain``: who took a transactional id from whom, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eosctl.commands.emit import emit
from eosctl.commands.gate import RequireComplete
from eosctl.commands.invocation import Invocation, note
from eosctl.commands.options import EvidenceOptions, ResultOptions
from eosctl.commands.session import perform
from eosctl.errors import ExitCode
from eosctl.render.transactions.blame import render_blame
from eosctl.services.blame import BlameRequest
from eosctl.services.blame import blame as find_blame


def blame(
    invocation: Invocation,
    name: Annotated[
        str, typer.Argument(metavar="TRANSACTIONAL-ID|PRODUCER-ID", help="The id, or one of its producer ids.")
    ],
    evidence: EvidenceOptions,
    data_dirs: Annotated[
        list[str] | None,
        typer.Option("--data-dir", metavar="DIR", help="Read the transaction log from these directories; repeatable."),
    ] = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option("--logs", metavar="PATH", help="Logs of applications and brokers, to name who it was."),
    ] = None,
    last: Annotated[int, typer.Option("--last", min=0, help="How many of the last steps to show.")] = 20,
    *,
    result: ResultOptions,
    require_complete: RequireComplete = False,
) -> None:
    """Tell who took a transactional id from whom, and why: from the transaction log, live or from files, and logs.

    Every time at which an owner lost the id gets a verdict: a newer instance, a timeout, an administrator, the client's
    own repair, expiry, a moved Streams task, two applications with one id, or a stale offset read at a takeover.
    """
    connection, snapshot = evidence.cluster.connection, evidence.snapshot
    request = BlameRequest(name, connection, snapshot, tuple(data_dirs or ()), tuple(logs or ()))
    found = perform(find_blame, request, invocation)
    for gap in found.history_gaps:
        note(f"incomplete: {gap.subject}: {gap.error or gap.detail or gap.reason.value}")
    is_incomplete = require_complete and bool(found.history_gaps)
    text = render_blame(found.blame, last, invocation.now_ms(), result.output, invocation.style())
    code = ExitCode.INCOMPLETE if is_incomplete else ExitCode.DONE
    emit(text, result, found.other_gaps, code, complete=require_complete)
